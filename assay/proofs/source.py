"""Proofs about the kernels of a source, one by one."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..checks.inputs import Inputs, read_annotations
from ..launches.constants import compiled_kernel
from ..launches.errors import LaunchInputError
from ..launches.grid import choose_grid, size_text
from ..launches.inputs import Setup, Size
from ..launches.opening import opened_library
from ..launches.runner import Runner
from ..launches.source import chosen_kernels
from .names import names_of
from .proof import KernelProof
from .replay import Replay

if TYPE_CHECKING:
    from assay.compiler.msl import KernelFunction, KernelLibrary
    from assay.compiler.verify import Answer, Launch
    from assay.sim.check import Finding

ALWAYS = (
    "all threadgroups are full, and a grid has less than 2**32 threads in a dimension",
    "lanes of a simdgroup run in lock step",
    "buffers do not overlap, and the grid has one thread in dimensions that the kernel ignores",
)
"""What every proof rests on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProofOptions:
    """How source is compiled, what is proved, and for which threadgroups.

    `functions` names kernels, also with `*`; without any, all are meant. `threadgroup` is the size
    of threadgroups; without it that of the source's `//!` lines counts, or a usual one. `assume`
    has conditions on arguments and grids, `buffers` bytes of arguments by name, as expressions.
    """

    functions: tuple[str, ...] = ()
    threadgroup: Size | None = None
    macros: Mapping[str, str] = field(default_factory=dict)
    include_paths: tuple[Path, ...] = ()
    inputs: Inputs = field(default_factory=Inputs)
    assume: tuple[str, ...] = ()
    buffers: Mapping[str, str] = field(default_factory=dict)


def prove_source(source: str, file_name: str, options: ProofOptions) -> Iterator[KernelProof]:
    """What is proved of each kernel of a text, or of a compiled library.

    Raises:
        CompileError: if the text does not compile.
        LaunchInputError: if there is no such kernel.
    """
    from assay.compiler.msl import CompileOptions

    compiled = CompileOptions(
        macros=options.macros, include_paths=(*options.include_paths, Path(file_name).parent)
    )
    library = opened_library(source, file_name, compiled)
    setups = {**read_annotations(source, file_name).setups, **options.inputs.setups}
    for name in chosen_kernels(library, options.functions):
        for setup in _sizes(setups.get(name, (Setup(),)), options.threadgroup):
            yield _proved(library, name, setup, setups.get(name, ()), options)


def _sizes(setups: Iterable[Setup], threadgroup: Size | None) -> list[Setup]:
    """One setup for each size of threadgroups, with one set of function constants."""
    found: dict[object, Setup] = {}
    for setup in setups:
        known = setup if threadgroup is None else replace(setup, threadgroup=threadgroup)
        found.setdefault((known.threadgroup, tuple(known.constants.items())), known)
    return list(found.values())


def _proved(
    library: KernelLibrary,
    name: str,
    setup: Setup,
    setups: Iterable[Setup],
    options: ProofOptions,
) -> KernelProof:
    from assay.compiler.msl import CompileError
    from assay.compiler.verify import AssumptionError
    from assay.sim.simt import UnsupportedKernel

    file, line = library.places()[name]
    start = time.process_time()
    try:
        kernel, assumed = compiled_kernel(library, name, setup.constants, setup.threadgroup)
        proof = _of_kernel(library, kernel, setup, setups, options)
    except (CompileError, UnsupportedKernel, LaunchInputError, AssumptionError) as error:
        return KernelProof(name=name, file=file, line=line, problem=str(error))
    seconds = time.process_time() - start
    return replace(proof, assumptions=(*assumed, *proof.assumptions), seconds=seconds)


def _of_kernel(
    library: KernelLibrary,
    kernel: KernelFunction,
    setup: Setup,
    setups: Iterable[Setup],
    options: ProofOptions,
) -> KernelProof:
    from assay.compiler.verify import Launch, prove

    size = choose_grid(kernel, setup).threadgroup
    launch = Launch(
        size=size, names=names_of(kernel), holds=options.assume, lengths=_lengths(kernel, options)
    )
    replay = Replay(kernel, Runner(library), size, setups, library.sources())
    answers: list[Answer] = []
    findings: list[Finding] = []
    for answer in prove(kernel.program(), launch):
        known, found = replay.confirmed(answer)
        answers.append(known)
        findings += (each for each in found if each not in findings)
    return KernelProof(
        name=kernel.name,
        file=kernel.file,
        line=kernel.line,
        threadgroup=size,
        answers=tuple(answers),
        findings=tuple(findings),
        assumptions=tuple(_assumptions(kernel, setup, launch)),
    )


def _lengths(kernel: KernelFunction, options: ProofOptions) -> dict[str, str]:
    """The stated lengths of a kernel's own arguments."""
    names = {argument.name for argument in kernel.arguments}
    return {name: text for name, text in options.buffers.items() if name in names}


def _assumptions(kernel: KernelFunction, setup: Setup, launch: Launch) -> Iterator[str]:
    """What proofs rest on, as sentences."""
    usual = ", a usual size" if setup.threadgroup is None else ""
    yield f"threadgroups of {size_text(launch.size)} threads{usual}"
    yield from launch.holds
    yield from (f"{name} has {text} bytes" for name, text in launch.lengths.items())
    open = [
        argument.name
        for argument in kernel.arguments
        if argument.name not in launch.lengths and not argument.is_reference
    ]
    if open:
        yield f"accesses stay within {', '.join(open)}: --buffer states how long they are"
    yield from ALWAYS
