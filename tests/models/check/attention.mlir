// Attention as one operation, with known answers.

func.func @attention() {
  %q = util.unfoldable_constant dense<[[[-8.e-01, 1.5e+00, 5.e-01, -5.e-01, 2.e-01, -1.5e+00, -6.e-01, 1.8e+00], [-9.e-01, 1.8e+00, -1.e-01, 1.e+00, 0.e+00, -2.2e+00, -6.e-01, 2.e-01], [-1.2e+00, -1.3e+00, 4.e-01, -6.e-01, -1.7e+00, -7.e-01, 9.e-01, -5.e-01], [9.e-01, 1.5e+00, 0.e+00, -1.1e+00, -1.3e+00, -0.e+00, 9.e-01, 3.e-01]]]> : tensor<1x4x8xf32>
  %k = util.unfoldable_constant dense<[[[5.e-01, -4.e-01, 3.e-01, -5.e-01, -3.e-01, -1.3e+00, -1.6e+00, -5.e-01], [-1.1e+00, -1.e+00, 7.e-01, -1.e-01, 2.9e+00, 9.e-01, -6.e-01, 8.e-01], [4.e-01, -7.e-01, 1.1e+00, -8.e-01, -3.1e+00, 8.e-01, -6.e-01, 1.5e+00], [-6.e-01, -1.2e+00, 1.5e+00, -1.1e+00, 2.e-01, 1.4e+00, 1.e-01, -1.e-01]]]> : tensor<1x4x8xf32>
  %v = util.unfoldable_constant dense<[[[1.e-01, 8.e-01, -8.e-01, 6.e-01, 6.e-01, 2.3e+00, -3.e-01, -9.e-01], [7.e-01, -4.e-01, 3.e-01, 1.e-01, 1.2e+00, -7.e-01, -1.e-01, -2.6e+00], [-9.e-01, 1.5e+00, -7.e-01, -7.e-01, -1.2e+00, 6.e-01, 2.e-01, -1.2e+00], [7.e-01, 3.e-01, 8.e-01, -6.e-01, 1.7e+00, 4.e-01, -1.e-01, -5.e-01]]]> : tensor<1x4x8xf32>
  %scale = arith.constant 0.5 : f32
  %e = tensor.empty() : tensor<1x4x8xf32>
  %r = iree_linalg_ext.attention <{
      indexing_maps = [affine_map<(b, m, n, k1, k2) -> (b, m, k1)>,
                       affine_map<(b, m, n, k1, k2) -> (b, k2, k1)>,
                       affine_map<(b, m, n, k1, k2) -> (b, k2, n)>,
                       affine_map<(b, m, n, k1, k2) -> ()>,
                       affine_map<(b, m, n, k1, k2) -> (b, m, n)>]}>
      ins(%q, %k, %v, %scale : tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x4x8xf32>, f32)
      outs(%e : tensor<1x4x8xf32>) {
    ^bb0(%score: f32):
      iree_linalg_ext.yield %score : f32
  } -> tensor<1x4x8xf32>
  check.expect_almost_eq_const(%r, dense<[[[2.0671284e-02, 6.2944824e-01, -3.6441147e-01, 1.6179388e-02, 3.221886e-01, 8.51165e-01, -8.878828e-02, -1.4442205e+00], [1.13443464e-01, 7.185873e-01, -6.710277e-01, 4.71443e-01, 5.80933e-01, 1.9139527e+00, -2.5380042e-01, -1.0632865e+00], [-4.6388513e-01, 1.1695358e+00, -3.8495803e-01, -5.5971175e-01, -4.160611e-01, 6.889157e-01, 9.1613695e-02, -1.0438199e+00], [-7.2910786e-01, 1.3724551e+00, -6.1831367e-01, -5.952047e-01, -8.9335996e-01, 7.08128e-01, 1.4496286e-01, -1.1445172e+00]]]> : tensor<1x4x8xf32>) : tensor<1x4x8xf32>
  return
}

func.func @attention_uniform() {
  %q = util.unfoldable_constant dense<[[[0.e+00, 0.e+00, 0.e+00, 0.e+00, 0.e+00, 0.e+00, 0.e+00, 0.e+00], [0.e+00, 0.e+00, 0.e+00, 0.e+00, 0.e+00, 0.e+00, 0.e+00, 0.e+00], [0.e+00, 0.e+00, 0.e+00, 0.e+00, 0.e+00, 0.e+00, 0.e+00, 0.e+00], [0.e+00, 0.e+00, 0.e+00, 0.e+00, 0.e+00, 0.e+00, 0.e+00, 0.e+00]]]> : tensor<1x4x8xf32>
  %k = util.unfoldable_constant dense<[[[5.e-01, -4.e-01, 3.e-01, -5.e-01, -3.e-01, -1.3e+00, -1.6e+00, -5.e-01], [-1.1e+00, -1.e+00, 7.e-01, -1.e-01, 2.9e+00, 9.e-01, -6.e-01, 8.e-01], [4.e-01, -7.e-01, 1.1e+00, -8.e-01, -3.1e+00, 8.e-01, -6.e-01, 1.5e+00], [-6.e-01, -1.2e+00, 1.5e+00, -1.1e+00, 2.e-01, 1.4e+00, 1.e-01, -1.e-01]]]> : tensor<1x4x8xf32>
  %v = util.unfoldable_constant dense<[[[1.e-01, 8.e-01, -8.e-01, 6.e-01, 6.e-01, 2.3e+00, -3.e-01, -9.e-01], [7.e-01, -4.e-01, 3.e-01, 1.e-01, 1.2e+00, -7.e-01, -1.e-01, -2.6e+00], [-9.e-01, 1.5e+00, -7.e-01, -7.e-01, -1.2e+00, 6.e-01, 2.e-01, -1.2e+00], [7.e-01, 3.e-01, 8.e-01, -6.e-01, 1.7e+00, 4.e-01, -1.e-01, -5.e-01]]]> : tensor<1x4x8xf32>
  %scale = arith.constant 0.5 : f32
  %e = tensor.empty() : tensor<1x4x8xf32>
  %r = iree_linalg_ext.attention <{
      indexing_maps = [affine_map<(b, m, n, k1, k2) -> (b, m, k1)>,
                       affine_map<(b, m, n, k1, k2) -> (b, k2, k1)>,
                       affine_map<(b, m, n, k1, k2) -> (b, k2, n)>,
                       affine_map<(b, m, n, k1, k2) -> ()>,
                       affine_map<(b, m, n, k1, k2) -> (b, m, n)>]}>
      ins(%q, %k, %v, %scale : tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x4x8xf32>, f32)
      outs(%e : tensor<1x4x8xf32>) {
    ^bb0(%score: f32):
      iree_linalg_ext.yield %score : f32
  } -> tensor<1x4x8xf32>
  check.expect_almost_eq_const(%r, dense<[[[1.5e-01, 5.5e-01, -1.0000001e-01, -1.4999999e-01, 5.7500005e-01, 6.5e-01, -7.5e-02, -1.3e+00], [1.5e-01, 5.5e-01, -1.0000001e-01, -1.4999999e-01, 5.7500005e-01, 6.5e-01, -7.5e-02, -1.3e+00], [1.5e-01, 5.5e-01, -1.0000001e-01, -1.4999999e-01, 5.7500005e-01, 6.5e-01, -7.5e-02, -1.3e+00], [1.5e-01, 5.5e-01, -1.0000001e-01, -1.4999999e-01, 5.7500005e-01, 6.5e-01, -7.5e-02, -1.3e+00]]]> : tensor<1x4x8xf32>) : tensor<1x4x8xf32>
  return
}
