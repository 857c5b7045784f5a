"""`python -m benchmarks apple --torch LIBRARY --headers FOLDER`: kernels of PyTorch, both ways.

`LIBRARY` is `libtorch_cpu.dylib` of PyTorch's wheel for Macs, or a library out of it, and `FOLDER`
the wheel's `torch/include`. Every function of `torch_functions` is compiled by us in all types that
the library has, and some of its kernels run both ways on the same bytes. Nothing is timed.
"""

from __future__ import annotations

import argparse
import functools
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.compiler.msl import CompileOptions, KernelLibrary, compile_library

from . import torch_functions
from .compare import compared
from .comparing import TORCH, Row, opened
from .torch_work import add_options, known_of, told


@dataclass(frozen=True, slots=True, kw_only=True)
class TorchTask:
    """A kernel of a function, to be compared with what Apple made of it."""

    headers: Path
    library: Path
    function: str
    kernel: str


def main(arguments: Sequence[str]) -> int:
    """Compare and print; 1 if bits differ."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks apple", description=__doc__)
    parser.add_argument("functions", nargs="*", help="names of functions; all by default")
    parser.add_argument("--torch", type=Path, required=True, help="the library")
    parser.add_argument("--headers", type=Path, required=True, help="the wheel's torch/include")
    parser.add_argument("--per-function", type=int, default=6, help="kernels of each function")
    add_options(parser)
    options = parser.parse_args(arguments)
    known = known_of(options.into, TORCH)
    left = [
        TorchTask(headers=options.headers, library=options.torch, function=name, kernel=kernel)
        for name in options.functions or torch_functions.FUNCTIONS
        for kernel in _some(name, options.torch, options.per_function)
        if kernel not in known
    ]
    return int(told(options, TORCH, left, _row, _refused) > 0)


def _some(function: str, library: Path, count: int) -> list[str]:
    """So many of a function's kernels, spread over its forms and types."""
    every = torch_functions.kernels(function, opened(library).function_names)
    step = max(1, len(every) // count)
    # Forms follow each other: a step that shares no factor with their number meets all of them.
    step += 1 - step % 2
    return every[zlib.crc32(function.encode()) % step :: step][:count]


def _row(task: TorchTask) -> Row:
    ours, theirs = _compiled(task.headers, task.library, task.function), opened(task.library)
    found = compared(ours, theirs, task.kernel, setup=torch_functions.launch(task.kernel))
    problem = found.problem.partition("\n")[0]
    return _made(task, different=found.different, problem=problem)


def _refused(task: TorchTask, problem: str) -> Row:
    return _made(task, problem=problem)


def _made(task: TorchTask, *, different: int = 0, problem: str = "") -> Row:
    return Row(
        file=task.function,
        kernel=task.kernel,
        against=TORCH,
        different=different,
        problem=problem,
    )


@functools.lru_cache(maxsize=2)
def _compiled(headers: Path, library: Path, function: str) -> KernelLibrary:
    options = CompileOptions(fast_math=False, include_paths=(headers,), language_version=(3, 1))
    text = torch_functions.source(function, opened(library).function_names)
    return compile_library(text, options=options, file_name=f"{function}.metal", each_alone=True)
