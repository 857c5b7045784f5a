"""`check_kernel`: one kernel, with the caller's own arrays."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..launches.constants import compiled_kernel
from ..launches.errors import CheckInputError
from ..launches.inputs import ConstantValue, Exact, Given, Literal, Raw, Setup, Size
from ..launches.runner import CannotRun, Runner
from ..reports.report import KernelRecord, Report
from ..reports.suppressions import parse_suppression
from .programs import chosen_checks
from .runs import record_of_run, run_setup
from .source import read_source

if TYPE_CHECKING:
    from assay.compiler.msl import Argument, KernelFunction, Library

_FILE_NAME = "program_source.metal"


def check_kernel(
    source: str | Path,
    function: str,
    *arguments: Any,
    threads: int | Sequence[int] | None = None,
    threadgroups: int | Sequence[int] | None = None,
    threadgroup: int | Sequence[int] | None = None,
    checks: str | Iterable[str] = "all",
    constants: Mapping[int | str, ConstantValue] | None = None,
    macros: Mapping[str, str] | None = None,
    include_paths: Iterable[str | Path] = (),
    uninitialised: Iterable[str] = (),
    seeds: Iterable[int] = (),
    suppress: Iterable[str] = (),
    chip: str = "m1",
) -> Report:
    """Run one kernel under checks; arrays are changed in place as buffers would be.

    Args:
        source: MSL, or the path of a file of it (a Path, or a text that ends in `.metal`).
        function: which kernel.
        arguments: one for each argument of the kernel, in order: an array for a buffer, a number or
            a list of numbers for `constant T&`, bytes for anything else, the number of bytes for
            threadgroup memory, None for what may be assumed.
        threads: size of the grid in threads, or `threadgroups` in threadgroups.
        threadgroups: see `threads`.
        threadgroup: size of a threadgroup in threads.
        checks: names such as `"race,init"`; `"all"` for the usual ones.
        constants: function constants by index or name.
        macros: preprocessor macros.
        include_paths: folders for `#include`.
        uninitialised: names of buffers whose contents count as never written.
        seeds: run again in the order of each, and compare the bits that are left.
        suppress: findings to accept, as `--suppress` of the command line has them.
        chip: which GPU, a key of `assay.hw.apple.facts.chips`.

    Raises:
        CheckInputError: if arguments or sizes do not fit the kernel, or it cannot be run.
        CompileError: if it does not compile.
        ValueError: for a name that is no check.
    """
    report = Report(
        chosen_checks(checks),
        suppressions=[parse_suppression(text) for text in suppress],
        seeds=seeds,
    )
    library = library_of(source, macros or {}, include_paths)
    report.add_sources(library.sources())
    if function not in library.function_names:
        known = ", ".join(library.function_names) or "none"
        raise CheckInputError(f"there is no kernel '{function}' in the source; there are {known}")
    kernel, assumed = compiled_kernel(library, function, constants or {})
    setup = Setup(
        where=f"check_kernel '{function}'",
        threads=size_of("threads", threads),
        threadgroups=size_of("threadgroups", threadgroups),
        threadgroup=size_of("threadgroup", threadgroup),
        arguments=given_of(kernel, arguments, frozenset(uninitialised)),
    )
    if setup.threads is not None and setup.threadgroups is not None:
        raise CheckInputError(f"{setup.where}: give threads or threadgroups, not both")
    start = time.perf_counter()
    try:
        plan, outcome = run_setup(kernel, setup, Runner(library, chip=chip), report)
    except CannotRun as error:
        if not report.tells_budget(function):
            raise CheckInputError(f"{setup.where}: {error}") from None
        report.add_kernel(KernelRecord(name=function, file=kernel.file, line=kernel.line))
        return report
    report.add_kernel(
        record_of_run(kernel, plan, assumed=assumed, seconds=time.perf_counter() - start)
    )
    for argument, value in zip(kernel.arguments, arguments, strict=True):
        if isinstance(value, np.ndarray) and argument.access != "read" and value.flags.writeable:
            value[...] = outcome.buffers[argument.name].view(value.dtype).reshape(value.shape)
    return report


def library_of(
    source: str | Path, macros: Mapping[str, str], include_paths: Iterable[str | Path]
) -> Library:
    """The kernels of MSL text, or of a file if it is the path of one. Raises CompileError."""
    from assay.compiler.msl import CompileOptions, compile_library

    paths = [Path(path) for path in include_paths]
    if isinstance(source, Path) or (source.endswith(".metal") and "\n" not in source):
        path = Path(source)
        text, file_name = read_source(path), str(path)
        paths.append(path.parent)
    else:
        text, file_name = source, _FILE_NAME
    options = CompileOptions(macros=macros, include_paths=tuple(paths))
    return compile_library(text, options=options, file_name=file_name)


def size_of(what: str, value: int | Sequence[int] | None) -> Size | None:
    """A size in x, y, z from what a caller gave for `what`. Raises CheckInputError."""
    if value is None:
        return None
    sizes = list(value) if isinstance(value, Sequence | np.ndarray) else [value]
    whole = (isinstance(size, int | np.integer) and not isinstance(size, bool) for size in sizes)
    if not 1 <= len(sizes) <= 3 or not all(whole) or min(sizes) < 1:
        raise CheckInputError(f"{what} is {value!r}; expected 1 to 3 positive integers")
    x, y, z = (*(int(size) for size in sizes), 1, 1)[:3]
    return x, y, z


def given_of(
    kernel: KernelFunction, values: Sequence[Any], uninitialised: frozenset[str]
) -> dict[str, Given]:
    """What each argument was given, by its name."""
    names = [argument.name for argument in kernel.arguments]
    if len(values) != len(names):
        raise CheckInputError(
            f"kernel '{kernel.name}' takes {len(names)} arguments ({', '.join(names)}), "
            f"{len(values)} given"
        )
    unknown = sorted(uninitialised - set(names))
    if unknown:
        raise CheckInputError(f"uninitialised: kernel '{kernel.name}' has no argument {unknown[0]}")
    given = {}
    for argument, value in zip(kernel.arguments, values, strict=True):
        if value is not None:
            given[argument.name] = _one(argument, value, argument.name not in uninitialised)
    return given


def _one(argument: Argument, value: Any, is_initialised: bool) -> Given:
    if argument.kind == "threadgroup":
        if isinstance(value, int | np.integer) and value > 0:
            return Raw(bytes=int(value))
        raise CheckInputError(
            f"argument '{argument.name}' is threadgroup memory: give its bytes, not {value!r}"
        )
    if isinstance(value, np.ndarray) and value.ndim:
        if not value.size or value.dtype.hasobject:
            raise CheckInputError(f"argument '{argument.name}': the array holds no numbers")
        return Exact(array=value, is_initialised=is_initialised)
    if isinstance(value, bytes | bytearray | memoryview) and len(value):
        return Exact(array=np.frombuffer(value, np.uint8))
    numbers = value if isinstance(value, list | tuple) else [value]
    plain = [each.item() if isinstance(each, np.generic | np.ndarray) else each for each in numbers]
    if plain and all(isinstance(each, bool | int | float) for each in plain):
        return Literal(values=tuple(plain))
    raise CheckInputError(
        f"argument '{argument.name}': expected an array, a number, a list of numbers or bytes, not "
        f"{type(value).__name__}"
    )
