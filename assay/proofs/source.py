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
from .proof import KernelProof
from .replay import Replay

if TYPE_CHECKING:
    from assay.compiler.msl import KernelFunction, KernelLibrary
    from assay.compiler.verify import Answer
    from assay.sim.check import Finding

ALWAYS = (
    "all threadgroups are full, and a grid has less than 2**32 threads in a dimension",
    "lanes of a simdgroup run in lock step",
    "buffers do not overlap",
)
"""What every proof rests on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProofOptions:
    """How source is compiled, what is proved, and for which threadgroups.

    `functions` names kernels, also with `*`; without any, all are meant. `threadgroup` is the size
    of threadgroups; without it that of the source's `//!` lines counts, or a usual one.
    """

    functions: tuple[str, ...] = ()
    threadgroup: Size | None = None
    macros: Mapping[str, str] = field(default_factory=dict)
    include_paths: tuple[Path, ...] = ()
    inputs: Inputs = field(default_factory=Inputs)


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
            yield _proved(library, name, setup, setups.get(name, ()))


def _sizes(setups: Iterable[Setup], threadgroup: Size | None) -> list[Setup]:
    """One setup for each size of threadgroups, with one set of function constants."""
    found: dict[object, Setup] = {}
    for setup in setups:
        known = setup if threadgroup is None else replace(setup, threadgroup=threadgroup)
        found.setdefault((known.threadgroup, tuple(known.constants.items())), known)
    return list(found.values())


def _proved(
    library: KernelLibrary, name: str, setup: Setup, setups: Iterable[Setup]
) -> KernelProof:
    from assay.compiler.msl import CompileError
    from assay.sim.simt import UnsupportedKernel

    file, line = library.places()[name]
    start = time.process_time()
    try:
        kernel, assumed = compiled_kernel(library, name, setup.constants, setup.threadgroup)
        proof = _of_kernel(library, kernel, setup, setups)
    except (CompileError, UnsupportedKernel, LaunchInputError) as error:
        return KernelProof(name=name, file=file, line=line, problem=str(error))
    seconds = time.process_time() - start
    return replace(proof, assumptions=(*assumed, *proof.assumptions), seconds=seconds)


def _of_kernel(
    library: KernelLibrary, kernel: KernelFunction, setup: Setup, setups: Iterable[Setup]
) -> KernelProof:
    from assay.compiler.verify import prove

    grid = choose_grid(kernel, setup)
    size = grid.threadgroup
    replay = Replay(kernel, Runner(library), size, setups, library.sources())
    answers: list[Answer] = []
    findings: list[Finding] = []
    for answer in prove(kernel.program(), size):
        known, found = replay.confirmed(answer)
        answers.append(known)
        findings += found
    is_assumed = setup.threadgroup is None
    sizes = f"threadgroups of {size_text(size)} threads{', a usual size' if is_assumed else ''}"
    return KernelProof(
        name=kernel.name,
        file=kernel.file,
        line=kernel.line,
        threadgroup=size,
        answers=tuple(answers),
        findings=tuple(findings),
        assumptions=(sizes, *ALWAYS),
    )
