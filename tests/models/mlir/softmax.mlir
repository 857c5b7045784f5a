// Softmax over the rows of 32x128.

func.func @main(%x: tensor<32x128xf32>) -> tensor<32x128xf32> {
  %empty = tensor.empty() : tensor<32x128xf32>
  %result = linalg.softmax dimension(1) ins(%x : tensor<32x128xf32>) outs(%empty : tensor<32x128xf32>) -> tensor<32x128xf32>
  return %result : tensor<32x128xf32>
}
