// Rows sorted in ascending order; every lane does the whole work redundantly.

func.func @main(%x: tensor<8x32xf32>) -> tensor<8x32xf32> {
  %result = iree_linalg_ext.sort dimension(1) outs(%x : tensor<8x32xf32>) {
    ^bb0(%a: f32, %b: f32):
      %less = arith.cmpf olt, %a, %b : f32
      iree_linalg_ext.yield %less : i1
  } -> tensor<8x32xf32>
  return %result : tensor<8x32xf32>
}
