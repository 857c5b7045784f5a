// Sum of every row, i64.

func.func @main(%x: tensor<16x64xi64>) -> tensor<16xi64> {
  %first = arith.constant 0 : i64
  %empty = tensor.empty() : tensor<16xi64>
  %start = linalg.fill ins(%first : i64) outs(%empty : tensor<16xi64>) -> tensor<16xi64>
  %result = linalg.reduce { arith.addi } ins(%x : tensor<16x64xi64>)
      outs(%start : tensor<16xi64>) dimensions = [1]
  return %result : tensor<16xi64>
}
