"""The module that tinygrad finds as `tinygrad.runtime.ops_metal` where there is no Mac."""

from tinygrad.renderer.cstyle import MetalRenderer

from .device import AssayDevice
from .renderer import AssayCompiler

# By this name tinygrad's MetalRenderer looks for its compiler here.
MetalCompiler = AssayCompiler

__all__ = ["MetalCompiler", "MetalDevice", "MetalRenderer"]


class MetalDevice(AssayDevice):
    """The device under the name METAL, for scripts that were written for it."""

    renderer_types = (MetalRenderer,)
