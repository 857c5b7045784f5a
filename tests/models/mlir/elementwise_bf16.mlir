// bfloat16 arithmetic, done by the compiler with integer operations and f32.

func.func @main(%a: tensor<64xbf16>, %b: tensor<64xbf16>) -> tensor<64xbf16> {
  %product = arith.mulf %a, %b : tensor<64xbf16>
  %result = arith.addf %product, %a : tensor<64xbf16>
  return %result : tensor<64xbf16>
}
