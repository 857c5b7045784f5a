"""`torch.mps.compile_shader` on the emulated device, for tensors on the CPU."""

from .library import Kernel, ShaderLibrary, ShaderSyntaxError, compile_shader

__all__ = ["Kernel", "ShaderLibrary", "ShaderSyntaxError", "compile_shader"]
