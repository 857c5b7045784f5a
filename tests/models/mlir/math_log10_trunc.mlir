// Functions that the CPU build cannot link (log10f, truncf): compared with NumPy instead.

func.func @main(%x: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %log10 = math.log10 %x : tensor<64xf32>
  %trunc = math.trunc %x : tensor<64xf32>
  return %log10, %trunc : tensor<64xf32>, tensor<64xf32>
}
