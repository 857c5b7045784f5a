// A constant border around a matrix.

func.func @main(%x: tensor<13x17xf32>) -> tensor<16x24xf32> {
  %value = arith.constant -1.5 : f32
  %result = tensor.pad %x low[1, 3] high[2, 4] {
    ^bb0(%i: index, %j: index):
      tensor.yield %value : f32
  } : tensor<13x17xf32> to tensor<16x24xf32>
  return %result : tensor<16x24xf32>
}
