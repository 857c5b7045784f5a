// StableHLO: dot_general, broadcast, tanh and a reduction.

func.func @main(%x: tensor<8x16xf32>, %w: tensor<16x12xf32>, %b: tensor<12xf32>) -> tensor<8xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %dot = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x12xf32>) -> tensor<8x12xf32>
  %bias = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<12xf32>) -> tensor<8x12xf32>
  %sum = stablehlo.add %dot, %bias : tensor<8x12xf32>
  %tanh = stablehlo.tanh %sum : tensor<8x12xf32>
  %result = stablehlo.reduce(%tanh init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x12xf32>, tensor<f32>) -> tensor<8xf32>
  return %result : tensor<8xf32>
}
