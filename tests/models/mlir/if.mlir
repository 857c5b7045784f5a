// One of two branches, chosen by a scalar input.

func.func @main(%x: tensor<16xf32>, %choice: i32) -> tensor<16xf32> {
  %zero = arith.constant 0 : i32
  %positive = arith.cmpi sgt, %choice, %zero : i32
  %result = scf.if %positive -> tensor<16xf32> {
    %sum = arith.addf %x, %x : tensor<16xf32>
    scf.yield %sum : tensor<16xf32>
  } else {
    %negated = arith.negf %x : tensor<16xf32>
    scf.yield %negated : tensor<16xf32>
  }
  return %result : tensor<16xf32>
}
