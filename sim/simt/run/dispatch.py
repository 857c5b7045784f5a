"""Runs a specialised kernel over a grid, on all cores, with results that do not depend on them."""

from __future__ import annotations

import functools
import math
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future

from ...check.checker import Checker
from ..ir.faults import KernelFault
from .accesses import AccessLog
from .boxes import Box, Size, boxes_of, check_arguments
from .executable import Executable
from .memory import Memory
from .observation import Observation
from .pool import Pool, stopped_at_exit
from .settings import chosen_fuel, default_workers
from .watch_report import report_findings
from .worker import Launch, Worker

_CHUNKS_PER_WORKER = 8
_INLINE_SIMDGROUPS = 8
# Watched dispatches up to this size run in order, so that their findings have the same examples.
_ORDERED_SIMDGROUPS = 1 << 12


def dispatch(
    executable: Executable,
    memory: Memory,
    arguments: Sequence[int],
    threads: Size | None = None,
    threadgroups: Size | None = None,
    *,
    workers: int | None = None,
    fuel: int | None = None,
    checker: Checker | None = None,
    accesses: AccessLog | None = None,
) -> None:
    """Run a kernel to its end.

    Args:
        executable: the kernel for its threadgroup size.
        memory: the device's buffers.
        arguments: for each parameter the GPU address of a buffer (0: none bound), or the byte
            length of a threadgroup argument.
        threads: grid in threads; threadgroups at the edges are smaller if it is no multiple.
        threadgroups: grid in threadgroups. Exactly one of the two is given.
        workers: threads to use; `ASSAY_WORKERS` or the number of cores if None.
        fuel: IR instructions that a simdgroup may run; `ASSAY_FUEL` or 2**34 if None.
        checker: what the kernel is checked for while it runs; findings are reported to it.
        accesses: takes which bytes of buffers the kernel touched, if races are checked.

    Raises:
        KernelFault: if the kernel accessed memory that is not there, or did not end.
        DispatchError: if the arguments or sizes do not fit.
    """
    check_arguments(executable.program, arguments)
    observers = checker.observers if checker is not None else frozenset()
    if observers != executable.observers:
        executable = executable.program.specialise_shape(executable.shape, observers)
    boxes, groups, grid = boxes_of(executable, threads, threadgroups)
    if workers is None:
        workers = default_workers()
    if executable.program.needs.serial:
        workers = 1
    run = _Run(memory, arguments, groups, grid, chosen_fuel(fuel))
    if checker is not None and observers:
        total = math.prod(groups)
        if total * executable.shape.simdgroups <= _ORDERED_SIMDGROUPS or checker.seed is not None:
            workers = 1
        run.observation = Observation(checker, memory, arguments, executable, accesses)
    try:
        if run.is_done(boxes, workers):
            return
        # One by one, so that the fault that is reported is the first one in the grid's order.
        run.all_of(boxes_of(executable, threads, threadgroups, packed=False)[0], workers)
    finally:
        if run.observation is not None:
            report_findings(run.observation, boxes, groups)
            if accesses is not None:
                accesses.take(run.observation, executable)


@functools.cache
def _pool(workers: int) -> Pool:
    return Pool(workers)


class _Run(Launch):
    """One dispatch."""

    def is_done(self, boxes: Sequence[Box], workers: int) -> bool:
        """Run all boxes; whether no threadgroup of those that ran together ended in a fault."""
        try:
            self.all_of(boxes, workers)
        except KernelFault:
            if all(box.executable.packs == 1 for box in boxes):
                raise
            return False
        return True

    def all_of(self, boxes: Sequence[Box], workers: int) -> None:
        """Run the threadgroups of all boxes."""
        for box in boxes:
            if box.count:
                self.box(box, workers)

    def box(self, box: Box, workers: int) -> None:
        """Run the threadgroups of one box."""
        simdgroups = box.count * box.executable.shape.simdgroups
        workers = min(workers, box.count)
        if workers <= 1 or simdgroups <= _INLINE_SIMDGROUPS:
            worker = Worker(self, box)
            with stopped_at_exit(worker):
                failed = worker.run(0, box.count)
            if failed:
                raise worker.fault(self.memory)
            return
        self._share(box, workers)

    def _share(self, box: Box, count: int) -> None:
        """The calling thread works too: what is small is done before the others wake up."""
        step = max(1, box.count // (count * _CHUNKS_PER_WORKER))
        board = _Board(box.count, step)
        futures: list[Future[None]] = [
            _pool(count - 1).submit(functools.partial(board.work, self, box))
            for _ in range(count - 1)
        ]
        try:
            board.work(self, box)
            for future in futures:
                if not future.cancel():
                    future.result()
        except BaseException:
            board.stop_all()
            for future in futures:
                if not future.cancel():
                    future.exception()
            raise
        if board.failed:
            _, worker = min(board.failed, key=lambda pair: pair[0])
            raise worker.fault(self.memory)


class _Board:
    """Hands out chunks in order. After a fault, the chunks before it still run to their end,
    so that the first fault in grid order is the one reported."""

    def __init__(self, total: int, step: int) -> None:
        self.total = total
        self.step = step
        self.workers: list[Worker] = []
        self.failed: list[tuple[int, Worker]] = []
        self._next = 0
        self._limit = total
        self._lock = threading.Lock()

    def _chunks(self, worker: Worker) -> Iterator[int]:
        while True:
            with self._lock:
                first = self._next
                if first >= self._limit:
                    return
                self._next = first + self.step
                worker.chunk = first
            yield first

    def work(self, run: _Run, box: Box) -> None:
        """What each thread does."""
        worker = Worker(run, box)
        with self._lock:
            self.workers.append(worker)
        with stopped_at_exit(worker):
            for first in self._chunks(worker):
                count = min(self.step, self.total - first)
                if worker.run(first, count):
                    self._fail(first, worker)
                    return

    def _fail(self, first: int, worker: Worker) -> None:
        with self._lock:
            self.failed.append((first, worker))
            self._limit = min(self._limit, first)
            for other in self.workers:
                if other.chunk > first:
                    other.stop()

    def stop_all(self) -> None:
        """Make all workers end soon."""
        with self._lock:
            self._limit = 0
            for worker in self.workers:
                worker.stop()
