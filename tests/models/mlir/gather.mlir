// Rows picked by index, with tensor.extract inside linalg.generic.

func.func @main(%table: tensor<32x16xf32>, %indices: tensor<8xi32>) -> tensor<8x16xf32> {
  %empty = tensor.empty() : tensor<8x16xf32>
  %result = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%indices : tensor<8xi32>) outs(%empty : tensor<8x16xf32>) {
    ^bb0(%index: i32, %o: f32):
      %row = arith.index_cast %index : i32 to index
      %column = linalg.index 1 : index
      %value = tensor.extract %table[%row, %column] : tensor<32x16xf32>
      linalg.yield %value : f32
  } -> tensor<8x16xf32>
  return %result : tensor<8x16xf32>
}
