// A value kept from call to call.

util.global private mutable @total = dense<0.0> : tensor<16xf32>
func.func @main(%x: tensor<16xf32>) -> tensor<16xf32> {
  %old = util.global.load @total : tensor<16xf32>
  %new = arith.addf %old, %x : tensor<16xf32>
  util.global.store %new, @total : tensor<16xf32>
  return %new : tensor<16xf32>
}
