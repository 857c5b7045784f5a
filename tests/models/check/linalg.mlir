// linalg operations with known answers.

func.func @matmul_f32() {
  %a = util.unfoldable_constant dense<[[3.5e-01, -1.05e+00, 1.41e+00, -2.e-02, -3.7e-01, -1.72e+00, 1.68e+00], [7.5e-01, 7.5e-01, 1.14e+00, 3.5e-01, -6.4e-01, -8.e-01, -8.e-01], [1.37e+00, -1.46e+00, -6.e-01, -3.2e-01, 2.2e-01, 5.8e-01, -1.25e+00], [-1.73e+00, -0.e+00, 1.21e+00, 7.6e-01, 2.2e-01, -3.2e-01, 2.9e-01], [-2.4e-01, 8.2e-01, -7.9e-01, 1.3e-01, -1.1e-01, 5.4e-01, 2.2e-01]]> : tensor<5x7xf32>
  %b = util.unfoldable_constant dense<[[2.55e+00, 1.5e+00, 1.5e+00], [-2.04e+00, -3.4e-01, -6.1e-01], [5.3e-01, -2.28e+00, 1.17e+00], [1.07e+00, -1.3e+00, -9.8e-01], [-8.e-01, 4.e-02, 6.4e-01], [2.05e+00, -2.e-01, 7.7e-01], [1.6e-01, 1.76e+00, 7.4e-01]]> : tensor<7x3xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x3xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<5x3xf32>) -> tensor<5x3xf32>
  %r = linalg.matmul ins(%a, %b : tensor<5x7xf32>, tensor<7x3xf32>) outs(%f : tensor<5x3xf32>) -> tensor<5x3xf32>
  check.expect_almost_eq_const(%r, dense<[[7.991998e-01, 9.791999e-01, 2.5168e+00], [1.05199836e-01, -3.4577997e+00, 4.0699773e-02], [6.6245003e+00, 2.0282e+00, 2.2196002e+00], [-3.7426e+00, -5.7586e+00, -1.8151001e+00], [-1.3341999e+00, 1.2682e+00, -1.4037001e+00]]> : tensor<5x3xf32>) : tensor<5x3xf32>
  return
}

func.func @matmul_i32() {
  %a = util.unfoldable_constant dense<[[3, -8, 2, -2, 7, -2], [-4, 3, 6, -8, -8, -6], [-3, 0, 1, -2, 6, 2], [-7, -4, -6, -6, 6, 7]]> : tensor<4x6xi32>
  %b = util.unfoldable_constant dense<[[-2, -5, 6, -7, -7, -4, -3, -3], [-4, -5, 2, 0, 2, 7, 7, -7], [5, -2, 5, 3, -8, 6, 7, 8], [-8, -7, 2, 0, -8, 6, -5, -9], [6, 1, -9, -6, 6, 4, 6, 7], [-4, 0, -3, -9, -5, -8, -7, -2]]> : tensor<6x8xi32>
  %z = arith.constant 0 : i32
  %e = tensor.empty() : tensor<4x8xi32>
  %f = linalg.fill ins(%z : i32) outs(%e : tensor<4x8xi32>) -> tensor<4x8xi32>
  %r = linalg.matmul ins(%a, %b : tensor<4x6xi32>, tensor<6x8xi32>) outs(%f : tensor<4x8xi32>) -> tensor<4x8xi32>
  check.expect_eq_const(%r, dense<[[102, 42, -49, -39, 15, -24, 15, 134], [66, 41, 86, 148, 32, 41, 109, 67], [55, 33, -77, -30, 55, 14, 48, 73], [56, 115, -167, -68, 138, -104, -32, 83]]> : tensor<4x8xi32>) : tensor<4x8xi32>
  return
}

func.func @transpose() {
  %a = util.unfoldable_constant dense<[[2.04e+00, -2.56e+00, 4.2e-01, -5.7e-01], [-4.5e-01, -2.2e-01, -2.02e+00, -2.3e-01]]> : tensor<2x4xf32>
  %e = tensor.empty() : tensor<4x2xf32>
  %r = linalg.transpose ins(%a : tensor<2x4xf32>) outs(%e : tensor<4x2xf32>) permutation = [1, 0]
  check.expect_almost_eq_const(%r, dense<[[2.04e+00, -4.5e-01], [-2.56e+00, -2.2e-01], [4.2e-01, -2.02e+00], [-5.7e-01, -2.3e-01]]> : tensor<4x2xf32>) : tensor<4x2xf32>
  return
}

func.func @broadcast() {
  %a = util.unfoldable_constant dense<[15, -11, 40, -3, -12, -36]> : tensor<6xi32>
  %e = tensor.empty() : tensor<3x6xi32>
  %r = linalg.broadcast ins(%a : tensor<6xi32>) outs(%e : tensor<3x6xi32>) dimensions = [0]
  check.expect_eq_const(%r, dense<[[15, -11, 40, -3, -12, -36], [15, -11, 40, -3, -12, -36], [15, -11, 40, -3, -12, -36]]> : tensor<3x6xi32>) : tensor<3x6xi32>
  return
}

func.func @reduce_add() {
  %a = util.unfoldable_constant dense<[[2.04e+00, -2.56e+00, 4.2e-01, -5.7e-01], [-4.5e-01, -2.2e-01, -2.02e+00, -2.3e-01]]> : tensor<2x4xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  %r = linalg.reduce { arith.addf } ins(%a : tensor<2x4xf32>) outs(%f : tensor<2xf32>) dimensions = [1]
  check.expect_almost_eq_const(%r, dense<[-6.6999996e-01, -2.92e+00]> : tensor<2xf32>) : tensor<2xf32>
  return
}

func.func @softmax() {
  %a = util.unfoldable_constant dense<[[1.7e+00, -2.09e+00, 8.6e-01, -4.8e-01, 1.3e-01, 8.4e-01, 1.08e+00, 1.04e+00, 1.6e-01, 1.61e+00, -2.8e-01, -1.4e-01, 8.e-01, -5.5e-01, 2.16e+00, 1.02e+00, 2.18e+00, -3.e-02, -3.8e-01, 1.7e-01, 7.3e-01, -5.9e-01, 3.8e-01, -2.e-02, 1.62e+00, -6.6e-01, 1.05e+00, -6.4e-01, -9.6e-01, -7.1e-01, -1.19e+00, 1.5e-01, 1.03e+00, 1.6e-01, 6.2e-01, 1.63e+00, 2.7e-01, 2.e-01, -2.8e-01, -1.61e+00], [7.6e-01, -1.76e+00, 6.5e-01, -1.e-02, 1.13e+00, -7.e-02, -8.2e-01, 3.6e-01, -5.6e-01, -1.8e-01, 4.e-02, -1.3e-01, -1.9e-01, -8.3e-01, -1.9e-01, -2.14e+00, -1.6e-01, -1.2e+00, 1.12e+00, 1.27e+00, -1.95e+00, 1.4e-01, -1.3e-01, -1.05e+00, 5.3e-01, -4.6e-01, -1.77e+00, -2.7e-01, -1.5e-01, 1.1e-01, -1.23e+00, 6.2e-01, 7.4e-01, -1.15e+00, -6.6e-01, -8.e-02, -5.7e-01, 1.74e+00, 2.1e-01, -1.01e+00], [-7.9e-01, -6.e-02, 2.3e+00, -1.8e-01, 1.3e-01, 5.1e-01, -4.e-02, 2.28e+00, -5.3e-01, 7.4e-01, 1.6e-01, 6.2e-01, -1.18e+00, 1.77e+00, -1.2e-01, 3.e-02, -9.3e-01, -7.3e-01, 5.6e-01, 9.9e-01, 7.5e-01, 1.21e+00, 7.1e-01, 3.e-02, 8.4e-01, 5.9e-01, -1.e-01, 7.3e-01, 1.29e+00, 2.3e-01, -3.6e-01, 7.2e-01, 1.9e+00, -2.1e-01, -9.e-02, -1.4e-01, 1.22e+00, -1.84e+00, 3.7e-01, 1.19e+00]]> : tensor<3x40xf32>
  %e = tensor.empty() : tensor<3x40xf32>
  %r = linalg.softmax dimension(1) ins(%a : tensor<3x40xf32>) outs(%e : tensor<3x40xf32>) -> tensor<3x40xf32>
  check.expect_almost_eq_const(%r, dense<[[6.6484116e-02, 1.5022488e-03, 2.8701894e-02, 7.515467e-03, 1.3831699e-02, 2.8133554e-02, 3.576476e-02, 3.43624e-02, 1.425294e-02, 6.076191e-02, 9.179411e-03, 1.0558835e-02, 2.7030425e-02, 7.007374e-03, 1.05315775e-01, 3.3681985e-02, 1.0744329e-01, 1.1786598e-02, 8.305876e-03, 1.4396184e-02, 2.5203003e-02, 6.732612e-03, 1.7760254e-02, 1.19050555e-02, 6.1372574e-02, 6.277445e-03, 3.470775e-02, 6.4042574e-03, 4.6504457e-03, 5.9712906e-03, 3.6949352e-03, 1.411112e-02, 3.402049e-02, 1.425294e-02, 2.257771e-02, 6.1989382e-02, 1.5910242e-02, 1.4834612e-02, 9.179411e-03, 2.4277458e-03], [4.642795e-02, 3.7355747e-03, 4.159174e-02, 2.1496749e-02, 6.721535e-02, 2.0244874e-02, 9.563002e-03, 3.1121586e-02, 1.2402546e-02, 1.8136049e-02, 2.259891e-02, 1.9065907e-02, 1.7955592e-02, 9.4678495e-03, 1.7955592e-02, 2.554615e-03, 1.8502424e-02, 6.539768e-03, 6.6546544e-02, 7.731606e-02, 3.0891672e-03, 2.4975657e-02, 1.9065907e-02, 7.598127e-03, 3.6888566e-02, 1.3706932e-02, 3.698405e-03, 1.6575102e-02, 1.8688375e-02, 2.4237515e-02, 6.3464884e-03, 4.0362522e-02, 4.5508612e-02, 6.87507e-03, 1.1222285e-02, 2.0043433e-02, 1.2279138e-02, 1.23705246e-01, 2.6786597e-02, 7.908212e-03], [5.2947006e-03, 1.0986932e-02, 1.1636205e-01, 9.744533e-03, 1.32859405e-02, 1.9427827e-02, 1.1208883e-02, 1.14057936e-01, 6.866857e-03, 2.4451865e-02, 1.369056e-02, 2.1686858e-02, 3.5848133e-03, 6.849129e-02, 1.0347103e-02, 1.2021618e-02, 4.602992e-03, 5.6221066e-03, 2.0423912e-02, 3.1396814e-02, 2.4697611e-02, 3.9122846e-02, 2.3729205e-02, 1.2021618e-02, 2.7023487e-02, 2.1045912e-02, 1.0556128e-02, 2.4208564e-02, 4.2381268e-02, 1.4683235e-02, 8.13932e-03, 2.3967687e-02, 7.7999815e-02, 9.4565395e-03, 1.0662218e-02, 1.0142215e-02, 3.951603e-02, 1.8528159e-03, 1.6889742e-02, 3.834816e-02]]> : tensor<3x40xf32>) : tensor<3x40xf32>
  return
}

func.func @map_index() {
  %a = util.unfoldable_constant dense<[15, -11, 40, -3, -12, -36]> : tensor<6xi32>
  %e = tensor.empty() : tensor<6xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%a : tensor<6xi32>) outs(%e : tensor<6xi32>) {
    ^bb0(%x: i32, %o: i32):
      %k = linalg.index 0 : index
      %n = arith.index_cast %k : index to i32
      %s = arith.muli %x, %n : i32
      linalg.yield %s : i32
  } -> tensor<6xi32>
  check.expect_eq_const(%r, dense<[0, -11, 80, -9, -48, -180]> : tensor<6xi32>) : tensor<6xi32>
  return
}

func.func @conv_1d() {
  %a = util.unfoldable_constant dense<[15, -11, 40, -3, -12, -36]> : tensor<6xi32>
  %k = util.unfoldable_constant dense<[1, -2, 3]> : tensor<3xi32>
  %z = arith.constant 0 : i32
  %e = tensor.empty() : tensor<4xi32>
  %f = linalg.fill ins(%z : i32) outs(%e : tensor<4xi32>) -> tensor<4xi32>
  %r = linalg.conv_1d ins(%a, %k : tensor<6xi32>, tensor<3xi32>) outs(%f : tensor<4xi32>) -> tensor<4xi32>
  check.expect_eq_const(%r, dense<[157, -100, 10, -87]> : tensor<4xi32>) : tensor<4xi32>
  return
}
