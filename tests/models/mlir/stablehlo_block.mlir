// A small transformer block in StableHLO: layer norm, attention with one head, gelu by tanh, and the
// argmax of the last row.

module @jit_block attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%x: tensor<16x32xf32>, %gamma: tensor<32xf32>, %beta: tensor<32xf32>, %wq: tensor<32x32xf32>, %wk: tensor<32x32xf32>, %wv: tensor<32x32xf32>, %w1: tensor<32x64xf32>, %w2: tensor<64x32xf32>) -> (tensor<16x32xf32> {jax.result_info = "result[0]"}, tensor<i32> {jax.result_info = "result[1]"}) {
    %zero = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %lowest = stablehlo.constant dense<0xFF800000> : tensor<f32>
    // Layer normalisation.
    %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<16x32xf32>, tensor<f32>) -> tensor<16xf32>
    %count = stablehlo.constant dense<3.200000e+01> : tensor<16xf32>
    %mean = stablehlo.divide %sum, %count : tensor<16xf32>
    %mean_wide = stablehlo.broadcast_in_dim %mean, dims = [0] : (tensor<16xf32>) -> tensor<16x32xf32>
    %centred = stablehlo.subtract %x, %mean_wide : tensor<16x32xf32>
    %square = stablehlo.multiply %centred, %centred : tensor<16x32xf32>
    %square_sum = stablehlo.reduce(%square init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<16x32xf32>, tensor<f32>) -> tensor<16xf32>
    %variance = stablehlo.divide %square_sum, %count : tensor<16xf32>
    %epsilon = stablehlo.constant dense<9.99999974E-6> : tensor<16xf32>
    %safe = stablehlo.add %variance, %epsilon : tensor<16xf32>
    %inverse = stablehlo.rsqrt %safe : tensor<16xf32>
    %inverse_wide = stablehlo.broadcast_in_dim %inverse, dims = [0] : (tensor<16xf32>) -> tensor<16x32xf32>
    %normal = stablehlo.multiply %centred, %inverse_wide : tensor<16x32xf32>
    %gamma_wide = stablehlo.broadcast_in_dim %gamma, dims = [1] : (tensor<32xf32>) -> tensor<16x32xf32>
    %beta_wide = stablehlo.broadcast_in_dim %beta, dims = [1] : (tensor<32xf32>) -> tensor<16x32xf32>
    %scaled = stablehlo.multiply %normal, %gamma_wide : tensor<16x32xf32>
    %h = stablehlo.add %scaled, %beta_wide : tensor<16x32xf32>
    // Attention.
    %q = stablehlo.dot_general %h, %wq, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x32xf32>, tensor<32x32xf32>) -> tensor<16x32xf32>
    %k = stablehlo.dot_general %h, %wk, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x32xf32>, tensor<32x32xf32>) -> tensor<16x32xf32>
    %v = stablehlo.dot_general %h, %wv, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x32xf32>, tensor<32x32xf32>) -> tensor<16x32xf32>
    %kt = stablehlo.transpose %k, dims = [1, 0] : (tensor<16x32xf32>) -> tensor<32x16xf32>
    %scores = stablehlo.dot_general %q, %kt, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x32xf32>, tensor<32x16xf32>) -> tensor<16x16xf32>
    %root = stablehlo.constant dense<5.65685415> : tensor<16x16xf32>
    %scaled_scores = stablehlo.divide %scores, %root : tensor<16x16xf32>
    %max = stablehlo.reduce(%scaled_scores init: %lowest) applies stablehlo.maximum across dimensions = [1] : (tensor<16x16xf32>, tensor<f32>) -> tensor<16xf32>
    %max_wide = stablehlo.broadcast_in_dim %max, dims = [0] : (tensor<16xf32>) -> tensor<16x16xf32>
    %shifted = stablehlo.subtract %scaled_scores, %max_wide : tensor<16x16xf32>
    %exp = stablehlo.exponential %shifted : tensor<16x16xf32>
    %exp_sum = stablehlo.reduce(%exp init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<16x16xf32>, tensor<f32>) -> tensor<16xf32>
    %exp_sum_wide = stablehlo.broadcast_in_dim %exp_sum, dims = [0] : (tensor<16xf32>) -> tensor<16x16xf32>
    %weights = stablehlo.divide %exp, %exp_sum_wide : tensor<16x16xf32>
    %attended = stablehlo.dot_general %weights, %v, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x16xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
    %residual = stablehlo.add %x, %attended : tensor<16x32xf32>
    // Feed forward with gelu.
    %up = stablehlo.dot_general %residual, %w1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x32xf32>, tensor<32x64xf32>) -> tensor<16x64xf32>
    %gelu = call @gelu(%up) : (tensor<16x64xf32>) -> tensor<16x64xf32>
    %down = stablehlo.dot_general %gelu, %w2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x64xf32>, tensor<64x32xf32>) -> tensor<16x32xf32>
    %y = stablehlo.add %residual, %down : tensor<16x32xf32>
    // Argmax of the last row.
    %last = stablehlo.slice %y [15:16, 0:32] : (tensor<16x32xf32>) -> tensor<1x32xf32>
    %row = stablehlo.reshape %last : (tensor<1x32xf32>) -> tensor<32xf32>
    %best = call @argmax(%row) : (tensor<32xf32>) -> tensor<i32>
    return %y, %best : tensor<16x32xf32>, tensor<i32>
  }
  func.func private @gelu(%x: tensor<16x64xf32>) -> tensor<16x64xf32> {
    %cube_scale = stablehlo.constant dense<4.471500e-02> : tensor<16x64xf32>
    %root = stablehlo.constant dense<0.797884583> : tensor<16x64xf32>
    %one = stablehlo.constant dense<1.000000e+00> : tensor<16x64xf32>
    %half = stablehlo.constant dense<5.000000e-01> : tensor<16x64xf32>
    %square = stablehlo.multiply %x, %x : tensor<16x64xf32>
    %cube = stablehlo.multiply %square, %x : tensor<16x64xf32>
    %a = stablehlo.multiply %cube_scale, %cube : tensor<16x64xf32>
    %b = stablehlo.add %x, %a : tensor<16x64xf32>
    %c = stablehlo.multiply %root, %b : tensor<16x64xf32>
    %d = stablehlo.tanh %c : tensor<16x64xf32>
    %e = stablehlo.add %one, %d : tensor<16x64xf32>
    %f = stablehlo.multiply %half, %e : tensor<16x64xf32>
    %g = stablehlo.multiply %x, %f : tensor<16x64xf32>
    return %g : tensor<16x64xf32>
  }
  func.func private @argmax(%x: tensor<32xf32>) -> tensor<i32> {
    %lowest = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %indices = stablehlo.iota dim = 0 : tensor<32xi32>
    %result:2 = stablehlo.reduce(%x init: %lowest), (%indices init: %zero) across dimensions = [0] : (tensor<32xf32>, tensor<32xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
     reducer(%value: tensor<f32>, %best_value: tensor<f32>) (%index: tensor<i32>, %best_index: tensor<i32>)  {
      %greater = stablehlo.compare GT, %value, %best_value, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %nan = stablehlo.compare NE, %value, %value, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %wins = stablehlo.or %greater, %nan : tensor<i1>
      %equal = stablehlo.compare EQ, %value, %best_value, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %earlier = stablehlo.compare LT, %index, %best_index, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %tie = stablehlo.and %equal, %earlier : tensor<i1>
      %take = stablehlo.or %wins, %tie : tensor<i1>
      %new_value = stablehlo.select %wins, %value, %best_value : tensor<i1>, tensor<f32>
      %new_index = stablehlo.select %take, %index, %best_index : tensor<i1>, tensor<i32>
      stablehlo.return %new_value, %new_index : tensor<f32>, tensor<i32>
    }
    return %result#1 : tensor<i32>
  }
}
