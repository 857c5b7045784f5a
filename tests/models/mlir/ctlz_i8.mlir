// Leading zeros of bytes: math.ctlz on i8 is not legalised for SPIR-V.

func.func @main(%a: tensor<32xi8>) -> tensor<32xi8> {
  %result = math.ctlz %a : tensor<32xi8>
  return %result : tensor<32xi8>
}
