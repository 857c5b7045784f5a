// Weights read at load time from the parameter scope `model`.

util.global private @weights = #flow.parameter.named<"model"::"weights"> : tensor<16x8xf32>
util.global private @bias = #flow.parameter.named<"model"::"bias"> : tensor<8xf32>
func.func @main(%x: tensor<4x16xf32>) -> tensor<4x8xf32> {
  %weights = util.global.load @weights : tensor<16x8xf32>
  %bias = util.global.load @bias : tensor<8xf32>
  %empty = tensor.empty() : tensor<4x8xf32>
  %start = linalg.broadcast ins(%bias : tensor<8xf32>) outs(%empty : tensor<4x8xf32>) dimensions = [0]
  %result = linalg.matmul ins(%x, %weights : tensor<4x16xf32>, tensor<16x8xf32>) outs(%start : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %result : tensor<4x8xf32>
}
