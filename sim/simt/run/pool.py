"""Threads that run kernels, none of which keeps the process from ending."""

from __future__ import annotations

import atexit
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from queue import SimpleQueue
from typing import Final, Protocol

# At exit kernels are asked to stop, which they do at the end of a loop's round.
_GRACE_S: Final = 1.0

_Task = tuple["Future[None]", Callable[[], None]]


class Pool:
    """So many daemon threads that take tasks in order.

    The executors of the standard library wait at exit for what runs, and a kernel may run long.
    """

    def __init__(self, threads: int) -> None:
        self._tasks: SimpleQueue[_Task] = SimpleQueue()
        for number in range(threads):
            threading.Thread(
                target=_work, args=(self._tasks,), name=f"assay-simt-{number}", daemon=True
            ).start()

    def submit(self, task: Callable[[], None]) -> Future[None]:
        """Run `task` on some thread."""
        future: Future[None] = Future()
        self._tasks.put((future, task))
        return future


def _work(tasks: SimpleQueue[_Task]) -> None:
    while True:
        future, task = tasks.get()
        if future.set_running_or_notify_cancel():
            try:
                task()
            except BaseException as error:
                future.set_exception(error)
            else:
                future.set_result(None)
        # Or the last task would keep its buffers alive until the next one.
        del future, task


class Stoppable(Protocol):
    """Something that runs a kernel."""

    def stop(self) -> None:
        """Make the kernel come out soon; from any thread."""


_running: set[Stoppable] = set()
_lock = threading.Lock()
_closing = threading.Event()


@contextmanager
def stopped_at_exit(worker: Stoppable) -> Iterator[None]:
    """Stop `worker` if the process ends meanwhile."""
    with _lock:
        _running.add(worker)
    try:
        if _closing.is_set():
            worker.stop()
        yield
    finally:
        with _lock:
            _running.discard(worker)


@atexit.register
def _stop_all() -> None:
    _closing.set()
    with _lock:
        for worker in _running:
            worker.stop()
    end = time.monotonic() + _GRACE_S
    while _running and time.monotonic() < end:
        time.sleep(0.005)
