"""Work on many kernels by processes that may end or take too long, with results kept in a file.

A process takes one task at a time. One that takes too long, or ends, is refused by that reason, and
another process goes on. Each result is a line of a file, so that a run that was ended goes on where
it was.
"""

from __future__ import annotations

import json
import multiprocessing
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, TypeVar

Row = TypeVar("Row")
Task = TypeVar("Task")
_SPAWN = multiprocessing.get_context("spawn")
# After so many tasks a process is replaced: LLVM keeps some memory of each.
_MOST_TASKS = 1_000


def stored(path: Path, kind: Callable[..., Row]) -> list[Row]:
    """The results in a file; a last line that was cut off does not count."""
    if not path.exists():
        return []
    lines = path.read_text().split("\n")[:-1]
    return [kind(**json.loads(line)) for line in lines]


def kept(rows: Iterator[Row], into: Path) -> Iterator[Row]:
    """The rows, each of which is added to a file as a line before it is given."""
    if into.exists():
        text = into.read_text()
        into.write_text(text[: text.rfind("\n") + 1])  # less a line that a run did not finish
    with into.open("a") as file:
        for row in rows:
            file.write(json.dumps(asdict(row)) + "\n")  # type: ignore[call-overload]
            file.flush()
            yield row


def done(
    tasks: Sequence[Task],
    work: Callable[[Task], Row],
    refused: Callable[[Task, str], Row],
    *,
    workers: int,
    limit: float,
    seconds: float,
) -> Iterator[Row]:
    """What `work` gives for each task, as it comes.

    Args:
        work: a function of a module; it keeps what it needs again.
        refused: the result of a task that was not done, and why.
        limit: seconds that one task may take.
        seconds: after which no other task is begun.
    """
    end = time.monotonic() + seconds
    waiting = iter(tasks)
    idle = [_Worker(work) for _ in range(workers)]
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
                if pipe not in ready and time.monotonic() < worker.until:
                    continue
                answer, problem = worker.answer(is_late=pipe not in ready, limit=limit)
                del busy[pipe]
                idle.append(worker if worker.is_there else _Worker(work))
                yield refused(worker.task, problem) if problem else answer
    finally:
        for worker in (*idle, *busy.values()):
            worker.end()


class _Worker:
    """One process, which has at most one task."""

    def __init__(self, work: Callable[[Any], Any]) -> None:
        self.pipe, theirs = _SPAWN.Pipe()
        self._process = _SPAWN.Process(target=_serve, args=(theirs, work), daemon=True)
        self._process.start()
        theirs.close()
        self.task: Any = None
        self.until = 0.0
        self.is_there = True
        self._left = _MOST_TASKS

    def take(self, task: object, limit: float) -> None:
        self.task, self.until = task, time.monotonic() + limit
        self.pipe.send(task)

    def answer(self, *, is_late: bool, limit: float) -> tuple[Any, str]:
        """What came, or why nothing came."""
        if is_late:
            self.end()
            return None, f"it takes more than {limit:g} s"
        try:
            found = self.pipe.recv()
        except (EOFError, OSError):
            self.end()
            return None, f"its process ended with {self._process.exitcode}"
        self._left -= 1
        if not self._left:
            self.end()
        return found, ""

    def end(self) -> None:
        self.is_there = False
        self._process.kill()
        self._process.join()


def _serve(pipe: Connection, work: Callable[[Any], Any]) -> None:
    """What a process does: it answers tasks until nobody asks any more."""
    while True:
        try:
            task = pipe.recv()
        except EOFError:
            return
        pipe.send(work(task))
