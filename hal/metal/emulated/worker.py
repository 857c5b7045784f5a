"""Threads that do one thing after another, and the latches that others wait at.

Threads are daemons: a queue that waits for an event nobody will signal does not keep the process
alive. At exit, threads that are inside a kernel get a moment to come out.
"""

import atexit
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from typing import Final

# Waits wake up this often, so that Ctrl-C is seen where a lock does not notice signals.
_PATIENCE_S: Final = 0.2
# At exit, LLVM must not be left in the middle of its work; a kernel may well be.
_COMPILING_GRACE_S: Final = 30.0
_RUNNING_GRACE_S: Final = 1.0

Task = Callable[[], None]

# Threads that run a kernel now, and threads that compile one; set operations are atomic.
running: set[int] = set()
compiling: set[int] = set()
closing = threading.Event()


@contextmanager
def at_work(group: set[int]) -> Iterator[None]:
    """Count the calling thread among `group` meanwhile."""
    thread = threading.get_ident()
    group.add(thread)
    try:
        yield
    finally:
        group.discard(thread)


def is_busy() -> bool:
    """Whether any thread runs or compiles a kernel now."""
    return bool(running or compiling)


class SerialThread:
    """Runs tasks in order on a thread of its own, which starts with the first task."""

    def __init__(self, name: str):
        self._name = name
        self._tasks: SimpleQueue[Task | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()
        finalizer = weakref.finalize(self, self._tasks.put, None)
        finalizer.atexit = False

    def submit(self, task: Task) -> None:
        """Run `task` after those submitted before it."""
        self._tasks.put(task)
        if self._thread is None:
            self._start()

    def _start(self) -> None:
        with self._starting:
            if self._thread is None:
                thread = threading.Thread(
                    target=_work, args=(self._tasks,), name=self._name, daemon=True
                )
                # Before it starts: its first task may ask is_current.
                self._thread = thread
                thread.start()

    def is_current(self) -> bool:
        """Whether the caller runs on this thread."""
        return self._thread is threading.current_thread()


class Latch:
    """Opens once; waiting is cheap and can be interrupted."""

    __slots__ = ("_lock", "is_open")

    def __init__(self) -> None:
        self.is_open = False
        self._lock = threading.Lock()
        self._lock.acquire()

    def open(self) -> None:
        """Let all waiters through, for good."""
        self.is_open = True
        self._lock.release()

    def wait(self) -> None:
        """Return once the latch is open."""
        while not self.is_open:
            if self._lock.acquire(timeout=_PATIENCE_S):
                self._lock.release()


def wait_for(condition: threading.Condition, reached: Callable[[], bool], limit_s: float) -> bool:
    """Wait at `condition`, held by the caller, until `reached()` or `limit_s` is over."""
    end = time.monotonic() + limit_s
    while not reached():
        remaining = end - time.monotonic()
        if remaining <= 0:
            return False
        condition.wait(min(remaining, _PATIENCE_S))
    return True


def run_handler(handler: Callable[..., None], *arguments: object) -> None:
    """Call a user's handler; what it raises is reported as threads report it, and stops nothing."""
    try:
        handler(*arguments)
    except Exception as error:
        threading.excepthook(
            threading.ExceptHookArgs(
                (type(error), error, error.__traceback__, threading.current_thread())
            )
        )


def _work(tasks: "SimpleQueue[Task | None]") -> None:
    while (task := tasks.get()) is not None:
        task()
        # Or the last task would keep its buffers alive until the next one.
        del task


@atexit.register
def _let_kernels_finish() -> None:
    closing.set()
    for group, grace in ((compiling, _COMPILING_GRACE_S), (running, _RUNNING_GRACE_S)):
        end = time.monotonic() + grace
        while group and time.monotonic() < end:
            time.sleep(0.005)
