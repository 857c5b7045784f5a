"""What the drop-ins share: a kernel compiled, run once on the emulated device, and waited for."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.hal.metal.emulated import (
        MTLCommandQueue,
        MTLComputeCommandEncoder,
        MTLComputePipelineState,
        MTLDevice,
        MTLLibrary,
    )

Size = tuple[int, int, int]


class CompilationError(Exception):
    """The compiler's complaints, with file, line and column."""


class LaunchError(RuntimeError):
    """A kernel that ran into a fault: which, where in its source, and with which thread."""


def device() -> MTLDevice:
    """The emulated device that drop-ins run on: the default one."""
    from assay.hal.metal.emulated import MTLCreateSystemDefaultDevice

    return MTLCreateSystemDefaultDevice()


def compiled(source: str, *, math_mode: int) -> MTLLibrary:
    """The library of MSL `source`; `math_mode` is an MTLMathMode. Raises CompilationError."""
    from assay.hal.metal.emulated import MTLCompileOptions

    options = MTLCompileOptions.new()
    options.setMathMode_(math_mode)
    library, error = device().newLibraryWithSource_options_error_(source, options, None)
    if library is None:
        raise CompilationError("" if error is None else error.localizedDescription())
    return library


def pipeline(library: MTLLibrary, name: str) -> MTLComputePipelineState:
    """The kernel `name` of a library that has it, ready to run. Raises CompilationError."""
    function = library.newFunctionWithName_(name)
    if function is None:
        names = ", ".join(library.functionNames()) or "none"
        raise CompilationError(f"there is no kernel {name!r}; there are {names}")
    made, error = library.device().newComputePipelineStateWithFunction_error_(function, None)
    if made is None:
        raise CompilationError("" if error is None else error.localizedDescription())
    return made


def run(
    kernel: MTLComputePipelineState,
    bind: Callable[[MTLComputeCommandEncoder], None],
    *,
    threads: Size,
    threads_per_threadgroup: Size,
) -> None:
    """Run a grid of exactly `threads` with the arguments that `bind` sets, to its end.

    Raises MetalValidationError where Metal's validation layer would, LaunchError for faults.
    """
    commands = _queue(kernel.device()).commandBuffer()
    encoder = commands.computeCommandEncoder()
    try:
        encoder.setComputePipelineState_(kernel)
        bind(encoder)
        encoder.dispatchThreads_threadsPerThreadgroup_(threads, threads_per_threadgroup)
    finally:
        encoder.endEncoding()
    commands.commit()
    commands.waitUntilCompleted()
    error = commands.error()
    if error is not None:
        raise LaunchError(error.localizedDescription())


@lru_cache(maxsize=4)
def _queue(of: MTLDevice) -> MTLCommandQueue:
    return of.newCommandQueue()
