// Largest element of every row, f32.

func.func @main(%x: tensor<16x200xf32>) -> tensor<16xf32> {
  %first = arith.constant 0xFF800000 : f32
  %empty = tensor.empty() : tensor<16xf32>
  %start = linalg.fill ins(%first : f32) outs(%empty : tensor<16xf32>) -> tensor<16xf32>
  %result = linalg.reduce { arith.maximumf } ins(%x : tensor<16x200xf32>)
      outs(%start : tensor<16xf32>) dimensions = [1]
  return %result : tensor<16xf32>
}
