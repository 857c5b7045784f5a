"""Memory of the emulated device: buffers, heaps, and what kernels may reach."""
