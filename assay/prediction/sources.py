"""From MSL source, with `//!` lines and what a caller gives, to the kernel that is to be timed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.sim.names import listed

from ..launches.arguments import given_of, size_of
from ..launches.errors import LaunchInputError
from ..launches.inputs import ConstantValue, Setup
from ..launches.setups import Setups, setups_in_source
from ..launches.source import library_of, no_kernel, unknown_kernels
from .errors import TimeInputError
from .kernels import KernelRun, time_kernel
from .result import TimeResult

if TYPE_CHECKING:
    from assay.compiler.msl import KernelLibrary
    from assay.hw.apple.facts.chips import Chip

Sizes = int | Sequence[int] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRun:
    """A kernel run and the library that has the kernel."""

    library: KernelLibrary
    run: KernelRun


def timed_library(
    source: str | Path, macros: Mapping[str, str], include_paths: Iterable[str | Path]
) -> KernelLibrary:
    """The kernels of MSL text, or of a file. Raises TimeInputError, CompileError."""
    try:
        return library_of(source, macros, include_paths)
    except LaunchInputError as error:
        raise TimeInputError(str(error)) from None


def kernel_run(
    library: KernelLibrary,
    function: str | None,
    arguments: Sequence[Any] = (),
    *,
    threads: Sizes = None,
    threadgroups: Sizes = None,
    threadgroup: Sizes = None,
    constants: Mapping[int | str, ConstantValue] | None = None,
    setups: Setups | None = None,
) -> SourceRun:
    """What is to be timed; `setups` of a file replace what the source says of the same kernel.

    Raises TimeInputError, CompileError.
    """
    try:
        name = function or _only_kernel(library)
        setup = _setup(library, name, setups)
        if threads is not None and threadgroups is not None:
            raise TimeInputError("give threads or threadgroups, not both")
        given = None
        if arguments:
            kernel = library.function(name, {**setup.constants, **(constants or {})})
            given = given_of(kernel, arguments, frozenset())
        run = KernelRun(
            function=name,
            setup=setup,
            threads=size_of("threads", threads),
            threadgroups=size_of("threadgroups", threadgroups),
            threadgroup=size_of("threadgroup", threadgroup),
            constants=constants,
            arguments=given,
        )
    except LaunchInputError as error:
        raise TimeInputError(str(error)) from None
    return SourceRun(library=library, run=run)


def time_kernel_run(
    source: SourceRun,
    chip: Chip,
    *,
    warm: bool = True,
    both: bool = False,
    timeline: bool = False,
    say: Callable[[str], None] | None = None,
) -> TimeResult:
    """How long it takes on a chip. Raises TimeInputError, CompileError."""
    return time_kernel(
        source.library, source.run, chip, warm=warm, both=both, timeline=timeline, say=say
    )


def _only_kernel(library: KernelLibrary) -> str:
    names = library.function_names
    if len(names) == 1:
        return names[0]
    if not names:
        raise TimeInputError(f"{library.file_name}: {no_kernel(library)}")
    raise TimeInputError(
        f"{library.file_name}: say which kernel is to be timed; there are {listed(names)}"
    )


def _setup(library: KernelLibrary, name: str, setups: Setups | None) -> Setup:
    """What a file, or else the source itself, says of a kernel: its first run."""
    said = library.sources().get(library.file_name, "")
    written = setups_in_source(said, library.file_name).get(name)
    if setups is not None:
        for error in unknown_kernels(setups, library):
            raise TimeInputError(error)
    found = (setups or {}).get(name) or written
    return found[0] if found else Setup(where=f"kernel '{name}'")
