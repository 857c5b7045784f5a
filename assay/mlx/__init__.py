"""`mx.fast.metal_kernel` on the emulated device, for MLX arrays on the CPU and NumPy arrays."""

from .kernel import MetalKernel, metal_kernel

__all__ = ["MetalKernel", "metal_kernel"]
