"""Processes that do one piece of work after the other, each stopped when it takes too long."""

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
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Generic, TypeVar

from assay.sim.native.messages import receive, send
from assay.sim.simt.run.settings import default_workers

Work = TypeVar("Work")
_Answers = queue.Queue[tuple["Worker[Any]", Any]]

# LLVM's optimiser keeps some of what it takes, a few megabytes of a large kernel: a process that
# has come to so many bytes is followed by a new one.
MOST_MEMORY = 1 << 30
_GARBAGE = 200_000  # objects between two looks for garbage in cycles


@dataclass(frozen=True, slots=True)
class Lost:
    """Why there is no answer: `is_late` if it took too long, else the process ended."""

    is_late: bool
    ending: str = ""


def done_by_processes(
    code: str, task: object, work: Sequence[Work], *, jobs: int, timeout: float | None
) -> Iterator[tuple[Work, Any]]:
    """Have pieces of work done; each with its answer or `Lost`, in the order in which they end.

    Args:
        code: what a process runs, which calls `serve`.
        task: what each process is told first.
        work: the pieces.
        jobs: how many processes are at work at a time.
        timeout: seconds that a piece may take, None for any number.
    """
    waiting = deque(work)
    answers: _Answers = queue.Queue()
    workers: list[Worker[Work]] = []

    def begin() -> None:
        workers.append(Worker(code, task, jobs, answers))
        workers[-1].give(waiting.popleft())

    try:
        for _ in range(min(jobs, len(work))):
            begin()
        while any(worker.is_busy for worker in workers):
            for worker, answer in _finished(workers, answers, timeout):
                (done,) = worker.work
                if worker.is_full and waiting:
                    worker.stop()
                if worker.is_gone:
                    workers.remove(worker)
                    if waiting:
                        begin()
                elif waiting:
                    worker.give(waiting.popleft())
                else:
                    worker.dismiss()
                yield done, answer
    finally:
        for worker in workers:
            worker.stop()


def _finished(
    workers: Sequence[Worker[Work]], answers: _Answers, timeout: float | None
) -> Iterator[tuple[Worker[Work], Any]]:
    """Those that have an answer, were lost, or took too long."""
    try:
        worker, answer = answers.get(timeout=0.2)
        if worker in workers and worker.is_busy:
            if answer is None:
                worker.stop()
                yield worker, Lost(is_late=False, ending=worker.ending())
            else:
                found, worker.is_full = answer
                yield worker, found
            return
    except queue.Empty:
        pass
    for worker in list(workers):
        if timeout is not None and worker.is_busy and worker.seconds() > timeout:
            worker.stop()
            yield worker, Lost(is_late=True)


class Worker(Generic[Work]):
    """A process that does one piece of work after the other."""

    def __init__(self, code: str, task: object, jobs: int, answers: _Answers) -> None:
        environment = dict(os.environ)
        environment["ASSAY_WORKERS"] = str(max(1, default_workers() // jobs))
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
        self._process = subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
        )
        assert self._process.stdin is not None
        self._input: IO[bytes] = self._process.stdin
        self.work: tuple[Work, ...] = ()  # one at most
        self.is_gone = False
        self.is_full = False  # of memory
        self._since = time.monotonic()
        with contextlib.suppress(OSError):  # it has ended, which the listener tells
            _send(self._input, task)
        threading.Thread(target=self._listen, args=(answers,), daemon=True).start()

    def _listen(self, answers: _Answers) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as output:
            while (answer := _receive(output)) is not None:
                answers.put((self, answer))
        answers.put((self, None))

    @property
    def is_busy(self) -> bool:
        """Whether it has work."""
        return bool(self.work)

    def give(self, work: Work) -> None:
        """Let it do something."""
        self.work = (work,)
        self._since = time.monotonic()
        self._tell(work)

    def dismiss(self) -> None:
        """There is no more work."""
        self.work = ()
        self._tell(None)

    def _tell(self, what: object) -> None:
        with contextlib.suppress(OSError):  # it has ended, which the listener tells
            _send(self._input, (what,))

    def seconds(self) -> float:
        """Since it was given its work."""
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


def serve(begin: Callable[[Any], Callable[[Any], Any]]) -> None:
    """What a process does: take a task and work from stdin, write answers to stdout.

    Args:
        begin: what to do with the task; gives what to do with each piece of work. It raises
            nothing.
    """
    # What else is printed must not stand between the answers.
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    given = sys.stdin.buffer
    do = begin(_receive(given))
    # What is there now stays, and what is made of a kernel is large: looking for garbage pays less.
    gc.freeze()
    gc.set_threshold(_GARBAGE)
    while (work := _receive(given)) is not None and work[0] is not None:
        _send(output, (do(work[0]), _memory() > MOST_MEMORY))


def internal_error(error: Exception) -> str:
    """What to say of a mistake of ours; with ASSAY_DEBUG set, its traceback is on stderr."""
    if os.environ.get("ASSAY_DEBUG"):
        import traceback

        traceback.print_exception(error)
    return f"internal error ({type(error).__name__}: {error})"


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
