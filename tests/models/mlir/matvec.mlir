// f32 matrix times vector: a reduction by simdgroups.

func.func @main(%a: tensor<128x256xf32>, %x: tensor<256xf32>) -> tensor<128xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<128xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<128xf32>) -> tensor<128xf32>
  %product = linalg.matvec ins(%a, %x : tensor<128x256xf32>, tensor<256xf32>)
      outs(%start : tensor<128xf32>) -> tensor<128xf32>
  return %product : tensor<128xf32>
}
