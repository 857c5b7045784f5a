"""The module that tinygrad finds as `tinygrad.runtime.ops_metal` where there is no Mac.

The device keeps the renderer of ASSAY, which tinygrad's worker processes can load by themselves.
"""

from .device import AssayDevice
from .renderer import AssayCompiler

# By this name tinygrad's MetalRenderer looks for its compiler here.
MetalCompiler = AssayCompiler

__all__ = ["MetalCompiler", "MetalDevice"]


class MetalDevice(AssayDevice):
    """The device under the name METAL, for scripts that were written for it."""
