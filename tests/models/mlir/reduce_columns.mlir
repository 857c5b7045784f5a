// Sum of every column, f32.

func.func @main(%x: tensor<64x256xf32>) -> tensor<256xf32> {
  %first = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<256xf32>
  %start = linalg.fill ins(%first : f32) outs(%empty : tensor<256xf32>) -> tensor<256xf32>
  %result = linalg.reduce { arith.addf } ins(%x : tensor<64x256xf32>)
      outs(%start : tensor<256xf32>) dimensions = [0]
  return %result : tensor<256xf32>
}
