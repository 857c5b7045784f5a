// The 5 largest elements of every row with their indices.

func.func @main(%x: tensor<4x40xf32>) -> (tensor<4x5xf32>, tensor<4x5xi32>) {
  %lowest = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0 : i32
  %empty_values = tensor.empty() : tensor<4x5xf32>
  %empty_indices = tensor.empty() : tensor<4x5xi32>
  %values = linalg.fill ins(%lowest : f32) outs(%empty_values : tensor<4x5xf32>) -> tensor<4x5xf32>
  %indices = linalg.fill ins(%zero : i32) outs(%empty_indices : tensor<4x5xi32>) -> tensor<4x5xi32>
  %result:2 = iree_linalg_ext.topk dimension(1)
      ins(%x : tensor<4x40xf32>) outs(%values, %indices : tensor<4x5xf32>, tensor<4x5xi32>) {
    ^bb0(%a: f32, %b: f32):
      %greater = arith.cmpf ogt, %a, %b : f32
      iree_linalg_ext.yield %greater : i1
  } -> tensor<4x5xf32>, tensor<4x5xi32>
  return %result#0, %result#1 : tensor<4x5xf32>, tensor<4x5xi32>
}
