"""Every kernel of compiled libraries, read and verified by worker processes."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.compiler.air import AirLibrary, open_library
from assay.sim.simt.ir.verify import verify
from assay.sim.simt.run.program import Program

from .comparing import opened
from .workers import done, kept, stored


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """How one kernel was read.

    Attributes:
        library: its file's name.
        problem: why it was not; empty if it was.
        cold: milliseconds of the processor from the file to the engine's IR, verified, in a
            process that has read others; without the one in which LLVM parses bitcode, 1 ms.
        warm: milliseconds of the processor until all is known that a dispatch asks, once the disk
            keeps it.
    """

    library: str
    kernel: str
    problem: str = ""
    cold: float = 0.0
    warm: float = 0.0


Task = tuple[Path, str]


def tasks(libraries: Sequence[Path], share: float, seed: int) -> list[Task]:
    """A share of the libraries' kernels, in an order that the seed decides."""
    every = [(path, name) for path in libraries for name in open_library(path).function_names]
    random.Random(seed).shuffle(every)
    return every[: round(len(every) * share)]


def import_all(
    waiting: Sequence[Task], into: Path, *, workers: int, limit: float, seconds: float
) -> Iterator[Import]:
    """Read what is not in the file `into` yet, and add it there; the rest as for `done`."""
    known = {(each.library, each.kernel) for each in stored(into, Import)}
    left = [task for task in waiting if (task[0].name, task[1]) not in known]
    rows = done(left, imported, _refused, workers=workers, limit=limit, seconds=seconds)
    return kept(rows, into)


def _refused(task: Task, problem: str) -> Import:
    return Import(library=task[0].name, kernel=task[1], problem=problem)


def imported(task: Task) -> Import:
    """Read one kernel, all of whose constants are 1, and verify what came of it."""
    path, kernel = task
    library: AirLibrary = opened(path)
    constants = {each.index: 1 for each in library.constants_of(kernel)}
    start = time.process_time()
    try:
        program = library.function(kernel, constants).program()
        verify(program.function)
        assert program.needs is not None
        cold = time.process_time() - start
        library.forget()
        start = time.process_time()
        again = library.function(kernel, constants)
        known = Program(again.bitcode, again.entry, name=again.name, parameters=program.parameters)
        assert known.needs == program.needs
        warm = time.process_time() - start
    except Exception as error:
        return _refused(task, str(error) or repr(error))
    return Import(
        library=path.name, kernel=kernel, cold=round(cold * 1e3, 1), warm=round(warm * 1e3, 2)
    )
