// A loop that counts to a bound given at run time.

func.func @main(%x: tensor<16xf32>, %times: i32) -> tensor<16xf32> {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %result:2 = scf.while (%i = %zero, %value = %x) : (i32, tensor<16xf32>) -> (i32, tensor<16xf32>) {
    %more = arith.cmpi slt, %i, %times : i32
    scf.condition(%more) %i, %value : i32, tensor<16xf32>
  } do {
  ^bb0(%i: i32, %value: tensor<16xf32>):
    %next = arith.addi %i, %one : i32
    %sum = arith.addf %value, %x : tensor<16xf32>
    scf.yield %next, %sum : i32, tensor<16xf32>
  }
  return %result#1 : tensor<16xf32>
}
