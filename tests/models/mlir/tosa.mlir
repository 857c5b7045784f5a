// TOSA: convolution, clamp, max pooling and a reshape.

func.func @main(%image: tensor<1x8x8x4xf32>, %filter: tensor<8x3x3x4xf32>, %bias: tensor<8xf32>) -> tensor<1x128xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %conv = "tosa.conv2d"(%image, %filter, %bias, %zero, %zero) <{acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>}>
      : (tensor<1x8x8x4xf32>, tensor<8x3x3x4xf32>, tensor<8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8x8x8xf32>
  %relu = "tosa.clamp"(%conv) <{min_val = 0.0 : f32, max_val = 6.0 : f32}> : (tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
  %pool = "tosa.max_pool2d"(%relu) <{kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>}> : (tensor<1x8x8x8xf32>) -> tensor<1x4x4x8xf32>
  %shape = "tosa.const_shape"() <{values = dense<[1, 128]> : tensor<2xindex>}> : () -> !tosa.shape<2>
  %result = "tosa.reshape"(%pool, %shape) : (tensor<1x4x4x8xf32>, !tosa.shape<2>) -> tensor<1x128xf32>
  return %result : tensor<1x128xf32>
}
