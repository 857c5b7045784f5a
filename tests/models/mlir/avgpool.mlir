// 3x3 average pooling in NHWC order.

func.func @main(%image: tensor<1x12x12x8xf32>) -> tensor<1x4x4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %ninth = arith.constant 0.111111112 : f32
  %empty = tensor.empty() : tensor<1x4x4x8xf32>
  %window = tensor.empty() : tensor<3x3xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
  %sum = linalg.pooling_nhwc_sum {dilations = dense<1> : tensor<2xi64>, strides = dense<3> : tensor<2xi64>}
      ins(%image, %window : tensor<1x12x12x8xf32>, tensor<3x3xf32>) outs(%start : tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
  %wide = tensor.splat %ninth : tensor<1x4x4x8xf32>
  %result = arith.mulf %sum, %wide : tensor<1x4x4x8xf32>
  return %result : tensor<1x4x4x8xf32>
}
