// Index of the largest element of every row: two results of one reduction.

func.func @main(%x: tensor<16x64xf32>) -> (tensor<16xf32>, tensor<16xi32>) {
  %lowest = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0 : i32
  %empty_value = tensor.empty() : tensor<16xf32>
  %empty_index = tensor.empty() : tensor<16xi32>
  %value = linalg.fill ins(%lowest : f32) outs(%empty_value : tensor<16xf32>) -> tensor<16xf32>
  %index = linalg.fill ins(%zero : i32) outs(%empty_index : tensor<16xi32>) -> tensor<16xi32>
  %best:2 = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<16x64xf32>) outs(%value, %index : tensor<16xf32>, tensor<16xi32>) {
    ^bb0(%element: f32, %best_value: f32, %best_index: i32):
      %j = linalg.index 1 : index
      %here = arith.index_cast %j : index to i32
      %greater = arith.cmpf ogt, %element, %best_value : f32
      %new_value = arith.select %greater, %element, %best_value : f32
      %new_index = arith.select %greater, %here, %best_index : i32
      linalg.yield %new_value, %new_index : f32, i32
  } -> (tensor<16xf32>, tensor<16xi32>)
  return %best#0, %best#1 : tensor<16xf32>, tensor<16xi32>
}
