"""Every kernel of compiled libraries, read and verified by worker processes.

A worker takes one kernel at a time. One that takes too long, or that ends its process, is refused
by that reason, and another process goes on. Each result is a line of a file, so that a run that was
ended goes on where it was.
"""

from __future__ import annotations

import json
import multiprocessing
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path

from assay.compiler.air import AirLibrary, open_library
from assay.sim.simt.ir.verify import verify
from assay.sim.simt.run.program import Program

_SPAWN = multiprocessing.get_context("spawn")


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """How one kernel was read.

    Attributes:
        library: its file's name.
        problem: why it was not; empty if it was.
        cold: milliseconds from the file to the engine's IR, verified.
        warm: milliseconds until all is known that a dispatch asks, once the disk keeps it.
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


def stored(path: Path) -> list[Import]:
    """The results in a file; a last line that was cut off does not count."""
    if not path.exists():
        return []
    lines = path.read_text().split("\n")[:-1]
    return [Import(**json.loads(line)) for line in lines]


def import_all(
    waiting: Sequence[Task], into: Path, *, workers: int, limit: float, seconds: float
) -> Iterator[Import]:
    """Read what is not in the file `into` yet, and add it there.

    Args:
        limit: seconds that one kernel may take.
        seconds: after which no other kernel is begun.
    """
    known = {(each.library, each.kernel) for each in stored(into)}
    left = [task for task in waiting if (task[0].name, task[1]) not in known]
    _drop_cut_line(into)
    with into.open("a") as file:
        for row in _imported(left, workers, limit, time.monotonic() + seconds):
            file.write(json.dumps(asdict(row)) + "\n")
            file.flush()
            yield row


def _drop_cut_line(path: Path) -> None:
    """Take off a line that a run did not finish."""
    if path.exists():
        text = path.read_text()
        path.write_text(text[: text.rfind("\n") + 1])


def _imported(left: list[Task], workers: int, limit: float, end: float) -> Iterator[Import]:
    waiting = iter(left)
    idle = [_Worker() for _ in range(workers)]
    busy: dict[Connection, _Worker] = {}
    try:
        while True:
            while idle and time.monotonic() < end and (task := next(waiting, None)) is not None:
                worker = idle.pop()
                worker.take(task, limit)
                busy[worker.pipe] = worker
            if not busy:
                return
            first = min(worker.until for worker in busy.values())
            ready = wait(list(busy), timeout=max(0.0, first - time.monotonic()))
            for pipe, worker in list(busy.items()):
                row = worker.answer() if pipe in ready else worker.late(limit)
                if row is None:
                    continue
                del busy[pipe]
                idle.append(worker if worker.is_there else _Worker())
                yield row
    finally:
        for worker in (*idle, *busy.values()):
            worker.end()


class _Worker:
    """One process, which has at most one task."""

    def __init__(self) -> None:
        self.pipe, theirs = _SPAWN.Pipe()
        self._process = _SPAWN.Process(target=_serve, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()
        self._task: Task | None = None
        self.until = 0.0
        self.is_there = True

    def take(self, task: Task, limit: float) -> None:
        self._task, self.until = task, time.monotonic() + limit
        self.pipe.send(task)

    def answer(self) -> Import:
        try:
            row = self.pipe.recv()
        except (EOFError, OSError):
            self.end()
            return self._refused(f"its process ended with {self._process.exitcode}")
        assert isinstance(row, Import)
        return row

    def late(self, limit: float) -> Import | None:
        """A refusal, if time is over."""
        if time.monotonic() < self.until:
            return None
        self.end()
        return self._refused(f"it takes more than {limit:g} s")

    def end(self) -> None:
        self.is_there = False
        self._process.kill()
        self._process.join()

    def _refused(self, problem: str) -> Import:
        assert self._task is not None
        path, name = self._task
        return Import(library=path.name, kernel=name, problem=problem)


def _serve(pipe: Connection) -> None:
    """What a process does: it answers tasks until nobody asks any more."""
    libraries: dict[Path, AirLibrary] = {}
    while True:
        try:
            path, name = pipe.recv()
        except EOFError:
            return
        if path not in libraries:
            libraries[path] = open_library(path)
        pipe.send(imported(libraries[path], path.name, name))


def imported(library: AirLibrary, file_name: str, kernel: str) -> Import:
    """Read one kernel, all of whose constants are 1, and verify what came of it."""
    constants = {each.index: 1 for each in library.constants_of(kernel)}
    start = time.perf_counter()
    try:
        program = library.function(kernel, constants).program()
        verify(program.function)
        assert program.needs is not None
        cold = time.perf_counter() - start
        library.forget()
        start = time.perf_counter()
        again = library.function(kernel, constants)
        known = Program(again.bitcode, again.entry, name=again.name, parameters=program.parameters)
        assert known.needs == program.needs
        warm = time.perf_counter() - start
    except Exception as error:
        problem = str(error) or repr(error)
        return Import(library=file_name, kernel=kernel, problem=problem)
    return Import(
        library=file_name, kernel=kernel, cold=round(cold * 1e3, 1), warm=round(warm * 1e3, 2)
    )
