// Scalars in and out beside a tensor; the host computes with them.

func.func @main(%x: tensor<4xf32>, %i: i32, %j: i64, %f: f32) -> (tensor<4xf32>, i32, i64, f32) {
  %three = arith.constant 3 : i32
  %half = arith.constant 0.5 : f32
  %a = arith.muli %i, %three : i32
  %b = arith.addi %j, %j : i64
  %c = arith.mulf %f, %half : f32
  %y = arith.addf %x, %x : tensor<4xf32>
  return %y, %a, %b, %c : tensor<4xf32>, i32, i64, f32
}
