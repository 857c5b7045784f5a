// Sum of every row, f32: simdgroup reductions.

func.func @main(%x: tensor<64x256xf32>) -> tensor<64xf32> {
  %first = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64xf32>
  %start = linalg.fill ins(%first : f32) outs(%empty : tensor<64xf32>) -> tensor<64xf32>
  %result = linalg.reduce { arith.addf } ins(%x : tensor<64x256xf32>)
      outs(%start : tensor<64xf32>) dimensions = [1]
  return %result : tensor<64xf32>
}
