// Checks that hold and checks that do not: the verdict of each function is in its name.

func.func @passes_true() {
  %one = util.unfoldable_constant 1 : i32
  check.expect_true(%one) : i32
  return
}

func.func @fails_true() {
  %zero = util.unfoldable_constant 0 : i32
  check.expect_true(%zero) : i32
  return
}

func.func @passes_false() {
  %zero = util.unfoldable_constant 0 : i32
  check.expect_false(%zero) : i32
  return
}

func.func @fails_false() {
  %one = util.unfoldable_constant 1 : i32
  check.expect_false(%one) : i32
  return
}

func.func @passes_all_true() {
  %a = util.unfoldable_constant dense<[1, 2, 3]> : tensor<3xi32>
  check.expect_all_true(%a) : tensor<3xi32>
  return
}

func.func @fails_all_true() {
  %a = util.unfoldable_constant dense<[1, 0, 3]> : tensor<3xi32>
  check.expect_all_true(%a) : tensor<3xi32>
  return
}

func.func @passes_eq() {
  %a = util.unfoldable_constant dense<[1, 2]> : tensor<2xi32>
  %b = util.unfoldable_constant dense<[1, 2]> : tensor<2xi32>
  check.expect_eq(%a, %b) : tensor<2xi32>
  return
}

func.func @fails_eq() {
  %a = util.unfoldable_constant dense<[1, 2]> : tensor<2xi32>
  %b = util.unfoldable_constant dense<[1, 3]> : tensor<2xi32>
  check.expect_eq(%a, %b) : tensor<2xi32>
  return
}

func.func @fails_eq_const() {
  %a = util.unfoldable_constant dense<[1.0, 2.0]> : tensor<2xf32>
  %sum = arith.addf %a, %a : tensor<2xf32>
  check.expect_eq_const(%sum, dense<[2.0, 5.0]> : tensor<2xf32>) : tensor<2xf32>
  return
}

func.func @passes_almost_eq() {
  %a = util.unfoldable_constant dense<[1.0, 2.0]> : tensor<2xf32>
  check.expect_almost_eq_const(%a, dense<[1.00001, 2.0]> : tensor<2xf32>) : tensor<2xf32>
  return
}

func.func @fails_almost_eq() {
  %a = util.unfoldable_constant dense<[1.0, 2.0]> : tensor<2xf32>
  check.expect_almost_eq_const(%a, dense<[1.0, 2.1]> : tensor<2xf32>) : tensor<2xf32>
  return
}

func.func @passes_almost_eq_wide() {
  %a = util.unfoldable_constant dense<[1.0, 2.0]> : tensor<2xf32>
  check.expect_almost_eq_const(%a, dense<[1.0, 2.1]> : tensor<2xf32>, atol 0.2) : tensor<2xf32>
  return
}
