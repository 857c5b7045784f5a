"""`assay.time`: one call for kernels and for modules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.hw.apple.facts.chips import chip as chip_named

from ..launches.errors import LaunchInputError
from ..launches.functions import function_of
from ..launches.source import SUFFIXES
from ..tracebacks import ends_in_caller
from .errors import TimeInputError
from .result import TimeResult

if TYPE_CHECKING:
    from ..launches.inputs import ConstantValue
    from ..module import Function, Module
    from ..npu import NpuFunction, NpuModule
    from .npu import NpuTimeResult


@ends_in_caller
def time(
    source: str | Path | Module | Function | NpuModule | NpuFunction,
    function: str | None = None,
    *arguments: Any,
    chip: str = "m1",
    threads: int | Sequence[int] | None = None,
    threadgroups: int | Sequence[int] | None = None,
    threadgroup: int | Sequence[int] | None = None,
    constants: Mapping[int | str, ConstantValue] | None = None,
    macros: Mapping[str, str] | None = None,
    include_paths: Iterable[str | Path] = (),
    warm: bool = True,
    results: bool = True,
    timeline: bool = False,
    progress: Callable[[str], None] | None = None,
) -> TimeResult | Any:
    """How long a kernel, or a function of a module, takes on an Apple GPU, and why.

    An executable of the NPU is timed on that, and gives an `NpuTimeResult`; both are results of
    `ProgramTime`. Without arguments its inputs are zeros.

    Args:
        source: MSL, the path of a `.metal` file, the path of a module or model, a loaded module or
            one of its functions; an executable of the NPU, loaded or not.
        function: which kernel or function; may be left out if there is only one.
        arguments: for a kernel as `check_kernel` takes them, one for each argument: an array for a
            buffer, a number or list for `constant T&`, bytes for anything else, the number of bytes
            for threadgroup memory, None for what `//!` lines of the source say or may be assumed.
            Without any, all come from there. For a function of a module its inputs; without any,
            random ones of the right shapes.
        chip: which GPU, a key of `assay.hw.apple.facts.chips`.
        threads: size of a kernel's grid in threads, or `threadgroups` in threadgroups.
        threadgroups: see `threads`.
        threadgroup: size of a threadgroup in threads.
        constants: function constants by index or name.
        macros: preprocessor macros.
        include_paths: folders for `#include`.
        warm: for a kernel, whether the caches hold what an earlier run of it left, as in a loop
            that measures it. In a module, what earlier dispatches left tells.
        results: for modules, whether all is executed. If not, only what is sampled is: much faster,
            but wrong if the host acts on what the GPU computes. Of a kernel, nothing else ever is.
        timeline: keep what `.trace()` needs.
        progress: told what is going on, in a few words.

    Raises:
        TimeInputError: if arguments or sizes do not fit, or it cannot be run.
        CompileError: if MSL does not compile.
        SpecError: for a chip that is not known.
    """
    sizes = (threads, threadgroups, threadgroup, constants, macros)
    if (executable := _executable_of(source, function)) is not None:
        if any(each is not None for each in sizes):
            raise TimeInputError("grids, constants and macros are for MSL source, not for the NPU")
        return time_executable(executable, arguments, timeline=timeline)
    gpu = chip_named(chip)
    if isinstance(source, str | Path) and _is_msl(source):
        from .sources import kernel_run, time_kernel_run, timed_library

        run = kernel_run(
            timed_library(source, macros or {}, include_paths),
            function,
            arguments,
            threads=threads,
            threadgroups=threadgroups,
            threadgroup=threadgroup,
            constants=constants,
        )
        return time_kernel_run(run, gpu, warm=warm, timeline=timeline, say=progress)
    if any(each is not None for each in sizes):
        raise TimeInputError("grids, constants and macros are for MSL source, not for modules")
    from .programs import time_function

    try:
        chosen = function_of(source, function)
    except LaunchInputError as error:
        raise TimeInputError(str(error)) from None
    return time_function(chosen, arguments, chip, results=results, timeline=timeline, say=progress)


def time_executable(
    function: NpuFunction, arguments: Sequence[Any], *, timeline: bool = True
) -> NpuTimeResult:
    """How long one run of an executable takes on its NPU. Raises TimeInputError, StatusError."""
    from assay.hal.observe import timing

    from ..npu import NpuInputError
    from .npu import NpuTimer

    timer = NpuTimer(keeps_accesses=timeline)
    try:
        with timing(timer):
            function.invoke(arguments or function.zeros())
    except NpuInputError as error:
        raise TimeInputError(str(error)) from None
    return timer.whole(function.name)


def _executable_of(source: object, name: str | None) -> NpuFunction | None:
    """The executable of the NPU that is meant, None if the source is none."""
    from ..npu import NpuFunction, NpuInputError, NpuModule, is_executable, load_npu

    if isinstance(source, NpuFunction):
        return source
    if isinstance(source, str | Path) and not _is_msl(source) and is_executable(source):
        source = load_npu(source)
    if not isinstance(source, NpuModule):
        return None
    try:
        return source.find(name)
    except NpuInputError as error:
        raise TimeInputError(str(error)) from None


def _is_msl(source: str | Path) -> bool:
    return Path(source).suffix in SUFFIXES or (isinstance(source, str) and "{" in source)
