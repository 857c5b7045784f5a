// Functions of the math and arith dialects on f32, half and integers.

func.func @exp() {
  %a = util.unfoldable_constant dense<[1.e-01, 5.e-01, 1.e+00, 1.7e+00, 2.9e+00, -3.e-01, -1.2e+00, -2.5e+00]> : tensor<8xf32>
  %r = math.exp %a : tensor<8xf32>
  check.expect_almost_eq_const(%r, dense<[1.105171e+00, 1.6487212e+00, 2.7182817e+00, 5.4739475e+00, 1.8174147e+01, 7.408182e-01, 3.011942e-01, 8.2085e-02]> : tensor<8xf32>) : tensor<8xf32>
  return
}

func.func @exp2() {
  %a = util.unfoldable_constant dense<[1.e-01, 5.e-01, 1.e+00, 1.7e+00, 2.9e+00, -3.e-01, -1.2e+00, -2.5e+00]> : tensor<8xf32>
  %r = math.exp2 %a : tensor<8xf32>
  check.expect_almost_eq_const(%r, dense<[1.0717734e+00, 1.4142135e+00, 2.e+00, 3.2490096e+00, 7.4642644e+00, 8.122524e-01, 4.3527526e-01, 1.7677669e-01]> : tensor<8xf32>) : tensor<8xf32>
  return
}

func.func @expm1() {
  %a = util.unfoldable_constant dense<[1.e-01, 5.e-01, 1.e+00, 1.7e+00, 2.9e+00, -3.e-01, -1.2e+00, -2.5e+00]> : tensor<8xf32>
  %r = math.expm1 %a : tensor<8xf32>
  check.expect_almost_eq_const(%r, dense<[1.0517092e-01, 6.487213e-01, 1.7182819e+00, 4.4739475e+00, 1.7174147e+01, -2.591818e-01, -6.988058e-01, -9.17915e-01]> : tensor<8xf32>) : tensor<8xf32>
  return
}

func.func @log() {
  %a = util.unfoldable_constant dense<[1.e-01, 5.e-01, 1.e+00, 1.7e+00, 2.9e+00, 3.e-01, 1.2e+00, 2.5e+00]> : tensor<8xf32>
  %r = math.log %a : tensor<8xf32>
  check.expect_almost_eq_const(%r, dense<[-2.3025851e+00, -6.931472e-01, 0.e+00, 5.3062826e-01, 1.0647107e+00, -1.2039728e+00, 1.823216e-01, 9.1629076e-01]> : tensor<8xf32>) : tensor<8xf32>
  return
}

func.func @log2() {
  %a = util.unfoldable_constant dense<[1.e-01, 5.e-01, 1.e+00, 1.7e+00, 2.9e+00, 3.e-01, 1.2e+00, 2.5e+00]> : tensor<8xf32>
  %r = math.log2 %a : tensor<8xf32>
  check.expect_almost_eq_const(%r, dense<[-3.321928e+00, -1.e+00, 0.e+00, 7.6553476e-01, 1.536053e+00, -1.7369655e+00, 2.6303446e-01, 1.3219281e+00]> : tensor<8xf32>) : tensor<8xf32>
  return
}

func.func @log1p() {
  %a = util.unfoldable_constant dense<[1.e-01, 5.e-01, 1.e+00, 1.7e+00, 2.9e+00, 3.e-01, 1.2e+00, 2.5e+00]> : tensor<8xf32>
  %r = math.log1p %a : tensor<8xf32>
  check.expect_almost_eq_const(%r, dense<[9.531018e-02, 4.054651e-01, 6.931472e-01, 9.932518e-01, 1.3609766e+00, 2.6236427e-01, 7.884574e-01, 1.2527629e+00]> : tensor<8xf32>) : tensor<8xf32>
  return
}

func.func @sin() {
  %a = util.unfoldable_constant dense<[1.e-01, 5.e-01, 1.e+00, 1.7e+00, 2.9e+00, -3.e-01, -1.2e+00, -2.5e+00]> : tensor<8xf32>
  %r = math.sin %a : tensor<8xf32>
  check.expect_almost_eq_const(%r, dense<[9.983342e-02, 4.7942555e-01, 8.4147096e-01, 9.916648e-01, 2.3924923e-01, -2.9552022e-01, -9.320391e-01, -5.984721e-01]> : tensor<8xf32>) : tensor<8xf32>
  return
}

func.func @cos() {
  %a = util.unfoldable_constant dense<[1.e-01, 5.e-01, 1.e+00, 1.7e+00, 2.9e+00, -3.e-01, -1.2e+00, -2.5e+00]> : tensor<8xf32>
  %r = math.cos %a : tensor<8xf32>
  check.expect_almost_eq_const(%r, dense<[9.950042e-01, 8.7758255e-01, 5.403023e-01, -1.2884454e-01, -9.709582e-01, 9.553365e-01, 3.623577e-01, -8.011436e-01]> : tensor<8xf32>) : tensor<8xf32>
  return
}

func.func @tanh() {
  %a = util.unfoldable_constant dense<[1.e-01, 5.e-01, 1.e+00, 1.7e+00, 2.9e+00, -3.e-01, -1.2e+00, -2.5e+00]> : tensor<8xf32>
  %r = math.tanh %a : tensor<8xf32>
  check.expect_almost_eq_const(%r, dense<[9.9667996e-02, 4.6211717e-01, 7.615942e-01, 9.3540907e-01, 9.939632e-01, -2.9131263e-01, -8.3365464e-01, -9.866143e-01]> : tensor<8xf32>) : tensor<8xf32>
  return
}

func.func @erf() {
  %a = util.unfoldable_constant dense<[1.e-01, 5.e-01, 1.e+00, 1.7e+00, 2.9e+00, -3.e-01, -1.2e+00, -2.5e+00]> : tensor<8xf32>
  %r = math.erf %a : tensor<8xf32>
  check.expect_almost_eq_const(%r, dense<[1.12462915e-01, 5.204999e-01, 8.427008e-01, 9.8379046e-01, 9.999589e-01, -3.2862678e-01, -9.1031396e-01, -9.99593e-01]> : tensor<8xf32>) : tensor<8xf32>
  return
}

func.func @atan() {
  %a = util.unfoldable_constant dense<[1.e-01, 5.e-01, 1.e+00, 1.7e+00, 2.9e+00, -3.e-01, -1.2e+00, -2.5e+00]> : tensor<8xf32>
  %r = math.atan %a : tensor<8xf32>
  check.expect_almost_eq_const(%r, dense<[9.966865e-02, 4.636476e-01, 7.853982e-01, 1.0390723e+00, 1.2387369e+00, -2.9145682e-01, -8.7605804e-01, -1.19029e+00]> : tensor<8xf32>) : tensor<8xf32>
  return
}

func.func @sqrt() {
  %a = util.unfoldable_constant dense<[1.e-01, 5.e-01, 1.e+00, 1.7e+00, 2.9e+00, 3.e-01, 1.2e+00, 2.5e+00]> : tensor<8xf32>
  %r = math.sqrt %a : tensor<8xf32>
  check.expect_almost_eq_const(%r, dense<[3.1622776e-01, 7.0710677e-01, 1.e+00, 1.3038405e+00, 1.7029387e+00, 5.477226e-01, 1.0954452e+00, 1.5811388e+00]> : tensor<8xf32>) : tensor<8xf32>
  return
}

func.func @rsqrt() {
  %a = util.unfoldable_constant dense<[1.e-01, 5.e-01, 1.e+00, 1.7e+00, 2.9e+00, 3.e-01, 1.2e+00, 2.5e+00]> : tensor<8xf32>
  %r = math.rsqrt %a : tensor<8xf32>
  check.expect_almost_eq_const(%r, dense<[3.1622777e+00, 1.4142135e+00, 1.e+00, 7.66965e-01, 5.872202e-01, 1.8257418e+00, 9.128709e-01, 6.324555e-01]> : tensor<8xf32>) : tensor<8xf32>
  return
}

func.func @floor() {
  %a = util.unfoldable_constant dense<[1.e-01, 5.e-01, 1.e+00, 1.7e+00, 2.9e+00, -3.e-01, -1.2e+00, -2.5e+00]> : tensor<8xf32>
  %r = math.floor %a : tensor<8xf32>
  check.expect_almost_eq_const(%r, dense<[0.e+00, 0.e+00, 1.e+00, 1.e+00, 2.e+00, -1.e+00, -2.e+00, -3.e+00]> : tensor<8xf32>) : tensor<8xf32>
  return
}

func.func @ceil() {
  %a = util.unfoldable_constant dense<[1.e-01, 5.e-01, 1.e+00, 1.7e+00, 2.9e+00, -3.e-01, -1.2e+00, -2.5e+00]> : tensor<8xf32>
  %r = math.ceil %a : tensor<8xf32>
  check.expect_almost_eq_const(%r, dense<[1.e+00, 1.e+00, 1.e+00, 2.e+00, 3.e+00, 0.e+00, -1.e+00, -2.e+00]> : tensor<8xf32>) : tensor<8xf32>
  return
}

func.func @absf() {
  %a = util.unfoldable_constant dense<[1.e-01, 5.e-01, 1.e+00, 1.7e+00, 2.9e+00, -3.e-01, -1.2e+00, -2.5e+00]> : tensor<8xf32>
  %r = math.absf %a : tensor<8xf32>
  check.expect_almost_eq_const(%r, dense<[1.e-01, 5.e-01, 1.e+00, 1.7e+00, 2.9e+00, 3.e-01, 1.2e+00, 2.5e+00]> : tensor<8xf32>) : tensor<8xf32>
  return
}

func.func @roundeven() {
  %a = util.unfoldable_constant dense<[1.e-01, 5.e-01, 1.e+00, 1.7e+00, 2.9e+00, -3.e-01, -1.2e+00, -2.5e+00]> : tensor<8xf32>
  %r = math.roundeven %a : tensor<8xf32>
  check.expect_almost_eq_const(%r, dense<[0.e+00, 0.e+00, 1.e+00, 2.e+00, 3.e+00, -0.e+00, -1.e+00, -2.e+00]> : tensor<8xf32>) : tensor<8xf32>
  return
}

func.func @powf() {
  %a = util.unfoldable_constant dense<[1.e-01, 5.e-01, 1.e+00, 1.7e+00, 2.9e+00, 3.e-01, 1.2e+00, 2.5e+00]> : tensor<8xf32>
  %b = util.unfoldable_constant dense<[1.e-01, 5.e-01, 1.e+00, 1.7e+00, 2.9e+00, -3.e-01, -1.2e+00, -2.5e+00]> : tensor<8xf32>
  %r = math.powf %a, %b : tensor<8xf32>
  check.expect_almost_eq_const(%r, dense<[7.943282e-01, 7.0710677e-01, 1.e+00, 2.464695e+00, 2.1925741e+01, 1.4350387e+00, 8.034937e-01, 1.01192884e-01]> : tensor<8xf32>, atol 1.0e-3) : tensor<8xf32>
  return
}

func.func @atan2() {
  %a = util.unfoldable_constant dense<[1.e-01, 5.e-01, 1.e+00, 1.7e+00, 2.9e+00, -3.e-01, -1.2e+00, -2.5e+00]> : tensor<8xf32>
  %b = util.unfoldable_constant dense<[1.e-01, 5.e-01, 1.e+00, 1.7e+00, 2.9e+00, 3.e-01, 1.2e+00, 2.5e+00]> : tensor<8xf32>
  %r = math.atan2 %a, %b : tensor<8xf32>
  check.expect_almost_eq_const(%r, dense<[7.853981e-01, 7.853981e-01, 7.853981e-01, 7.853981e-01, 7.853981e-01, -7.853981e-01, -7.853981e-01, -7.853981e-01]> : tensor<8xf32>) : tensor<8xf32>
  return
}

func.func @fma() {
  %a = util.unfoldable_constant dense<[1.e-01, 5.e-01, 1.e+00, 1.7e+00, 2.9e+00, -3.e-01, -1.2e+00, -2.5e+00]> : tensor<8xf32>
  %b = util.unfoldable_constant dense<[1.e-01, 5.e-01, 1.e+00, 1.7e+00, 2.9e+00, 3.e-01, 1.2e+00, 2.5e+00]> : tensor<8xf32>
  %r = math.fma %a, %b, %a : tensor<8xf32>
  check.expect_almost_eq_const(%r, dense<[1.1e-01, 7.5e-01, 2.e+00, 4.59e+00, 1.1310001e+01, -3.9000002e-01, -2.64e+00, -8.75e+00]> : tensor<8xf32>) : tensor<8xf32>
  return
}

func.func @copysign() {
  %a = util.unfoldable_constant dense<[1.e-01, 5.e-01, 1.e+00, 1.7e+00, 2.9e+00, 3.e-01, 1.2e+00, 2.5e+00]> : tensor<8xf32>
  %b = util.unfoldable_constant dense<[1.e-01, 5.e-01, 1.e+00, 1.7e+00, 2.9e+00, -3.e-01, -1.2e+00, -2.5e+00]> : tensor<8xf32>
  %r = math.copysign %a, %b : tensor<8xf32>
  check.expect_almost_eq_const(%r, dense<[1.e-01, 5.e-01, 1.e+00, 1.7e+00, 2.9e+00, -3.e-01, -1.2e+00, -2.5e+00]> : tensor<8xf32>) : tensor<8xf32>
  return
}

func.func @half() {
  %a = util.unfoldable_constant dense<[1.e-01, 5.e-01, 1.e+00, 1.7e+00, 2.9e+00, -3.e-01, -1.2e+00, -2.5e+00]> : tensor<8xf32>
  %h = arith.truncf %a : tensor<8xf32> to tensor<8xf16>
  %s = arith.addf %h, %h : tensor<8xf16>
  %r = arith.extf %s : tensor<8xf16> to tensor<8xf32>
  check.expect_almost_eq_const(%r, dense<[1.9995117e-01, 1.e+00, 2.e+00, 3.4003906e+00, 5.8007812e+00, -6.0009766e-01, -2.4003906e+00, -5.e+00]> : tensor<8xf32>, atol 1.0e-3) : tensor<8xf32>
  return
}

func.func @min_max_nan() {
  %a = util.unfoldable_constant dense<[1.e+00, 0x7FC00000, 3.e+00, 0xFF800000]> : tensor<4xf32>
  %b = util.unfoldable_constant dense<[2.e+00, 0.e+00, -3.e+00, 1.e+00]> : tensor<4xf32>
  %p = arith.maxnumf %a, %b : tensor<4xf32>
  %q = arith.minimumf %a, %b : tensor<4xf32>
  %u = arith.cmpf uno, %q, %q : tensor<4xf32>
  %w = arith.extui %u : tensor<4xi1> to tensor<4xi32>
  check.expect_almost_eq_const(%p, dense<[2.e+00, 0.e+00, 3.e+00, 1.e+00]> : tensor<4xf32>) : tensor<4xf32>
  check.expect_eq_const(%w, dense<[0, 1, 0, 0]> : tensor<4xi32>) : tensor<4xi32>
  return
}

func.func @integers() {
  %a = util.unfoldable_constant dense<[15, -11, 40, -3, -12, -36]> : tensor<6xi32>
  %b = util.unfoldable_constant dense<[11, 35, 40, 15, 31, 43]> : tensor<6xi32>
  %p = arith.muli %a, %b : tensor<6xi32>
  %d = arith.divsi %p, %b : tensor<6xi32>
  %n = math.absi %a : tensor<6xi32>
  %c = math.ctpop %a : tensor<6xi32>
  check.expect_eq_const(%p, dense<[165, -385, 1600, -45, -372, -1548]> : tensor<6xi32>) : tensor<6xi32>
  check.expect_eq_const(%d, dense<[15, -11, 40, -3, -12, -36]> : tensor<6xi32>) : tensor<6xi32>
  check.expect_eq_const(%n, dense<[15, 11, 40, 3, 12, 36]> : tensor<6xi32>) : tensor<6xi32>
  check.expect_eq_const(%c, dense<[4, 30, 2, 31, 29, 29]> : tensor<6xi32>) : tensor<6xi32>
  return
}
