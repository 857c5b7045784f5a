// Booleans: comparison, logic and selection.

func.func @main(%a: tensor<64xf32>, %b: tensor<64xf32>, %mask: tensor<64xi1>) -> (tensor<64xi1>, tensor<64xf32>) {
  %less = arith.cmpf olt, %a, %b : tensor<64xf32>
  %both = arith.andi %less, %mask : tensor<64xi1>
  %result = arith.select %both, %a, %b : tensor<64xi1>, tensor<64xf32>
  return %both, %result : tensor<64xi1>, tensor<64xf32>
}
