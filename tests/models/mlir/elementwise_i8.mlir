// 8-bit integer arithmetic, wrapping.

func.func @main(%a: tensor<100xi8>, %b: tensor<100xi8>) -> tensor<100xi8> {
  %sum = arith.addi %a, %b : tensor<100xi8>
  %product = arith.muli %sum, %b : tensor<100xi8>
  %result = arith.subi %product, %a : tensor<100xi8>
  return %result : tensor<100xi8>
}
