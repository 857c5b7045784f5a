// Bit counting and shifts on i32.

func.func @main(%a: tensor<32xi32>) -> (tensor<32xi32>, tensor<32xi32>, tensor<32xi32>) {
  %five = arith.constant dense<5> : tensor<32xi32>
  %ones = math.ctpop %a : tensor<32xi32>
  %zeros = math.ctlz %a : tensor<32xi32>
  %shifted = arith.shrui %a, %five : tensor<32xi32>
  return %ones, %zeros, %shifted : tensor<32xi32>, tensor<32xi32>, tensor<32xi32>
}
