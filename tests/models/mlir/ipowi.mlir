// Integer powers: math.ipowi is not legalised for SPIR-V.

func.func @main(%a: tensor<32xi32>, %b: tensor<32xi32>) -> tensor<32xi32> {
  %result = math.ipowi %a, %b : tensor<32xi32>
  return %result : tensor<32xi32>
}
