// Two functions in one module, one calling for scalars.

func.func @double(%x: tensor<16xf32>) -> tensor<16xf32> {
  %result = arith.addf %x, %x : tensor<16xf32>
  return %result : tensor<16xf32>
}
func.func @scale(%x: tensor<16xf32>, %factor: f32) -> tensor<16xf32> {
  %empty = tensor.empty() : tensor<16xf32>
  %wide = linalg.fill ins(%factor : f32) outs(%empty : tensor<16xf32>) -> tensor<16xf32>
  %result = arith.mulf %x, %wide : tensor<16xf32>
  return %result : tensor<16xf32>
}
