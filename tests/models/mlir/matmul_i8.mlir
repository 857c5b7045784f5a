// int8 operands accumulated in i32; K is not a multiple of 4, so no dot-product instruction is chosen.

func.func @main(%a: tensor<16x30xi8>, %b: tensor<30x32xi8>) -> tensor<16x32xi32> {
  %zero = arith.constant 0 : i32
  %empty = tensor.empty() : tensor<16x32xi32>
  %start = linalg.fill ins(%zero : i32) outs(%empty : tensor<16x32xi32>) -> tensor<16x32xi32>
  %product = linalg.matmul ins(%a, %b : tensor<16x30xi8>, tensor<30x32xi8>)
      outs(%start : tensor<16x32xi32>) -> tensor<16x32xi32>
  return %product : tensor<16x32xi32>
}
