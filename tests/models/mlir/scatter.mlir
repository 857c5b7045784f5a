// Rows written by index; every lane does the whole work redundantly.

func.func @main(%table: tensor<16x8xf32>, %indices: tensor<4x1xi32>, %updates: tensor<4x8xf32>) -> tensor<16x8xf32> {
  %result = iree_linalg_ext.scatter dimension_map = [0] unique_indices(true)
      ins(%updates, %indices : tensor<4x8xf32>, tensor<4x1xi32>) outs(%table : tensor<16x8xf32>) {
    ^bb0(%update: f32, %old: f32):
      iree_linalg_ext.yield %update : f32
  } -> tensor<16x8xf32>
  return %result : tensor<16x8xf32>
}
