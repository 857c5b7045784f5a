"""Kernels of one text checked by several processes, each stopped when it takes too long."""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import queue
import resource
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from assay.sim.native.messages import receive, send
from assay.sim.simt.run.settings import default_workers

from ..reports.report import KernelRecord, ReportPart
from .errors import CheckInputError
from .source import SourceCheck, SourceOptions

# LLVM's optimiser keeps some of what it takes, a few megabytes of a large kernel: a process that
# has come to so many bytes is followed by a new one.
_MOST_MEMORY = 1 << 30
_GARBAGE = 200_000  # objects between two looks for garbage in cycles
_WORKER = "from assay.checks.processes import work; work()"


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What each process is told first: a text with its options, and what to look for."""

    source: str
    file_name: str
    options: SourceOptions
    checks: tuple[str, ...]
    seeds: tuple[int, ...]


def check_in_processes(
    task: Task, names: Sequence[str], *, jobs: int, timeout: float | None
) -> Iterator[tuple[str, ReportPart]]:
    """Check kernels; each with what was found, in the order in which they finish.

    Args:
        task: the text, compiled before.
        names: the kernels.
        jobs: how many processes are at work at a time.
        timeout: seconds that a kernel may take, None for any number.
    """
    waiting = deque(names)
    answers: queue.Queue[tuple[_Worker, Any]] = queue.Queue()
    workers: list[_Worker] = []
    try:
        for _ in range(min(jobs, len(names))):
            workers.append(_Worker(task, jobs, answers))
            workers[-1].give(waiting.popleft())
        while any(worker.kernel for worker in workers):
            for worker, part in _finished(workers, answers, timeout):
                name = worker.kernel
                if worker.is_full and waiting:
                    worker.stop()
                if worker.is_gone:
                    workers.remove(worker)
                    if waiting:
                        workers.append(_Worker(task, jobs, answers))
                        workers[-1].give(waiting.popleft())
                else:
                    worker.give(waiting.popleft() if waiting else "")
                yield name, part
    finally:
        for worker in workers:
            worker.stop()


def _finished(
    workers: Sequence[_Worker],
    answers: queue.Queue[tuple[_Worker, Any]],
    timeout: float | None,
) -> Iterator[tuple[_Worker, ReportPart]]:
    """Those that have an answer, were lost, or took too long."""
    try:
        worker, answer = answers.get(timeout=0.2)
        if worker in workers and worker.kernel:
            if answer is None:
                worker.stop()
                part = _unchecked(worker.kernel, f"its process ended early{worker.ending()}")
            else:
                part, worker.is_full = answer
            yield worker, part
            return
    except queue.Empty:
        pass
    for worker in list(workers):
        if timeout is not None and worker.kernel and worker.seconds() > timeout:
            worker.stop()
            yield (
                worker,
                _unchecked(
                    worker.kernel,
                    f"it took more than {timeout:g} s (--timeout-per-kernel); state smaller "
                    "arguments or a smaller grid in --args",
                ),
            )


def _unchecked(name: str, problem: str) -> ReportPart:
    return ReportPart(kernels=(KernelRecord(name=name, problem=problem),))


class _Worker:
    """A process that checks one kernel after the other."""

    def __init__(self, task: Task, jobs: int, answers: queue.Queue[tuple[_Worker, Any]]) -> None:
        environment = dict(os.environ)
        environment["ASSAY_WORKERS"] = str(max(1, default_workers() // jobs))
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
        self._process = subprocess.Popen(
            [sys.executable, "-c", _WORKER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
        )
        assert self._process.stdin is not None
        self._input: IO[bytes] = self._process.stdin
        self.kernel = ""
        self.is_gone = False
        self.is_full = False  # of memory
        self._since = time.monotonic()
        _send(self._input, task)
        threading.Thread(target=self._listen, args=(answers,), daemon=True).start()

    def _listen(self, answers: queue.Queue[tuple[_Worker, Any]]) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as output:
            while (answer := _receive(output)) is not None:
                answers.put((self, answer))
        answers.put((self, None))

    def give(self, kernel: str) -> None:
        """Let it check a kernel; "" is the end of its work."""
        self.kernel = kernel
        self._since = time.monotonic()
        try:
            _send(self._input, kernel)
        except OSError:
            return  # it has ended, which the listener tells

    def seconds(self) -> float:
        """Since it was given its kernel."""
        return time.monotonic() - self._since

    def stop(self) -> None:
        """End it at once."""
        self.is_gone = True
        self._process.kill()
        self._process.wait()
        with contextlib.suppress(OSError):  # what it did not read any more
            self._input.close()

    def ending(self) -> str:
        """How it ended, if that says anything."""
        code = self._process.returncode
        return f" (exit code {code}): there may be too little memory" if code else ""


def work() -> None:
    """What a process does: take a task and kernels from stdin, write what was found to stdout."""
    # What else is printed must not stand between the answers.
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    given = sys.stdin.buffer
    task: Task = _receive(given)
    try:
        checked: SourceCheck | Exception = SourceCheck(task.source, task.file_name, task.options)
    except Exception as error:  # the caller compiled it before: the cache or a file has gone
        checked = error
    # What is there now stays, and what is made of a kernel is large: looking for garbage pays less.
    gc.freeze()
    gc.set_threshold(_GARBAGE)
    while name := _receive(given):
        _send(output, (_part(checked, name, task), _memory() > _MOST_MEMORY))


def _part(checked: SourceCheck | Exception, name: str, task: Task) -> ReportPart:
    """What is found in one kernel; an internal error is the problem of that kernel."""
    try:
        if isinstance(checked, Exception):
            raise checked
        return checked.part(name, task.checks, task.seeds)
    except CheckInputError as error:
        return _unchecked(name, str(error))
    except Exception as error:
        if os.environ.get("ASSAY_DEBUG"):
            import traceback

            traceback.print_exception(error)
        return _unchecked(name, f"internal error ({type(error).__name__}: {error})")


def _memory() -> int:
    """Bytes that this process takes; the most that it ever took, where there is no /proc."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return pages * resource.getpagesize()


def _send(stream: IO[bytes], value: object) -> None:
    send(stream, pickle.dumps(value))


def _receive(stream: IO[bytes]) -> Any:
    """The next message; None at the end."""
    data = receive(stream)
    return None if data is None else pickle.loads(data)
