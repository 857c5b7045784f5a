// 32-bit integer arithmetic with signed division and remainder.

func.func @main(%a: tensor<64xi32>, %b: tensor<64xi32>) -> tensor<64xi32> {
  %quotient = arith.divsi %a, %b : tensor<64xi32>
  %remainder = arith.remsi %a, %b : tensor<64xi32>
  %both = arith.subi %quotient, %remainder : tensor<64xi32>
  %small = arith.minsi %both, %a : tensor<64xi32>
  %result = arith.ori %small, %b : tensor<64xi32>
  return %result : tensor<64xi32>
}
