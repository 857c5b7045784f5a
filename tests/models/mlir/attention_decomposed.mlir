// Attention written as two batched products around a softmax.

func.func @main(%q: tensor<2x32x16xf32>, %k: tensor<2x32x16xf32>, %v: tensor<2x32x16xf32>) -> tensor<2x32x16xf32> {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.25 : f32
  %empty = tensor.empty() : tensor<2x32x32xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x32x32xf32>) -> tensor<2x32x32xf32>
  %transposed_empty = tensor.empty() : tensor<2x16x32xf32>
  %kt = linalg.transpose ins(%k : tensor<2x32x16xf32>) outs(%transposed_empty : tensor<2x16x32xf32>) permutation = [0, 2, 1]
  %scores = linalg.batch_matmul ins(%q, %kt : tensor<2x32x16xf32>, tensor<2x16x32xf32>)
      outs(%start : tensor<2x32x32xf32>) -> tensor<2x32x32xf32>
  %scaled = linalg.generic {
      indexing_maps = [affine_map<(b, i, j) -> (b, i, j)>, affine_map<(b, i, j) -> (b, i, j)>],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%scores : tensor<2x32x32xf32>) outs(%empty : tensor<2x32x32xf32>) {
    ^bb0(%s: f32, %o: f32):
      %r = arith.mulf %s, %scale : f32
      linalg.yield %r : f32
  } -> tensor<2x32x32xf32>
  %weights = linalg.softmax dimension(2) ins(%scaled : tensor<2x32x32xf32>) outs(%empty : tensor<2x32x32xf32>) -> tensor<2x32x32xf32>
  %out_empty = tensor.empty() : tensor<2x32x16xf32>
  %out_start = linalg.fill ins(%zero : f32) outs(%out_empty : tensor<2x32x16xf32>) -> tensor<2x32x16xf32>
  %result = linalg.batch_matmul ins(%weights, %v : tensor<2x32x32xf32>, tensor<2x32x16xf32>)
      outs(%out_start : tensor<2x32x16xf32>) -> tensor<2x32x16xf32>
  return %result : tensor<2x32x16xf32>
}
