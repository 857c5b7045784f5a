// Layer normalisation of 16 rows of 64 with scale and shift.

#row = affine_map<(i, j) -> (i, j)>
#per_row = affine_map<(i, j) -> (i)>
#per_column = affine_map<(i, j) -> (j)>
func.func @main(%x: tensor<16x64xf32>, %gamma: tensor<64xf32>, %beta: tensor<64xf32>) -> tensor<16x64xf32> {
  %zero = arith.constant 0.0 : f32
  %count = arith.constant 64.0 : f32
  %epsilon = arith.constant 1.0e-5 : f32
  %per_row = tensor.empty() : tensor<16xf32>
  %start = linalg.fill ins(%zero : f32) outs(%per_row : tensor<16xf32>) -> tensor<16xf32>
  %sum = linalg.reduce { arith.addf } ins(%x : tensor<16x64xf32>) outs(%start : tensor<16xf32>) dimensions = [1]
  %squares = linalg.generic {indexing_maps = [#row, #per_row, #per_row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %sum : tensor<16x64xf32>, tensor<16xf32>) outs(%start : tensor<16xf32>) {
    ^bb0(%element: f32, %total: f32, %acc: f32):
      %mean = arith.divf %total, %count : f32
      %centred = arith.subf %element, %mean : f32
      %square = arith.mulf %centred, %centred : f32
      %next = arith.addf %acc, %square : f32
      linalg.yield %next : f32
  } -> tensor<16xf32>
  %empty = tensor.empty() : tensor<16x64xf32>
  %result = linalg.generic {indexing_maps = [#row, #per_row, #per_row, #per_column, #per_column, #row], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum, %squares, %gamma, %beta : tensor<16x64xf32>, tensor<16xf32>, tensor<16xf32>, tensor<64xf32>, tensor<64xf32>)
      outs(%empty : tensor<16x64xf32>) {
    ^bb0(%element: f32, %total: f32, %square: f32, %g: f32, %b: f32, %o: f32):
      %mean = arith.divf %total, %count : f32
      %variance = arith.divf %square, %count : f32
      %safe = arith.addf %variance, %epsilon : f32
      %inverse = math.rsqrt %safe : f32
      %centred = arith.subf %element, %mean : f32
      %normal = arith.mulf %centred, %inverse : f32
      %scaled = arith.mulf %normal, %g : f32
      %shifted = arith.addf %scaled, %b : f32
      linalg.yield %shifted : f32
  } -> tensor<16x64xf32>
  return %result : tensor<16x64xf32>
}
