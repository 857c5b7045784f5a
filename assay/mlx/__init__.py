"""`mx.fast.metal_kernel` on the emulated device, for MLX arrays on the CPU and NumPy arrays."""

from .kernel import MetalKernel, metal_kernel

__all__ = ["MetalKernel", "install", "metal_kernel"]


def install() -> None:
    """Let `mx.fast.metal_kernel` be this one, for programs that call it by that name.

    `mx.metal.is_available()` says True from then on: programs ask it before they make kernels.
    """
    from importlib import import_module

    mlx = import_module("mlx.core")
    mlx.fast.metal_kernel = metal_kernel
    mlx.metal.is_available = lambda: True
