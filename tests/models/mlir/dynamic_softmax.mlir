// Softmax with a batch known only at run time.

func.func @main(%x: tensor<?x96xf32>) -> tensor<?x96xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x96xf32>
  %empty = tensor.empty(%n) : tensor<?x96xf32>
  %result = linalg.softmax dimension(1) ins(%x : tensor<?x96xf32>) outs(%empty : tensor<?x96xf32>) -> tensor<?x96xf32>
  return %result : tensor<?x96xf32>
}
