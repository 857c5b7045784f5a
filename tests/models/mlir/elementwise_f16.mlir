// Half arithmetic.

func.func @main(%a: tensor<64xf16>, %b: tensor<64xf16>) -> tensor<64xf16> {
  %product = arith.mulf %a, %b : tensor<64xf16>
  %sum = arith.addf %product, %a : tensor<64xf16>
  %result = arith.maximumf %sum, %b : tensor<64xf16>
  return %result : tensor<64xf16>
}
