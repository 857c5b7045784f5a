// Sum of every row, half.

func.func @main(%x: tensor<16x64xf16>) -> tensor<16xf16> {
  %first = arith.constant 0.0 : f16
  %empty = tensor.empty() : tensor<16xf16>
  %start = linalg.fill ins(%first : f16) outs(%empty : tensor<16xf16>) -> tensor<16xf16>
  %result = linalg.reduce { arith.addf } ins(%x : tensor<16x64xf16>)
      outs(%start : tensor<16xf16>) dimensions = [1]
  return %result : tensor<16xf16>
}
