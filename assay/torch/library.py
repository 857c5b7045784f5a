"""compile_shader, the library it returns, and the kernels in it.

Follows the documentation of torch.mps.compile_shader and how PyTorch's own tests use it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from operator import index as as_index
from typing import TYPE_CHECKING

from .. import launch
from ..tracebacks import ends_in_caller
from .arguments import Binder, casts_of, is_tensor
from .error_buffer import first_error, new_error_buffer
from .includes import with_headers

if TYPE_CHECKING:
    from assay.hal.metal.emulated import (
        MTLComputeCommandEncoder,
        MTLComputePipelineState,
        MTLLibrary,
    )

# PyTorch compiles in the safe mode (MTLMathModeSafe) unless this variable of its own asks for fast.
_FAST_MATH = "PYTORCH_MPS_FAST_MATH"
_SAFE, _FAST = 0, 2
_MOST_DIMENSIONS = 3
NAME = "shader"
"""What the source is called in diagnostics."""


class ShaderSyntaxError(SyntaxError, RuntimeError):
    """A source that does not compile; older versions of PyTorch raise RuntimeError for it."""


@ends_in_caller
def compile_shader(source: str) -> ShaderLibrary:
    """The kernels of MSL `source`, to be called as attributes of the library.

    Headers of the installed PyTorch, such as <c10/metal/utils.h>, can be included. Raises
    ShaderSyntaxError with the compiler's complaints, in which the source is called `shader`.
    """
    try:
        made = launch.compiled(with_headers(source, NAME), math_mode=math_mode())
    except launch.CompilationError as error:
        raise ShaderSyntaxError(f"Failed to create metal library, error: {error}") from None
    return ShaderLibrary(made)


def math_mode() -> int:
    """The MTLMathMode that PyTorch compiles with."""
    return _FAST if os.environ.get(_FAST_MATH, "0") != "0" else _SAFE


class ShaderLibrary:
    """Kernels by name: `library.name(arguments...)`; `dir(library)` lists them."""

    def __init__(self, library: MTLLibrary) -> None:
        self._library = library
        self._kernels: dict[str, Kernel] = {}

    @ends_in_caller
    def __getattr__(self, name: str) -> Kernel:
        # What Python asks of objects is no kernel, nor are attributes of one that is being copied.
        if name.startswith("__") or name in ("_library", "_kernels"):
            raise AttributeError(name)
        found = self._kernels.get(name)
        if found is None:
            try:
                found = Kernel(name, launch.pipeline(self._library, name))
            except launch.CompilationError as error:
                raise RuntimeError(
                    f"Failed to create function state object for: {name}\n{error}"
                ) from None
            self._kernels[name] = found
        return found

    def __dir__(self) -> list[str]:
        return list(self._library.functionNames())


class Kernel:
    """A kernel ready to run."""

    def __init__(self, name: str, pipeline: MTLComputePipelineState) -> None:
        self._name = name
        self._pipeline = pipeline

    @property
    def max_threads_per_threadgroup(self) -> int:
        """The most threads that a threadgroup may have."""
        return self._pipeline.maxTotalThreadsPerThreadgroup()

    @property
    def thread_execution_width(self) -> int:
        """Threads per simdgroup."""
        return self._pipeline.threadExecutionWidth()

    @property
    def static_thread_group_memory_length(self) -> int:
        """Bytes of threadgroup memory that the kernel declares."""
        return self._pipeline.staticThreadgroupMemoryLength()

    @ends_in_caller
    def __call__(
        self,
        *args: object,
        threads: int | Sequence[int] | None = None,
        group_size: int | Sequence[int] | None = None,
        arg_casts: object = None,
        error_buf_idx: int | None = None,
    ) -> None:
        """Run a grid of `threads`, by default one per element of the first tensor.

        Tensors are passed with their storage from their first element on, integers as int64 and
        floats as float32 unless `arg_casts` says otherwise ("fp16", "bf16", "int32", "int16",
        "int8" or "uint8", for all or by index). A buffer for TORCH_REPORT_ERROR comes at
        `error_buf_idx`; the call raises what it says. Unlike in PyTorch the kernel has run when the
        call returns.

        Raises ValueError for threadgroups that are too large, TypeError for tensors of double,
        RuntimeError for all else.
        """
        casts = casts_of(arg_casts)
        grid, group = grid_of(args, threads, group_size, self.max_threads_per_threadgroup)
        errors = new_error_buffer()

        def bind(encoder: MTLComputeCommandEncoder) -> None:
            binder = Binder(encoder, casts)
            for place, value in enumerate(args):
                binder.bind(place, value)
            if error_buf_idx is not None:
                binder.bind_bytes(error_buf_idx, errors, "the error buffer")

        if 0 not in grid:
            try:
                launch.run(
                    self._pipeline,
                    bind,
                    threads=padded(grid),
                    threads_per_threadgroup=padded(group),
                )
            except launch.LaunchError as error:
                said = "" if group_size is not None else _default_group(group)
                raise launch.LaunchError(f"{error}{said}") from None
        message = first_error(errors)
        if message is not None:
            raise RuntimeError(message)

    def __repr__(self) -> str:
        return f"<Kernel {self._name}>"


def grid_of(
    args: Sequence[object],
    threads: int | Sequence[int] | None,
    group_size: int | Sequence[int] | None,
    most: int,
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The grid of a call, in threads, and the size of its threadgroups of at most `most` threads.

    Raises ValueError for threadgroups that are too large, RuntimeError for what are no sizes.
    """
    grid = _extents("threads", threads) or _elements(args)
    given = _extents("group_size", group_size)
    if given is None:
        return grid, (min(grid[0], most) if len(grid) == 1 else most,)
    if len(given) != len(grid):
        raise RuntimeError(
            f"threads has {len(grid)} dimensions and group_size {len(given)}; they must be as many"
        )
    size = 1
    for extent in given:
        size *= extent
    if not 0 < size <= most:
        raise ValueError(f"Threadgroup size exceeds {most} limit: group_size is {given}")
    return grid, given


def _default_group(group: tuple[int, ...]) -> str:
    """What a fault says of threadgroups whose size nobody stated."""
    size = "x".join(map(str, group))
    return f"\n  group_size was not given: threadgroups of {size} threads, PyTorch's default"


def _extents(what: str, given: int | Sequence[int] | None) -> tuple[int, ...] | None:
    """One to three sizes, or None. Raises RuntimeError."""
    if given is None:
        return None
    try:
        sizes = tuple(map(as_index, given)) if isinstance(given, Sequence) else (as_index(given),)
    except TypeError:
        sizes = ()
    if not 0 < len(sizes) <= _MOST_DIMENSIONS or min(sizes) < 0:
        raise RuntimeError(f"{what} is {given!r}; give a number or one to three numbers")
    return sizes


def _elements(args: Sequence[object]) -> tuple[int, ...]:
    """As many threads as the first tensor has elements. Raises RuntimeError."""
    for value in args:
        if is_tensor(value):
            return (value.numel(),)  # type: ignore[attr-defined]
    raise RuntimeError(
        "Number of threads is undefined or has wrong dimension: give threads=, or a tensor among "
        "the arguments"
    )


def padded(sizes: tuple[int, ...]) -> launch.Size:
    """One to three sizes as three."""
    width, height, depth = (*sizes, 1, 1)[:_MOST_DIMENSIONS]
    return width, height, depth
