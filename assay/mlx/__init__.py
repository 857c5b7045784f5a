"""`mx.fast.metal_kernel` on the emulated device, for MLX arrays on the CPU and NumPy arrays."""

from .kernel import MetalKernel, metal_kernel

__all__ = ["MetalKernel", "install", "metal_kernel"]


def install() -> None:
    """Let `mx.fast.metal_kernel` be this one, for programs that call it by that name."""
    from importlib import import_module

    import_module("mlx.core").fast.metal_kernel = metal_kernel
