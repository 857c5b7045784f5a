// int8 convolution with an i32 bias: one binding is read with two element types.

func.func @main(%image: tensor<1x10x10x3xi8>, %filter: tensor<3x3x3x8xi8>, %bias: tensor<8xi32>) -> tensor<1x8x8x8xi32> {
  %empty = tensor.empty() : tensor<1x8x8x8xi32>
  %start = linalg.broadcast ins(%bias : tensor<8xi32>) outs(%empty : tensor<1x8x8x8xi32>) dimensions = [0, 1, 2]
  %result = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%image, %filter : tensor<1x10x10x3xi8>, tensor<3x3x3x8xi8>) outs(%start : tensor<1x8x8x8xi32>) -> tensor<1x8x8x8xi32>
  return %result : tensor<1x8x8x8xi32>
}
