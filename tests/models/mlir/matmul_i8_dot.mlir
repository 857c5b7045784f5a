// int8 operands accumulated in i32, K a multiple of 4: the default Metal target picks a dot-product
// instruction that its own SPIR-V version lacks; needs the target without `dot`.

func.func @main(%a: tensor<32x64xi8>, %b: tensor<64x32xi8>) -> tensor<32x32xi32> {
  %zero = arith.constant 0 : i32
  %empty = tensor.empty() : tensor<32x32xi32>
  %start = linalg.fill ins(%zero : i32) outs(%empty : tensor<32x32xi32>) -> tensor<32x32xi32>
  %product = linalg.matmul ins(%a, %b : tensor<32x64xi8>, tensor<64x32xi8>)
      outs(%start : tensor<32x32xi32>) -> tensor<32x32xi32>
  return %product : tensor<32x32xi32>
}
