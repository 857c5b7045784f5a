// Two matrices side by side, then a strided slice of the result.

func.func @main(%a: tensor<8x12xf32>, %b: tensor<8x20xf32>) -> tensor<4x10xf32> {
  %both = tensor.concat dim(1) %a, %b : (tensor<8x12xf32>, tensor<8x20xf32>) -> tensor<8x32xf32>
  %result = tensor.extract_slice %both[1, 3] [4, 10] [2, 2] : tensor<8x32xf32> to tensor<4x10xf32>
  return %result : tensor<4x10xf32>
}
