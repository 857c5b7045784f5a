// tensor operations with known answers.

func.func @extract_slice() {
  %a = util.unfoldable_constant dense<[[0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11], [12, 13, 14, 15, 16, 17], [18, 19, 20, 21, 22, 23]]> : tensor<4x6xi32>
  %r = tensor.extract_slice %a[1, 2] [2, 2] [2, 1] : tensor<4x6xi32> to tensor<2x2xi32>
  check.expect_eq_const(%r, dense<[[8, 9], [20, 21]]> : tensor<2x2xi32>) : tensor<2x2xi32>
  return
}

func.func @insert_slice() {
  %a = util.unfoldable_constant dense<[[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]> : tensor<4x4xi32>
  %b = util.unfoldable_constant dense<[[7, 7], [7, 7]]> : tensor<2x2xi32>
  %r = tensor.insert_slice %b into %a[1, 2] [2, 2] [1, 1] : tensor<2x2xi32> into tensor<4x4xi32>
  check.expect_eq_const(%r, dense<[[0, 0, 0, 0], [0, 0, 7, 7], [0, 0, 7, 7], [0, 0, 0, 0]]> : tensor<4x4xi32>) : tensor<4x4xi32>
  return
}

func.func @pad() {
  %a = util.unfoldable_constant dense<[[0, 1, 2], [3, 4, 5]]> : tensor<2x3xi32>
  %v = arith.constant -1 : i32
  %r = tensor.pad %a low[1, 0] high[0, 2] {
    ^bb0(%i: index, %j: index):
      tensor.yield %v : i32
  } : tensor<2x3xi32> to tensor<3x5xi32>
  check.expect_eq_const(%r, dense<[[-1, -1, -1, -1, -1], [0, 1, 2, -1, -1], [3, 4, 5, -1, -1]]> : tensor<3x5xi32>) : tensor<3x5xi32>
  return
}

func.func @reshape() {
  %a = util.unfoldable_constant dense<[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]> : tensor<3x4xi32>
  %f = tensor.collapse_shape %a [[0, 1]] : tensor<3x4xi32> into tensor<12xi32>
  %r = tensor.expand_shape %f [[0, 1]] output_shape [2, 6] : tensor<12xi32> into tensor<2x6xi32>
  check.expect_eq_const(%r, dense<[[0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11]]> : tensor<2x6xi32>) : tensor<2x6xi32>
  return
}

func.func @concat() {
  %a = util.unfoldable_constant dense<[[2.04e+00, -2.56e+00, 4.2e-01, -5.7e-01], [-4.5e-01, -2.2e-01, -2.02e+00, -2.3e-01]]> : tensor<2x4xf32>
  %b = util.unfoldable_constant dense<[[-8.7e-01, 3.32e+00, 2.3e-01, -3.5e-01], [-2.8e-01, -6.7e-01, -1.06e+00, -3.9e-01]]> : tensor<2x4xf32>
  %r = tensor.concat dim(1) %a, %b : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x8xf32>
  check.expect_almost_eq_const(%r, dense<[[2.04e+00, -2.56e+00, 4.2e-01, -5.7e-01, -8.7e-01, 3.32e+00, 2.3e-01, -3.5e-01], [-4.5e-01, -2.2e-01, -2.02e+00, -2.3e-01, -2.8e-01, -6.7e-01, -1.06e+00, -3.9e-01]]> : tensor<2x8xf32>) : tensor<2x8xf32>
  return
}

func.func @extract_to_host() {
  %a = util.unfoldable_constant dense<[4, 5, 6]> : tensor<3xi32>
  %two = util.unfoldable_constant 2 : index
  %last = tensor.extract %a[%two] : tensor<3xi32>
  %six = arith.constant 6 : i32
  %equal = arith.cmpi eq, %last, %six : i32
  check.expect_true(%equal) : i1
  return
}

func.func @dynamic_sizes() {
  %a = util.unfoldable_constant dense<[1.0, 2.0, 3.0, 4.0, 5.0]> : tensor<5xf32>
  %three = util.unfoldable_constant 3 : index
  %slice = tensor.extract_slice %a[1] [%three] [1] : tensor<5xf32> to tensor<?xf32>
  %sum = arith.addf %slice, %slice : tensor<?xf32>
  %static = tensor.cast %sum : tensor<?xf32> to tensor<3xf32>
  check.expect_almost_eq_const(%static, dense<[4.0, 6.0, 8.0]> : tensor<3xf32>) : tensor<3xf32>
  return
}
