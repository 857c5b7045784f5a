// Every unary function of the math dialect that the Metal path knows, plus pow and fma,
// on one positive input; one row of the result per function.

func.func @main(%x: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) {
  %exp = math.exp %x : tensor<64xf32>
  %tanh = math.tanh %x : tensor<64xf32>
  %erf = math.erf %x : tensor<64xf32>
  %sin = math.sin %x : tensor<64xf32>
  %cos = math.cos %x : tensor<64xf32>
  %sqrt = math.sqrt %x : tensor<64xf32>
  %rsqrt = math.rsqrt %x : tensor<64xf32>
  %log = math.log %x : tensor<64xf32>
  %log2 = math.log2 %x : tensor<64xf32>
  %exp2 = math.exp2 %x : tensor<64xf32>
  %expm1 = math.expm1 %x : tensor<64xf32>
  %log1p = math.log1p %x : tensor<64xf32>
  %floor = math.floor %x : tensor<64xf32>
  %ceil = math.ceil %x : tensor<64xf32>
  %absf = math.absf %x : tensor<64xf32>
  %atan = math.atan %x : tensor<64xf32>
  %roundeven = math.roundeven %x : tensor<64xf32>
  %round = math.round %x : tensor<64xf32>
  %powf = math.powf %x, %exp2 : tensor<64xf32>
  %fma = math.fma %x, %x, %exp : tensor<64xf32>
  return %exp, %tanh, %erf, %sin, %cos, %sqrt, %rsqrt, %log, %log2, %exp2, %expm1, %log1p, %floor, %ceil, %absf, %atan, %roundeven, %round, %powf, %fma : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
}
