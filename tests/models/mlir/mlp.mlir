// A perceptron of three layers with its weights as inputs: 8x32 -> 64 -> 32 -> 10.

#matrix = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (j)>
func.func private @layer1(%x: tensor<8x32xf32>, %w: tensor<32x64xf32>, %b: tensor<64xf32>) -> tensor<8x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<8x64xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<8x64xf32>) -> tensor<8x64xf32>
  %product = linalg.matmul ins(%x, %w : tensor<8x32xf32>, tensor<32x64xf32>) outs(%start : tensor<8x64xf32>) -> tensor<8x64xf32>
  %result = linalg.generic {indexing_maps = [#matrix, #column, #matrix], iterator_types = ["parallel", "parallel"]}
      ins(%product, %b : tensor<8x64xf32>, tensor<64xf32>) outs(%empty : tensor<8x64xf32>) {
    ^bb0(%p: f32, %bias: f32, %o: f32):
      %sum = arith.addf %p, %bias : f32
      %relu = arith.maximumf %sum, %zero : f32
      linalg.yield %relu : f32
  } -> tensor<8x64xf32>
  return %result : tensor<8x64xf32>
}
func.func @main(%x: tensor<8x32xf32>, %w1: tensor<32x64xf32>, %b1: tensor<64xf32>, %w2: tensor<64x10xf32>, %b2: tensor<10xf32>) -> tensor<8x10xf32> {
  %zero = arith.constant 0.0 : f32
  %hidden = call @layer1(%x, %w1, %b1) : (tensor<8x32xf32>, tensor<32x64xf32>, tensor<64xf32>) -> tensor<8x64xf32>
  %empty = tensor.empty() : tensor<8x10xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<8x10xf32>) -> tensor<8x10xf32>
  %product = linalg.matmul ins(%hidden, %w2 : tensor<8x64xf32>, tensor<64x10xf32>) outs(%start : tensor<8x10xf32>) -> tensor<8x10xf32>
  %result = linalg.generic {indexing_maps = [#matrix, #column, #matrix], iterator_types = ["parallel", "parallel"]}
      ins(%product, %b2 : tensor<8x10xf32>, tensor<10xf32>) outs(%empty : tensor<8x10xf32>) {
    ^bb0(%p: f32, %bias: f32, %o: f32):
      %sum = arith.addf %p, %bias : f32
      linalg.yield %sum : f32
  } -> tensor<8x10xf32>
  return %result : tensor<8x10xf32>
}
