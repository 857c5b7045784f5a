// TOSA operations with known answers.

func.func @add() {
  %a = util.unfoldable_constant dense<[[2.04e+00, -2.56e+00, 4.2e-01, -5.7e-01], [-4.5e-01, -2.2e-01, -2.02e+00, -2.3e-01]]> : tensor<2x4xf32>
  %b = util.unfoldable_constant dense<[[-8.7e-01, 3.32e+00, 2.3e-01, -3.5e-01], [-2.8e-01, -6.7e-01, -1.06e+00, -3.9e-01]]> : tensor<2x4xf32>
  %r = "tosa.add"(%a, %b) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  check.expect_almost_eq_const(%r, dense<[[1.17e+00, 7.6e-01, 6.5e-01, -9.1999996e-01], [-7.3e-01, -8.9e-01, -3.08e+00, -6.2e-01]]> : tensor<2x4xf32>) : tensor<2x4xf32>
  return
}

func.func @add_broadcast() {
  %a = util.unfoldable_constant dense<[[2.04e+00, -2.56e+00, 4.2e-01, -5.7e-01], [-4.5e-01, -2.2e-01, -2.02e+00, -2.3e-01]]> : tensor<2x4xf32>
  %b = util.unfoldable_constant dense<[[-8.7e-01, 3.32e+00, 2.3e-01, -3.5e-01]]> : tensor<1x4xf32>
  %r = "tosa.add"(%a, %b) : (tensor<2x4xf32>, tensor<1x4xf32>) -> tensor<2x4xf32>
  check.expect_almost_eq_const(%r, dense<[[1.17e+00, 7.6e-01, 6.5e-01, -9.1999996e-01], [-1.3199999e+00, 3.1e+00, -1.79e+00, -5.8e-01]]> : tensor<2x4xf32>) : tensor<2x4xf32>
  return
}

func.func @clamp() {
  %a = util.unfoldable_constant dense<[[2.04e+01, -2.5599998e+01, 4.2e+00, -5.7e+00], [-4.5e+00, -2.2e+00, -2.02e+01, -2.3e+00]]> : tensor<2x4xf32>
  %r = "tosa.clamp"(%a) <{min_val = -1.0 : f32, max_val = 6.0 : f32}> : (tensor<2x4xf32>) -> tensor<2x4xf32>
  check.expect_almost_eq_const(%r, dense<[[6.e+00, -1.e+00, 4.2e+00, -1.e+00], [-1.e+00, -1.e+00, -1.e+00, -1.e+00]]> : tensor<2x4xf32>) : tensor<2x4xf32>
  return
}

func.func @tanh() {
  %a = util.unfoldable_constant dense<[[2.04e+00, -2.56e+00, 4.2e-01, -5.7e-01], [-4.5e-01, -2.2e-01, -2.02e+00, -2.3e-01]]> : tensor<2x4xf32>
  %r = "tosa.tanh"(%a) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  check.expect_almost_eq_const(%r, dense<[[9.667473e-01, -9.8811895e-01, 3.9693043e-01, -5.153593e-01], [-4.21899e-01, -2.1651806e-01, -9.654137e-01, -2.2602835e-01]]> : tensor<2x4xf32>) : tensor<2x4xf32>
  return
}

func.func @sigmoid() {
  %a = util.unfoldable_constant dense<[[2.04e+00, -2.56e+00, 4.2e-01, -5.7e-01], [-4.5e-01, -2.2e-01, -2.02e+00, -2.3e-01]]> : tensor<2x4xf32>
  %r = "tosa.sigmoid"(%a) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  check.expect_almost_eq_const(%r, dense<[[8.8493323e-01, 7.175755e-02, 6.0348326e-01, 3.6123684e-01], [3.8936076e-01, 4.452208e-01, 1.17119e-01, 4.4275215e-01]]> : tensor<2x4xf32>) : tensor<2x4xf32>
  return
}

func.func @exp_log() {
  %a = util.unfoldable_constant dense<[[2.1399999e+00, 2.6599998e+00, 5.2e-01, 6.7e-01], [5.5e-01, 3.2e-01, 2.12e+00, 3.3e-01]]> : tensor<2x4xf32>
  %e = "tosa.exp"(%a) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %l = "tosa.log"(%a) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  check.expect_almost_eq_const(%e, dense<[[8.499436e+00, 1.4296288e+01, 1.6820277e+00, 1.9542372e+00], [1.733253e+00, 1.3771278e+00, 8.331137e+00, 1.3909681e+00]]> : tensor<2x4xf32>, atol 1.0e-3) : tensor<2x4xf32>
  check.expect_almost_eq_const(%l, dense<[[7.608059e-01, 9.7832614e-01, -6.539265e-01, -4.0047753e-01], [-5.97837e-01, -1.1394343e+00, 7.51416e-01, -1.1086626e+00]]> : tensor<2x4xf32>) : tensor<2x4xf32>
  return
}

func.func @reduce_sum() {
  %a = util.unfoldable_constant dense<[[2.04e+00, -2.56e+00, 4.2e-01, -5.7e-01], [-4.5e-01, -2.2e-01, -2.02e+00, -2.3e-01]]> : tensor<2x4xf32>
  %r = "tosa.reduce_sum"(%a) <{axis = 1 : i32}> : (tensor<2x4xf32>) -> tensor<2x1xf32>
  check.expect_almost_eq_const(%r, dense<[[-6.6999996e-01], [-2.92e+00]]> : tensor<2x1xf32>) : tensor<2x1xf32>
  return
}

func.func @reduce_max() {
  %a = util.unfoldable_constant dense<[[2.04e+00, -2.56e+00, 4.2e-01, -5.7e-01], [-4.5e-01, -2.2e-01, -2.02e+00, -2.3e-01]]> : tensor<2x4xf32>
  %r = "tosa.reduce_max"(%a) <{axis = 0 : i32}> : (tensor<2x4xf32>) -> tensor<1x4xf32>
  check.expect_almost_eq_const(%r, dense<[[2.04e+00, -2.2e-01, 4.2e-01, -2.3e-01]]> : tensor<1x4xf32>) : tensor<1x4xf32>
  return
}

func.func @matmul() {
  %a = util.unfoldable_constant dense<[[[4.8e-01, -2.4e-01, 9.6e-01, -2.e-01], [2.e-02, 1.55e+00, 5.5e-01, -5.1e-01], [-1.8e-01, 5.4e-01, 1.94e+00, -2.7e-01]]]> : tensor<1x3x4xf32>
  %b = util.unfoldable_constant dense<[[[-2.4e-01, 1.e+00, -8.9e-01, -2.9e-01, 8.8e-01], [5.8e-01, 9.e-02, 6.7e-01, -2.83e+00, 1.02e+00], [-9.6e-01, -1.67e+00, 2.8e-01, 7.e-01, -4.4e-01], [-1.08e+00, 3.e-02, -5.e-02, 1.41e+00, 7.5e-01]]]> : tensor<1x4x5xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %r = "tosa.matmul"(%a, %b, %z, %z) : (tensor<1x3x4xf32>, tensor<1x4x5xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x5xf32>
  check.expect_almost_eq_const(%r, dense<[[[-9.6e-01, -1.1508e+00, -3.0920002e-01, 9.299999e-01, -3.9479998e-01], [9.17e-01, -7.743e-01, 1.2002001e+00, -4.7263994e+00, 9.7409993e-01], [-1.2144e+00, -3.3793e+00, 1.0787001e+00, -4.9870005e-01, -6.637e-01]]]> : tensor<1x3x5xf32>) : tensor<1x3x5xf32>
  return
}

func.func @bitwise_i32() {
  %a = util.unfoldable_constant dense<[15, -11, 40, -3, -12, -36]> : tensor<6xi32>
  %b = util.unfoldable_constant dense<[11, 35, 40, 15, 31, 43]> : tensor<6xi32>
  %x = "tosa.bitwise_xor"(%a, %b) : (tensor<6xi32>, tensor<6xi32>) -> tensor<6xi32>
  %m = "tosa.maximum"(%a, %b) : (tensor<6xi32>, tensor<6xi32>) -> tensor<6xi32>
  check.expect_eq_const(%x, dense<[4, -42, 0, -14, -21, -9]> : tensor<6xi32>) : tensor<6xi32>
  check.expect_eq_const(%m, dense<[15, 35, 40, 15, 31, 43]> : tensor<6xi32>) : tensor<6xi32>
  return
}

func.func @greater_select() {
  %a = util.unfoldable_constant dense<[15, -11, 40, -3, -12, -36]> : tensor<6xi32>
  %b = util.unfoldable_constant dense<[11, 35, 40, 15, 31, 43]> : tensor<6xi32>
  %g = "tosa.greater"(%a, %b) : (tensor<6xi32>, tensor<6xi32>) -> tensor<6xi1>
  %r = "tosa.select"(%g, %a, %b) : (tensor<6xi1>, tensor<6xi32>, tensor<6xi32>) -> tensor<6xi32>
  check.expect_eq_const(%r, dense<[15, 35, 40, 15, 31, 43]> : tensor<6xi32>) : tensor<6xi32>
  return
}

func.func @conv2d() {
  %a = util.unfoldable_constant dense<[[[[-2.1e-01], [-7.8e-01], [2.3e-01], [-2.49e+00]], [[6.9e-01], [4.9e-01], [-1.64e+00], [6.e-02]], [[-9.6e-01], [7.6e-01], [-2.03e+00], [-9.1e-01]], [[7.1e-01], [1.16e+00], [-2.16e+00], [-5.e-01]]]]> : tensor<1x4x4x1xf32>
  %k = util.unfoldable_constant dense<[[[[3.3e-01], [-6.1e-01]], [[1.59e+00], [-1.19e+00]]]]> : tensor<1x2x2x1xf32>
  %b = util.unfoldable_constant dense<[5.e-01]> : tensor<1xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %r = "tosa.conv2d"(%a, %k, %b, %z, %z) <{acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}> : (tensor<1x4x4x1xf32>, tensor<1x2x2x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x3x1xf32>
  check.expect_almost_eq_const(%r, dense<[[[[1.4205e+00], [2.8330002e+00], [-5.842e-01]], [[-2.002e+00], [5.2862005e+00], [-2.2226e+00]], [[-5.3190017e-01], [6.4039e+00], [-2.4542003e+00]]]]> : tensor<1x3x3x1xf32>) : tensor<1x3x3x1xf32>
  return
}

func.func @max_pool2d() {
  %a = util.unfoldable_constant dense<[[[[-2.1e-01], [-7.8e-01], [2.3e-01], [-2.49e+00]], [[6.9e-01], [4.9e-01], [-1.64e+00], [6.e-02]], [[-9.6e-01], [7.6e-01], [-2.03e+00], [-9.1e-01]], [[7.1e-01], [1.16e+00], [-2.16e+00], [-5.e-01]]]]> : tensor<1x4x4x1xf32>
  %r = "tosa.max_pool2d"(%a) <{kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>}> : (tensor<1x4x4x1xf32>) -> tensor<1x2x2x1xf32>
  check.expect_almost_eq_const(%r, dense<[[[[6.9e-01], [2.3e-01]], [[1.16e+00], [-5.e-01]]]]> : tensor<1x2x2x1xf32>) : tensor<1x2x2x1xf32>
  return
}

func.func @reverse() {
  %a = util.unfoldable_constant dense<[15, -11, 40, -3, -12, -36]> : tensor<6xi32>
  %r = "tosa.reverse"(%a) <{axis = 0 : i32}> : (tensor<6xi32>) -> tensor<6xi32>
  check.expect_eq_const(%r, dense<[-36, -12, -3, 40, -11, 15]> : tensor<6xi32>) : tensor<6xi32>
  return
}
