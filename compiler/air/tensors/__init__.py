"""Metal 4's operations on tensors, as compiled kernels call them."""
