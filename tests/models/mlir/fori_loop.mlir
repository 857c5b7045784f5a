// A loop as JAX exports it: stablehlo.while with a counter.

func.func @main(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %half = stablehlo.constant dense<0.5> : tensor<8x8xf32>
  %result:2 = stablehlo.while(%i = %zero, %value = %x) : tensor<i32>, tensor<8x8xf32>
    cond {
      %bound = stablehlo.constant dense<5> : tensor<i32>
      %more = stablehlo.compare LT, %i, %bound, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %next = stablehlo.add %i, %one : tensor<i32>
      %dot = stablehlo.dot_general %value, %x, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      %scaled = stablehlo.multiply %dot, %half : tensor<8x8xf32>
      stablehlo.return %next, %scaled : tensor<i32>, tensor<8x8xf32>
    }
  return %result#1 : tensor<8x8xf32>
}
