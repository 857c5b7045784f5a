// 64-bit integer arithmetic.

func.func @main(%a: tensor<64xi64>, %b: tensor<64xi64>) -> tensor<64xi64> {
  %three = arith.constant dense<3> : tensor<64xi64>
  %product = arith.muli %a, %b : tensor<64xi64>
  %sum = arith.addi %product, %a : tensor<64xi64>
  %shifted = arith.shrsi %sum, %three : tensor<64xi64>
  %mixed = arith.xori %shifted, %b : tensor<64xi64>
  %result = arith.maxsi %mixed, %a : tensor<64xi64>
  return %result : tensor<64xi64>
}
