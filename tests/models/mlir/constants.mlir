// Weights stored in the module: constants are uploaded when it is loaded.

func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %weights = arith.constant dense<[[0.001, 0.299, -0.274, -0.891, -0.455, -0.992, 0.06, 1.34], [-0.492, -0.62, 0.49, 0.357, 0.105, -0.93, -0.029, 0.695], [-1.344, -0.458, -1.901, -1.29, -1.842, -0.235, -1.267, 0.271], [0.157, -0.187, -2.517, -0.539, -0.049, 0.113, -1.53, -0.478], [-0.979, -0.809, 1.061, -0.808, -0.033, 0.884, -0.584, -0.112], [0.11, 0.064, -1.225, 0.076, 1.359, -1.547, 0.859, 0.119], [-0.641, 2.0, 0.762, -1.199, 0.075, 0.577, -0.189, 0.683], [-0.067, 0.667, 1.439, -0.676, 0.203, -0.463, 0.127, -1.187]]> : tensor<8x8xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4x8xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x8xf32>) -> tensor<4x8xf32>
  %result = linalg.matmul ins(%x, %weights : tensor<4x8xf32>, tensor<8x8xf32>) outs(%start : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %result : tensor<4x8xf32>
}
