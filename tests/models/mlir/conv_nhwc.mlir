// 2-D convolution in NHWC order, 3x3, stride 2.

func.func @main(%image: tensor<1x17x17x4xf32>, %filter: tensor<3x3x4x16xf32>) -> tensor<1x8x8x16xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x8x8x16xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x8x8x16xf32>) -> tensor<1x8x8x16xf32>
  %result = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}
      ins(%image, %filter : tensor<1x17x17x4xf32>, tensor<3x3x4x16xf32>)
      outs(%start : tensor<1x8x8x16xf32>) -> tensor<1x8x8x16xf32>
  return %result : tensor<1x8x8x16xf32>
}
