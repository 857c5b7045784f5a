// 16-bit integer arithmetic with sign extension.

func.func @main(%a: tensor<50xi16>, %b: tensor<50xi16>) -> tensor<50xi32> {
  %product = arith.muli %a, %b : tensor<50xi16>
  %wide = arith.extsi %product : tensor<50xi16> to tensor<50xi32>
  %other = arith.extsi %b : tensor<50xi16> to tensor<50xi32>
  %result = arith.addi %wide, %other : tensor<50xi32>
  return %result : tensor<50xi32>
}
