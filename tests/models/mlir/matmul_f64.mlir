// f64 matrix product; the compiler demotes f64 to f32, in the function's signature too.

func.func @main(%a: tensor<32x32xf64>, %b: tensor<32x32xf64>) -> tensor<32x32xf64> {
  %zero = arith.constant 0.0 : f64
  %empty = tensor.empty() : tensor<32x32xf64>
  %start = linalg.fill ins(%zero : f64) outs(%empty : tensor<32x32xf64>) -> tensor<32x32xf64>
  %product = linalg.matmul ins(%a, %b : tensor<32x32xf64>, tensor<32x32xf64>)
      outs(%start : tensor<32x32xf64>) -> tensor<32x32xf64>
  return %product : tensor<32x32xf64>
}
