// Element-wise sum of tensors whose sizes are known only at run time.

func.func @main(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %result = arith.addf %a, %b : tensor<?x?xf32>
  return %result : tensor<?x?xf32>
}
