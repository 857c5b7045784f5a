// 2x2 max pooling, stride 2, NHWC.

func.func @main(%image: tensor<1x16x16x8xf32>) -> tensor<1x8x8x8xf32> {
  %lowest = arith.constant 0xFF800000 : f32
  %empty = tensor.empty() : tensor<1x8x8x8xf32>
  %window = tensor.empty() : tensor<2x2xf32>
  %start = linalg.fill ins(%lowest : f32) outs(%empty : tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
  %result = linalg.pooling_nhwc_max {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}
      ins(%image, %window : tensor<1x16x16x8xf32>, tensor<2x2xf32>)
      outs(%start : tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
  return %result : tensor<1x8x8x8xf32>
}
