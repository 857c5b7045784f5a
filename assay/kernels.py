"""What an MSL source offers, gathered for people: its kernels, and what each of them needs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from .launches.constants import compiled_kernel
from .launches.opening import opened_library
from .launches.source import read_source as source_text

if TYPE_CHECKING:
    from assay.compiler.msl import (
        Argument,
        CompileOptions,
        ConstantValue,
        KernelFunction,
        KernelLibrary,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Registers:
    """Estimated registers of 32 bits: of a thread, what its simdgroup shares, and where."""

    thread: int
    uniform: int
    place: str


@dataclass(frozen=True, kw_only=True, slots=True)
class KernelDetails:
    """One kernel. Sizes are bytes; `threadgroup_memory` is that of variables, not of arguments."""

    name: str
    place: str
    arguments: "tuple[Argument, ...]"
    positions: tuple[str, ...]
    max_threads: int | None
    threadgroup_memory: int
    private_memory: int
    registers: Registers
    constants: tuple[str, ...]
    """Values that were assumed for function constants that it reads, as `name = value`."""
    instructions: str = ""
    """What an Apple GPU would execute, as text; empty if it was not asked for."""
    listing: str = ""
    """The text whose lines findings name: its file, or of a library without lines its listing;
    empty if it was not asked for or is not to be had."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Refusal:
    """A kernel that does not compile or cannot be executed, and why."""

    name: str
    reason: str


def read_source(path: Path, options: "CompileOptions") -> "KernelLibrary":
    """The library of a file's source; raises CompileError with the file's lines.

    Its own folder is searched for includes, before those of `options`.
    """
    folders = (path.resolve().parent, *options.include_paths)
    return opened_library(source_text(path), str(path), replace(options, include_paths=folders))


def made_by(library: "KernelLibrary") -> str:
    """What wrote a library for Assay alone, of what; empty for others."""
    from assay.compiler.metallib.source_library import SourceLibrary

    if not isinstance(library, SourceLibrary):
        return ""
    units = ", ".join(
        f"{unit.file_name} (metal{unit.language_version[0]}.{unit.language_version[1]}"
        f"{'' if unit.fast_math else ', no fast math'})"
        for unit in library.stored.units
    )
    return f"assay metal {library.stored.made_by} of {units}"


def inspect_kernels(
    library: "KernelLibrary",
    names: Sequence[str],
    constants: "Mapping[int | str, ConstantValue]",
    say: Callable[[str], None],
    *,
    instructions: bool = False,
    listing: bool = False,
) -> Iterator[KernelDetails | Refusal]:
    """Compile each kernel, read it into the engine, and tell what it needs.

    Function constants that `constants` does not name are assumed as for a run. With `instructions`
    each is lowered to those of Apple GPUs too, with `listing` told the text of its lines.
    """
    from assay.compiler.msl import CompileError
    from assay.sim.simt import UnsupportedKernel

    for number, kernel_name in enumerate(names, 1):
        say(f"kernel {number} of {len(names)}: {kernel_name}")
        try:
            kernel, assumed = compiled_kernel(library, kernel_name, constants)
            details = _details(kernel, assumed)
            yield replace(
                details,
                instructions=_instructions(kernel) if instructions else "",
                listing=library.sources().get(kernel.file, "") if listing else "",
            )
        except (CompileError, UnsupportedKernel) as error:
            yield Refusal(name=kernel_name, reason=str(error))


def _details(kernel: "KernelFunction", assumed: tuple[str, ...]) -> KernelDetails:
    from assay.sim.simt.analysis.registers import estimate_registers

    program = kernel.program()
    estimate = estimate_registers(program.function)
    return KernelDetails(
        name=kernel.name,
        place=f"{kernel.file}:{kernel.line}",
        arguments=kernel.arguments,
        positions=kernel.position_attributes,
        max_threads=kernel.max_total_threads_per_threadgroup,
        threadgroup_memory=program.needs.threadgroup_memory,
        private_memory=program.needs.private_memory,
        registers=Registers(
            thread=estimate.registers,
            uniform=estimate.uniform,
            place=f"{estimate.site.file}:{estimate.site.line}",
        ),
        constants=assumed,
    )


def _instructions(kernel: "KernelFunction") -> str:
    from assay.hw.apple.lower.code_text import code_text
    from assay.hw.apple.lower.lower import lower

    return code_text(lower(kernel.program().taped_function))
