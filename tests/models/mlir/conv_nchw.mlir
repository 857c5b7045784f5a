// 2-D convolution in NCHW order, 3x3, stride 1.

func.func @main(%image: tensor<1x3x18x18xf32>, %filter: tensor<8x3x3x3xf32>) -> tensor<1x8x16x16xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x8x16x16xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x8x16x16xf32>) -> tensor<1x8x16x16xf32>
  %result = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%image, %filter : tensor<1x3x18x18xf32>, tensor<8x3x3x3xf32>)
      outs(%start : tensor<1x8x16x16xf32>) -> tensor<1x8x16x16xf32>
  return %result : tensor<1x8x16x16xf32>
}
