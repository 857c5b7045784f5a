// StableHLO: convolution with padding, batch normalisation folded into scale and shift, relu.

func.func @main(%image: tensor<1x12x12x3xf32>, %filter: tensor<3x3x3x8xf32>, %scale: tensor<8xf32>, %shift: tensor<8xf32>) -> tensor<1x12x12x8xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<1x12x12x8xf32>
  %conv = stablehlo.convolution(%image, %filter) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x12x12x3xf32>, tensor<3x3x3x8xf32>) -> tensor<1x12x12x8xf32>
  %wide_scale = stablehlo.broadcast_in_dim %scale, dims = [3] : (tensor<8xf32>) -> tensor<1x12x12x8xf32>
  %wide_shift = stablehlo.broadcast_in_dim %shift, dims = [3] : (tensor<8xf32>) -> tensor<1x12x12x8xf32>
  %scaled = stablehlo.multiply %conv, %wide_scale : tensor<1x12x12x8xf32>
  %shifted = stablehlo.add %scaled, %wide_shift : tensor<1x12x12x8xf32>
  %result = stablehlo.maximum %shifted, %zero : tensor<1x12x12x8xf32>
  return %result : tensor<1x12x12x8xf32>
}
