// Batched f32 matrix product, 4 batches of 16x32x24.

func.func @main(%a: tensor<4x16x32xf32>, %b: tensor<4x32x24xf32>) -> tensor<4x16x24xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4x16x24xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x16x24xf32>) -> tensor<4x16x24xf32>
  %product = linalg.batch_matmul ins(%a, %b : tensor<4x16x32xf32>, tensor<4x32x24xf32>)
      outs(%start : tensor<4x16x24xf32>) -> tensor<4x16x24xf32>
  return %product : tensor<4x16x24xf32>
}
