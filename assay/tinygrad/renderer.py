"""From tinygrad's kernels to MSL by tinygrad's own Metal renderer, and on to compiled libraries."""

from typing import Final

from tinygrad.codegen.opt import tc
from tinygrad.device import CompileError, Compiler
from tinygrad.helpers import Target
from tinygrad.renderer.cstyle import CStyleLanguage, MetalRenderer

from assay.compiler.msl import CompileError as MSLError
from assay.compiler.msl import CompileOptions, compile_library

# Kernels are compiled as tinygrad's device METAL has them compiled: -fno-fast-math.
FAST_MATH: Final = False
# The first GPU family whose simdgroups multiply matrices.
_TENSOR_FAMILY: Final = 7


class AssayCompiler(Compiler):
    """Compiles MSL. What it hands on is the source: the bitcode waits in the cache on disk, for
    this process and for others."""

    def __init__(self) -> None:
        super().__init__(cachekey=None)

    def compile(self, src: str) -> bytes:
        """The source, checked and compiled. Raises tinygrad's CompileError."""
        try:
            compile_library(src, options=CompileOptions(fast_math=FAST_MATH))
        except MSLError as error:
            raise CompileError(str(error)) from error
        return src.encode()


class AssayRenderer(MetalRenderer):
    """tinygrad's Metal renderer as it is, but for the constructor, which needs a Mac."""

    def __init__(self, target: Target) -> None:
        CStyleLanguage.__init__(self, target)
        self.compiler = AssayCompiler()
        self.tensor_cores = tc.metal if _family(target.arch) >= _TENSOR_FAMILY else []


def _family(arch: str) -> int:
    number = arch.removeprefix("Apple")
    if number == arch or not number.isdecimal():
        raise RuntimeError(
            f"DEV=ASSAY::{arch}: {arch!r} is no GPU family; write it as in DEV=ASSAY::Apple7"
        )
    return int(number)
