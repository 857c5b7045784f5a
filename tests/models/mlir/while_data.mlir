// A loop that ends when the data says so: the host reads device data in every round.

func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %bound = arith.constant 100.0 : f32
  %two = arith.constant dense<2.0> : tensor<8xf32>
  %c0 = arith.constant 0 : index
  %result = scf.while (%value = %x) : (tensor<8xf32>) -> tensor<8xf32> {
    %first = tensor.extract %value[%c0] : tensor<8xf32>
    %more = arith.cmpf olt, %first, %bound : f32
    scf.condition(%more) %value : tensor<8xf32>
  } do {
  ^bb0(%value: tensor<8xf32>):
    %next = arith.mulf %value, %two : tensor<8xf32>
    scf.yield %next : tensor<8xf32>
  }
  return %result : tensor<8xf32>
}
