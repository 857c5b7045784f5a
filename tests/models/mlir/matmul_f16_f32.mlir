// Half operands accumulated in f32.

func.func @main(%a: tensor<64x96xf16>, %b: tensor<96x32xf16>) -> tensor<64x32xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x32xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x32xf32>) -> tensor<64x32xf32>
  %product = linalg.matmul ins(%a, %b : tensor<64x96xf16>, tensor<96x32xf16>)
      outs(%start : tensor<64x32xf32>) -> tensor<64x32xf32>
  return %product : tensor<64x32xf32>
}
