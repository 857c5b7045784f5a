// The attention operation, half; compiles for Metal only after it is decomposed in preprocessing.

func.func @main(%q: tensor<2x32x16xf16>, %k: tensor<2x32x16xf16>, %v: tensor<2x32x16xf16>) -> tensor<2x32x16xf16> {
  %scale = arith.constant 0.25 : f16
  %empty = tensor.empty() : tensor<2x32x16xf16>
  %result = iree_linalg_ext.attention <{
      indexing_maps = [affine_map<(b, m, n, k1, k2) -> (b, m, k1)>,
                       affine_map<(b, m, n, k1, k2) -> (b, k2, k1)>,
                       affine_map<(b, m, n, k1, k2) -> (b, k2, n)>,
                       affine_map<(b, m, n, k1, k2) -> ()>,
                       affine_map<(b, m, n, k1, k2) -> (b, m, n)>]}>
      ins(%q, %k, %v, %scale : tensor<2x32x16xf16>, tensor<2x32x16xf16>, tensor<2x32x16xf16>, f16)
      outs(%empty : tensor<2x32x16xf16>) {
    ^bb0(%score: f32):
      iree_linalg_ext.yield %score : f32
  } -> tensor<2x32x16xf16>
  return %result : tensor<2x32x16xf16>
}
