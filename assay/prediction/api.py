"""`assay.time`: one call for kernels and for modules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.hw.apple.chips import chip as chip_named

from .errors import TimeInputError
from .result import TimeResult

if TYPE_CHECKING:
    from assay.checks.inputs import ConstantValue
    from assay.module import Function, Module

_SOURCES = (".metal", ".msl")


def time(
    source: str | Path | Module | Function,
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
) -> TimeResult:
    """How long a kernel, or a function of a module, takes on an Apple GPU, and why.

    Args:
        source: MSL, the path of a `.metal` file, the path of a module or model, a loaded module or
            one of its functions.
        function: which kernel or function; may be left out if there is only one.
        arguments: for a kernel as `check_kernel` takes them, one for each argument: an array for a
            buffer, a number or list for `constant T&`, bytes for anything else, the number of bytes
            for threadgroup memory, None for what `//!` lines of the source say or may be assumed.
            Without any, all come from there. For a function of a module its inputs; without any,
            random ones of the right shapes.
        chip: which GPU, a key of `assay.hw.apple.chips`.
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
    gpu = chip_named(chip)
    if isinstance(source, str | Path) and _is_msl(source):
        from .sources import kernel_run, time_kernel_run

        run = kernel_run(
            source,
            function,
            arguments,
            threads=threads,
            threadgroups=threadgroups,
            threadgroup=threadgroup,
            constants=constants,
            macros=macros or {},
            include_paths=include_paths,
        )
        return time_kernel_run(run, gpu, warm=warm, timeline=timeline, say=progress)
    sizes = (threads, threadgroups, threadgroup, constants, macros)
    if any(each is not None for each in sizes):
        raise TimeInputError("grids, constants and macros are for MSL source, not for modules")
    from .programs import time_function

    chosen = _function_of(source, function)
    return time_function(chosen, arguments, chip, results=results, timeline=timeline, say=progress)


def _is_msl(source: str | Path) -> bool:
    return Path(source).suffix in _SOURCES or (isinstance(source, str) and "{" in source)


def _function_of(source: str | Path | Module | Function, name: str | None) -> Function:
    """The function that is meant. Raises TimeInputError."""
    from assay.module import Function, load

    if isinstance(source, Function):
        return source
    module = load(source) if isinstance(source, str | Path) else source
    if name is not None:
        if name in module.functions:
            return module.functions[name]
    elif len(names := [each for each in module.functions if not each.endswith("$async")]) == 1:
        return module.functions[names[0]]
    elif "main" in module.functions:
        return module.functions["main"]
    known = ", ".join(module.functions) or "none"
    what = f"there is no function {name!r}" if name is not None else "say which function"
    raise TimeInputError(f"module {module.name}: {what}; there are {known}")
