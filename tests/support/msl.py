"""Runs MSL kernels on the engine with NumPy arrays as buffers."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from assay.compiler.msl import compile_library
from assay.sim.simt import Memory, dispatch

PRELUDE = "#include <metal_stdlib>\nusing namespace metal;\n"


def run_kernel(
    source: str,
    *buffers: np.ndarray | int,
    threads: int | tuple[int, int, int] = 32,
    group: int | tuple[int, int, int] = 32,
    name: str | None = None,
    constants: Mapping[int | str, bool | int | float] | None = None,
) -> None:
    """Run a kernel of `source` (its first one) over `threads`; arrays are changed in place.

    An integer stands for that many bytes of threadgroup memory.
    """
    library = compile_library(PRELUDE + source)
    kernel = library.function(name or library.function_names[0], constants)
    grid = (threads, 1, 1) if isinstance(threads, int) else threads
    shape = (group, 1, 1) if isinstance(group, int) else group
    memory = Memory()
    arguments = [
        b if isinstance(b, int) else memory.register(b.reshape(-1).view(np.uint8), name=f"b{i}")
        for i, b in enumerate(buffers)
    ]
    dispatch(kernel.program().specialise(shape), memory, arguments, grid, None)
