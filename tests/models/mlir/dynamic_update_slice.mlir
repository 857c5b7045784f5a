// A block written at a position that is itself an input.

func.func @main(%x: tensor<16x16xf32>, %block: tensor<4x4xf32>, %row: tensor<i32>) -> tensor<16x16xf32> {
  %row_value = tensor.extract %row[] : tensor<i32>
  %i = arith.index_cast %row_value : i32 to index
  %result = tensor.insert_slice %block into %x[%i, 2] [4, 4] [1, 1] : tensor<4x4xf32> into tensor<16x16xf32>
  return %result : tensor<16x16xf32>
}
