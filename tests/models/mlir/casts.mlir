// Conversions between the number types.

func.func @main(%x: tensor<64xf32>, %n: tensor<64xi32>) -> (tensor<64xi32>, tensor<64xf32>, tensor<64xf16>, tensor<64xi8>, tensor<64xi64>, tensor<64xf32>) {
  %a = arith.fptosi %x : tensor<64xf32> to tensor<64xi32>
  %b = arith.sitofp %n : tensor<64xi32> to tensor<64xf32>
  %c = arith.truncf %x : tensor<64xf32> to tensor<64xf16>
  %d = arith.trunci %n : tensor<64xi32> to tensor<64xi8>
  %e = arith.extsi %n : tensor<64xi32> to tensor<64xi64>
  %f = arith.extf %c : tensor<64xf16> to tensor<64xf32>
  return %a, %b, %c, %d, %e, %f : tensor<64xi32>, tensor<64xf32>, tensor<64xf16>, tensor<64xi8>, tensor<64xi64>, tensor<64xf32>
}
