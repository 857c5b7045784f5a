// StableHLO operations with known answers.

func.func @add_multiply() {
  %a = util.unfoldable_constant dense<[[2.04e+00, -2.56e+00, 4.2e-01, -5.7e-01], [-4.5e-01, -2.2e-01, -2.02e+00, -2.3e-01]]> : tensor<2x4xf32>
  %b = util.unfoldable_constant dense<[[-8.7e-01, 3.32e+00, 2.3e-01, -3.5e-01], [-2.8e-01, -6.7e-01, -1.06e+00, -3.9e-01]]> : tensor<2x4xf32>
  %s = stablehlo.add %a, %b : tensor<2x4xf32>
  %r = stablehlo.multiply %s, %a : tensor<2x4xf32>
  check.expect_almost_eq_const(%r, dense<[[2.3867998e+00, -1.9455999e+00, 2.7299997e-01, 5.244e-01], [3.285e-01, 1.9579999e-01, 6.2215996e+00, 1.426e-01]]> : tensor<2x4xf32>) : tensor<2x4xf32>
  return
}

func.func @divide_integers() {
  %a = util.unfoldable_constant dense<[15, -11, 40, -3, -12, -36]> : tensor<6xi32>
  %b = util.unfoldable_constant dense<[11, 35, 40, 15, 31, 43]> : tensor<6xi32>
  %q = stablehlo.divide %a, %b : tensor<6xi32>
  %m = stablehlo.remainder %a, %b : tensor<6xi32>
  check.expect_eq_const(%q, dense<[1, 0, 1, 0, 0, 0]> : tensor<6xi32>) : tensor<6xi32>
  check.expect_eq_const(%m, dense<[4, -11, 0, -3, -12, -36]> : tensor<6xi32>) : tensor<6xi32>
  return
}

func.func @dot_general() {
  %a = util.unfoldable_constant dense<[[[4.8e-01, -2.4e-01, 9.6e-01, -2.e-01], [2.e-02, 1.55e+00, 5.5e-01, -5.1e-01], [-1.8e-01, 5.4e-01, 1.94e+00, -2.7e-01]]]> : tensor<1x3x4xf32>
  %b = util.unfoldable_constant dense<[[[-2.4e-01, 1.e+00, -8.9e-01, -2.9e-01, 8.8e-01], [5.8e-01, 9.e-02, 6.7e-01, -2.83e+00, 1.02e+00], [-9.6e-01, -1.67e+00, 2.8e-01, 7.e-01, -4.4e-01], [-1.08e+00, 3.e-02, -5.e-02, 1.41e+00, 7.5e-01]]]> : tensor<1x4x5xf32>
  %r = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<1x3x4xf32>, tensor<1x4x5xf32>) -> tensor<1x3x5xf32>
  check.expect_almost_eq_const(%r, dense<[[[-9.6e-01, -1.1508e+00, -3.0920002e-01, 9.299999e-01, -3.9479998e-01], [9.17e-01, -7.743e-01, 1.2002001e+00, -4.7263994e+00, 9.7409993e-01], [-1.2144e+00, -3.3793e+00, 1.0787001e+00, -4.9870005e-01, -6.637e-01]]]> : tensor<1x3x5xf32>) : tensor<1x3x5xf32>
  return
}

func.func @transpose_reverse() {
  %a = util.unfoldable_constant dense<[[2.04e+00, -2.56e+00, 4.2e-01, -5.7e-01], [-4.5e-01, -2.2e-01, -2.02e+00, -2.3e-01]]> : tensor<2x4xf32>
  %t = stablehlo.transpose %a, dims = [1, 0] : (tensor<2x4xf32>) -> tensor<4x2xf32>
  %r = stablehlo.reverse %t, dims = [0] : tensor<4x2xf32>
  check.expect_almost_eq_const(%t, dense<[[2.04e+00, -4.5e-01], [-2.56e+00, -2.2e-01], [4.2e-01, -2.02e+00], [-5.7e-01, -2.3e-01]]> : tensor<4x2xf32>) : tensor<4x2xf32>
  check.expect_almost_eq_const(%r, dense<[[-5.7e-01, -2.3e-01], [4.2e-01, -2.02e+00], [-2.56e+00, -2.2e-01], [2.04e+00, -4.5e-01]]> : tensor<4x2xf32>) : tensor<4x2xf32>
  return
}

func.func @concatenate_slice() {
  %a = util.unfoldable_constant dense<[[2.04e+00, -2.56e+00, 4.2e-01, -5.7e-01], [-4.5e-01, -2.2e-01, -2.02e+00, -2.3e-01]]> : tensor<2x4xf32>
  %b = util.unfoldable_constant dense<[[-8.7e-01, 3.32e+00, 2.3e-01, -3.5e-01], [-2.8e-01, -6.7e-01, -1.06e+00, -3.9e-01]]> : tensor<2x4xf32>
  %c = stablehlo.concatenate %a, %b, dim = 0 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  %r = stablehlo.slice %c [1:4:2, 0:3] : (tensor<4x4xf32>) -> tensor<2x3xf32>
  check.expect_almost_eq_const(%r, dense<[[-4.5e-01, -2.2e-01, -2.02e+00], [-2.8e-01, -6.7e-01, -1.06e+00]]> : tensor<2x3xf32>) : tensor<2x3xf32>
  return
}

func.func @pad() {
  %a = util.unfoldable_constant dense<[15, -11, 40, -3, -12, -36]> : tensor<6xi32>
  %v = util.unfoldable_constant dense<-1> : tensor<i32>
  %r = stablehlo.pad %a, %v, low = [1], high = [2], interior = [1] : (tensor<6xi32>, tensor<i32>) -> tensor<14xi32>
  check.expect_eq_const(%r, dense<[-1, 15, -1, -11, -1, 40, -1, -3, -1, -12, -1, -36, -1, -1]> : tensor<14xi32>) : tensor<14xi32>
  return
}

func.func @compare_select() {
  %a = util.unfoldable_constant dense<[[2.04e+00, -2.56e+00, 4.2e-01, -5.7e-01], [-4.5e-01, -2.2e-01, -2.02e+00, -2.3e-01]]> : tensor<2x4xf32>
  %b = util.unfoldable_constant dense<[[-8.7e-01, 3.32e+00, 2.3e-01, -3.5e-01], [-2.8e-01, -6.7e-01, -1.06e+00, -3.9e-01]]> : tensor<2x4xf32>
  %p = stablehlo.compare LT, %a, %b : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xi1>
  %r = stablehlo.select %p, %a, %b : tensor<2x4xi1>, tensor<2x4xf32>
  check.expect_almost_eq_const(%r, dense<[[-8.7e-01, -2.56e+00, 2.3e-01, -5.7e-01], [-4.5e-01, -6.7e-01, -2.02e+00, -3.9e-01]]> : tensor<2x4xf32>) : tensor<2x4xf32>
  return
}

func.func @reduce_maximum() {
  %a = util.unfoldable_constant dense<[[2.04e+00, -2.56e+00, 4.2e-01, -5.7e-01], [-4.5e-01, -2.2e-01, -2.02e+00, -2.3e-01]]> : tensor<2x4xf32>
  %z = util.unfoldable_constant dense<0xFF800000> : tensor<f32>
  %r = stablehlo.reduce(%a init: %z) applies stablehlo.maximum across dimensions = [1] : (tensor<2x4xf32>, tensor<f32>) -> tensor<2xf32>
  check.expect_almost_eq_const(%r, dense<[2.04e+00, -2.2e-01]> : tensor<2xf32>) : tensor<2xf32>
  return
}

func.func @exponential_tanh_logistic() {
  %a = util.unfoldable_constant dense<[[2.04e+00, -2.56e+00, 4.2e-01, -5.7e-01], [-4.5e-01, -2.2e-01, -2.02e+00, -2.3e-01]]> : tensor<2x4xf32>
  %e = stablehlo.exponential %a : tensor<2x4xf32>
  %t = stablehlo.tanh %a : tensor<2x4xf32>
  %l = stablehlo.logistic %a : tensor<2x4xf32>
  check.expect_almost_eq_const(%e, dense<[[7.6906085e+00, 7.730474e-02, 1.5219615e+00, 5.655255e-01], [6.3762814e-01, 8.025188e-01, 1.3265547e-01, 7.9453355e-01]]> : tensor<2x4xf32>, atol 1.0e-3) : tensor<2x4xf32>
  check.expect_almost_eq_const(%t, dense<[[9.667473e-01, -9.8811895e-01, 3.9693043e-01, -5.153593e-01], [-4.21899e-01, -2.1651806e-01, -9.654137e-01, -2.2602835e-01]]> : tensor<2x4xf32>) : tensor<2x4xf32>
  check.expect_almost_eq_const(%l, dense<[[8.8493323e-01, 7.175755e-02, 6.0348326e-01, 3.6123684e-01], [3.8936076e-01, 4.452208e-01, 1.17119e-01, 4.4275215e-01]]> : tensor<2x4xf32>) : tensor<2x4xf32>
  return
}

func.func @iota_convert() {
  %a = util.unfoldable_constant dense<[15, -11, 40, -3, -12, -36]> : tensor<6xi32>
  %i = stablehlo.iota dim = 0 : tensor<6xi32>
  %s = stablehlo.add %i, %a : tensor<6xi32>
  %r = stablehlo.convert %s : (tensor<6xi32>) -> tensor<6xf32>
  check.expect_almost_eq_const(%r, dense<[1.5e+01, -1.e+01, 4.2e+01, 0.e+00, -8.e+00, -3.1e+01]> : tensor<6xf32>) : tensor<6xf32>
  return
}

func.func @while() {
  %z = util.unfoldable_constant dense<0> : tensor<i32>
  %a = util.unfoldable_constant dense<3> : tensor<i32>
  %r:2 = stablehlo.while(%i = %z, %v = %a) : tensor<i32>, tensor<i32>
    cond {
      %n = stablehlo.constant dense<4> : tensor<i32>
      %m = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %m : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %j = stablehlo.add %i, %one : tensor<i32>
      %d = stablehlo.add %v, %v : tensor<i32>
      stablehlo.return %j, %d : tensor<i32>, tensor<i32>
    }
  check.expect_eq_const(%r#1, dense<48> : tensor<i32>) : tensor<i32>
  return
}

func.func @gather_dynamic_slice() {
  %a = util.unfoldable_constant dense<[[2.04e+00, -2.56e+00, 4.2e-01, -5.7e-01], [-4.5e-01, -2.2e-01, -2.02e+00, -2.3e-01]]> : tensor<2x4xf32>
  %i = util.unfoldable_constant dense<1> : tensor<i32>
  %j = util.unfoldable_constant dense<2> : tensor<i32>
  %r = stablehlo.dynamic_slice %a, %i, %j, sizes = [1, 2] : (tensor<2x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
  check.expect_almost_eq_const(%r, dense<[[-2.02e+00, -2.3e-01]]> : tensor<1x2xf32>) : tensor<1x2xf32>
  return
}
