"""`torch.mps.compile_shader` on the emulated device, for tensors on the CPU."""

from .library import Kernel, ShaderLibrary, ShaderSyntaxError, compile_shader

__all__ = ["Kernel", "ShaderLibrary", "ShaderSyntaxError", "compile_shader", "install"]


def install() -> None:
    """Let `torch.mps.compile_shader` be this one, for programs that call it by that name.

    Tensors for the device "mps" are on the CPU from now on; programs that ask are told that there
    is one, and waiting for it is done at once.
    """
    from importlib import import_module
    from typing import Any

    from .device import place_on_cpu

    place_on_cpu()
    mps: Any = import_module("torch.mps")
    mps.compile_shader = compile_shader
    mps.synchronize = mps.empty_cache = lambda: None
    backend: Any = import_module("torch.backends.mps")
    backend.is_built = backend.is_available = mps.is_available = lambda: True
    mps.device_count = lambda: 1
