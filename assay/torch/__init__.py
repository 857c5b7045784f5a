"""`torch.mps.compile_shader` on the emulated device, for tensors on the CPU."""

from .library import Kernel, ShaderLibrary, ShaderSyntaxError, compile_shader

__all__ = ["Kernel", "ShaderLibrary", "ShaderSyntaxError", "compile_shader", "install"]


def install() -> None:
    """Let `torch.mps.compile_shader` be this one, for programs that call it by that name."""
    from importlib import import_module

    import_module("torch.mps").compile_shader = compile_shader  # type: ignore[attr-defined]
