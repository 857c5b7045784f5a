// Unsigned division and remainder: the SPIR-V path has no emulation for them.

func.func @main(%a: tensor<64xi32>, %b: tensor<64xi32>) -> (tensor<64xi32>, tensor<64xi32>) {
  %quotient = arith.divui %a, %b : tensor<64xi32>
  %remainder = arith.remui %a, %b : tensor<64xi32>
  return %quotient, %remainder : tensor<64xi32>, tensor<64xi32>
}
