// Sum of all elements, f32.

func.func @main(%x: tensor<64x64xf32>) -> tensor<f32> {
  %first = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<f32>
  %start = linalg.fill ins(%first : f32) outs(%empty : tensor<f32>) -> tensor<f32>
  %result = linalg.reduce { arith.addf } ins(%x : tensor<64x64xf32>)
      outs(%start : tensor<f32>) dimensions = [0, 1]
  return %result : tensor<f32>
}
