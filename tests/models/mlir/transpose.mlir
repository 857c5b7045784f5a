// Transpose of 37x52.

func.func @main(%x: tensor<37x52xf32>) -> tensor<52x37xf32> {
  %empty = tensor.empty() : tensor<52x37xf32>
  %result = linalg.transpose ins(%x : tensor<37x52xf32>) outs(%empty : tensor<52x37xf32>) permutation = [1, 0]
  return %result : tensor<52x37xf32>
}
