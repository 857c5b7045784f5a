// TOSA: sigmoid, tanh, multiplication, reduction and reciprocal.

func.func @main(%a: tensor<4x32xf32>, %b: tensor<4x32xf32>) -> tensor<4x1xf32> {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %sigmoid = "tosa.sigmoid"(%a) : (tensor<4x32xf32>) -> tensor<4x32xf32>
  %tanh = "tosa.tanh"(%b) : (tensor<4x32xf32>) -> tensor<4x32xf32>
  %product = "tosa.mul"(%sigmoid, %tanh, %shift) : (tensor<4x32xf32>, tensor<4x32xf32>, tensor<1xi8>) -> tensor<4x32xf32>
  %exp = "tosa.exp"(%product) : (tensor<4x32xf32>) -> tensor<4x32xf32>
  %sum = "tosa.reduce_sum"(%exp) <{axis = 1 : i32}> : (tensor<4x32xf32>) -> tensor<4x1xf32>
  %result = "tosa.reciprocal"(%sum) : (tensor<4x1xf32>) -> tensor<4x1xf32>
  return %result : tensor<4x1xf32>
}
