// Inclusive running sum along rows, with the carried total.

func.func @main(%x: tensor<4x32xf32>) -> (tensor<4x32xf32>, tensor<4xf32>) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4x32xf32>
  %empty_carry = tensor.empty() : tensor<4xf32>
  %carry = linalg.fill ins(%zero : f32) outs(%empty_carry : tensor<4xf32>) -> tensor<4xf32>
  %result:2 = iree_linalg_ext.scan dimension(1) inclusive(true)
      ins(%x : tensor<4x32xf32>) outs(%empty, %carry : tensor<4x32xf32>, tensor<4xf32>) {
    ^bb0(%a: f32, %b: f32):
      %sum = arith.addf %a, %b : f32
      iree_linalg_ext.yield %sum : f32
  } -> tensor<4x32xf32>, tensor<4xf32>
  return %result#0, %result#1 : tensor<4x32xf32>, tensor<4xf32>
}
