// The gather operation of linalg_ext: no lowering configuration for Metal.

func.func @main(%table: tensor<32x16xf32>, %indices: tensor<8xi32>) -> tensor<8x16xf32> {
  %empty = tensor.empty() : tensor<8x16xf32>
  %result = iree_linalg_ext.gather dimension_map = [0]
      ins(%table, %indices : tensor<32x16xf32>, tensor<8xi32>) outs(%empty : tensor<8x16xf32>) -> tensor<8x16xf32>
  return %result : tensor<8x16xf32>
}
