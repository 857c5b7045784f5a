// Sum of every row, i32.

func.func @main(%x: tensor<16x256xi32>) -> tensor<16xi32> {
  %first = arith.constant 0 : i32
  %empty = tensor.empty() : tensor<16xi32>
  %start = linalg.fill ins(%first : i32) outs(%empty : tensor<16xi32>) -> tensor<16xi32>
  %result = linalg.reduce { arith.addi } ins(%x : tensor<16x256xi32>)
      outs(%start : tensor<16xi32>) dimensions = [1]
  return %result : tensor<16xi32>
}
