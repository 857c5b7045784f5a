// Nearest-neighbour resize by 2 of an NHWC image.

func.func @main(%image: tensor<1x8x8x3xf32>) -> tensor<1x16x16x3xf32> {
  %empty = tensor.empty() : tensor<1x16x16x3xf32>
  %two = arith.constant 2 : index
  %result = linalg.generic {
      indexing_maps = [affine_map<(n, y, x, c) -> (n, y, x, c)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      outs(%empty : tensor<1x16x16x3xf32>) {
    ^bb0(%o: f32):
      %n = linalg.index 0 : index
      %y = linalg.index 1 : index
      %x = linalg.index 2 : index
      %c = linalg.index 3 : index
      %sy = arith.divsi %y, %two : index
      %sx = arith.divsi %x, %two : index
      %value = tensor.extract %image[%n, %sy, %sx, %c] : tensor<1x8x8x3xf32>
      linalg.yield %value : f32
  } -> tensor<1x16x16x3xf32>
  return %result : tensor<1x16x16x3xf32>
}
