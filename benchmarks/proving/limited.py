"""Work in processes that end when they have taken so much of the processor for one task.

A task gives its parts one by one, so that what was found before it was ended stays.
"""

from __future__ import annotations

import math
import multiprocessing
import resource
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from typing import Any, TypeVar

Task = TypeVar("Task")
Part = TypeVar("Part")
_SPAWN = multiprocessing.get_context("spawn")
_MOST_TASKS = 100  # of a process, whose memory grows
_SLOWEST = 20.0  # times the limit, by the clock, after which a process is taken to hang


def done(
    tasks: Sequence[Task],
    work: Callable[[Task], Iterable[Part]],
    *,
    limit: float,
    workers: int = 1,
    seconds: float = math.inf,
) -> Iterator[tuple[Task, list[Part], str]]:
    """For each task its parts, and why there are no more of them; empty if it came to its end.

    Args:
        tasks: in the order in which they are begun.
        work: a function of a module.
        limit: seconds of the processor for a task.
        workers: processes.
        seconds: by the clock, after which no task is begun.
    """
    end = time.monotonic() + seconds
    waiting = iter(tasks)
    idle: list[_Worker] = [_Worker(work, limit) for _ in range(workers)]
    busy: dict[Connection, _Worker] = {}
    try:
        while True:
            while idle and time.monotonic() < end and (task := next(waiting, None)) is not None:
                worker = idle.pop()
                worker.take(task)
                busy[worker.pipe] = worker
            if not busy:
                return
            first = min(worker.until for worker in busy.values())
            ready = wait(list(busy), timeout=max(0.0, first - time.monotonic()))
            for pipe, worker in list(busy.items()):
                is_late = time.monotonic() > worker.until
                if pipe not in ready and not is_late:
                    continue
                if worker.has_more(hangs=is_late and pipe not in ready):
                    continue
                del busy[pipe]
                idle.append(worker if worker.is_there else _Worker(work, limit))
                yield worker.task, worker.parts, worker.problem
    finally:
        for worker in (*idle, *busy.values()):
            worker.end()


class _Worker:
    """One process, which has at most one task."""

    def __init__(self, work: Callable[[Any], Iterable[Any]], limit: float) -> None:
        self.pipe, theirs = _SPAWN.Pipe()
        self._process = _SPAWN.Process(target=_serve, args=(theirs, work, limit), daemon=True)
        self._process.start()
        theirs.close()
        self._limit = limit
        self._left = _MOST_TASKS
        self.is_there = True
        self.task: Any = None
        self.parts: list[Any] = []
        self.problem = ""
        self.until = math.inf

    def take(self, task: object) -> None:
        self.task, self.parts, self.problem = task, [], ""
        self.until = time.monotonic() + _SLOWEST * self._limit
        self.pipe.send(task)

    def has_more(self, *, hangs: bool) -> bool:
        """Take what came; whether there is more to come."""
        if hangs:
            self.problem = "its process hangs"
            self.end()
            return False
        try:
            is_end, part = self.pipe.recv()
        except (EOFError, OSError):
            self._process.join()
            late = self._process.exitcode in (-_XCPU, -_KILL)
            took = f"it takes more than {self._limit:g} s of the processor"
            self.problem = took if late else f"its process ended with {self._process.exitcode}"
            self.end()
            return False
        if not is_end:
            self.parts.append(part)
            return True
        self._left -= 1
        if not self._left:
            self.end()
        return False

    def end(self) -> None:
        self.is_there = False
        self._process.kill()
        self._process.join()


_XCPU, _KILL = 24, 9  # signals of a process that took more than it may


def _serve(pipe: Connection, work: Callable[[Any], Iterable[Any]], limit: float) -> None:
    """What a process does: it answers tasks until nobody asks any more."""
    while True:
        try:
            task = pipe.recv()
        except EOFError:
            return
        most = math.ceil(time.process_time() + limit)
        resource.setrlimit(resource.RLIMIT_CPU, (most, resource.RLIM_INFINITY))
        for part in work(task):
            pipe.send((False, part))
        pipe.send((True, None))
