// Two butterfly stages of an FFT. The kernel ignores its thread id: all 32 lanes do the same
// read-modify-write, which is right in lock step only.

func.func @main(%real: tensor<4x16xf32>, %imaginary: tensor<4x16xf32>) -> (tensor<4x16xf32>, tensor<4x16xf32>) {
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %w1_real = arith.constant dense<[1.0]> : tensor<1xf32>
  %w1_imaginary = arith.constant dense<[0.0]> : tensor<1xf32>
  %w2_real = arith.constant dense<[1.0, 6.12323426E-17]> : tensor<2xf32>
  %w2_imaginary = arith.constant dense<[0.0, -1.0]> : tensor<2xf32>
  %first:2 = iree_linalg_ext.fft ins(%one, %w1_real, %w1_imaginary : index, tensor<1xf32>, tensor<1xf32>)
      outs(%real, %imaginary : tensor<4x16xf32>, tensor<4x16xf32>) : tensor<4x16xf32>, tensor<4x16xf32>
  %second:2 = iree_linalg_ext.fft ins(%two, %w2_real, %w2_imaginary : index, tensor<2xf32>, tensor<2xf32>)
      outs(%first#0, %first#1 : tensor<4x16xf32>, tensor<4x16xf32>) : tensor<4x16xf32>, tensor<4x16xf32>
  return %second#0, %second#1 : tensor<4x16xf32>, tensor<4x16xf32>
}
