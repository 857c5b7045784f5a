"""From tinygrad's kernels to MSL by tinygrad's own Metal renderer, and on to compiled libraries."""

import re
from math import prod
from typing import Final

from tinygrad.codegen.opt import tc
from tinygrad.device import CompileError, Compiler
from tinygrad.helpers import Target
from tinygrad.renderer.cstyle import CStyleLanguage, MetalRenderer

from assay.compiler.msl import CompileError as MSLError
from assay.compiler.msl import CompileOptions, compile_library
from assay.hw.apple.facts.limits import limits
from assay.sim.simt import UnsupportedKernel

# Kernels are compiled as tinygrad's device METAL has them compiled: -fno-fast-math.
FAST_MATH: Final = False
# The first GPU family whose simdgroups multiply matrices.
_TENSOR_FAMILY: Final = 7
# How tinygrad says in a kernel's source how many threads its threadgroups have in x, y or z.
_THREADS: Final = re.compile(r"= lid\.([xyz]); /\* (\d+) \*/")


class AssayCompiler(Compiler):
    """Compiles MSL. What it hands on is the source: the machine code waits in the cache on disk,
    for this process or, when it runs in one of tinygrad's worker processes, for the others."""

    def __init__(self) -> None:
        super().__init__(cachekey=None)

    def compile(self, src: str) -> bytes:
        """The source, checked and compiled. Raises tinygrad's CompileError."""
        size = threadgroup_size(src)
        try:
            library = compile_library(src, options=CompileOptions(fast_math=FAST_MATH))
            if prod(size) <= limits().threads_per_threadgroup:
                for name in library.function_names:
                    library.function(name).program().specialise(size)
        except (MSLError, UnsupportedKernel) as error:
            raise CompileError(str(error)) from error
        return src.encode()


def threadgroup_size(source: str) -> tuple[int, int, int]:
    """The threadgroup size that tinygrad will run `source` with, as far as the source says."""
    said = {axis: int(threads) for axis, threads in _THREADS.findall(source)}
    return said.get("x", 1), said.get("y", 1), said.get("z", 1)


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
