// int8 matrix product with zero points; needs the target without `dot`.

func.func @main(%a: tensor<32x64xi8>, %b: tensor<64x32xi8>) -> tensor<32x32xi32> {
  %zero = arith.constant 0 : i32
  %a_zero = arith.constant 3 : i32
  %b_zero = arith.constant -5 : i32
  %empty = tensor.empty() : tensor<32x32xi32>
  %start = linalg.fill ins(%zero : i32) outs(%empty : tensor<32x32xi32>) -> tensor<32x32xi32>
  %product = linalg.quantized_matmul
      ins(%a, %b, %a_zero, %b_zero : tensor<32x64xi8>, tensor<64x32xi8>, i32, i32)
      outs(%start : tensor<32x32xi32>) -> tensor<32x32xi32>
  return %product : tensor<32x32xi32>
}
