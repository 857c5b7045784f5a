"""Runs a specialised kernel over a grid, on all cores, with results that do not depend on them."""

from __future__ import annotations

import functools
import itertools
import math
import os
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..check.checker import Checker
from . import context as c
from .facts import MAX_THREADGROUPS
from .fault_report import explain_fault
from .memory import Memory
from .observation import Observation, observers_of
from .pool import Pool, stopped_at_exit
from .program import Executable
from .shape import LANES, Shape
from .watch_report import report_findings

Size = tuple[int, int, int]
DEFAULT_FUEL = 1 << 34  # IR instructions of one simdgroup; some ten seconds at the least
_CHUNKS_PER_WORKER = 8
_INLINE_SIMDGROUPS = 8
# Watched dispatches up to this size run in order, so that their findings have the same examples.
_ORDERED_SIMDGROUPS = 1 << 12
_ALIGNMENT = 64
_NO_FUEL_IS_ENOUGH = (1 << 63) - 1


class DispatchError(ValueError):
    """A dispatch that the engine cannot start: sizes or arguments do not fit the kernel."""


@dataclass(frozen=True, slots=True)
class Box:
    """Threadgroups of one shape: `origin` and `extent` in threadgroups."""

    executable: Executable
    origin: Size
    extent: Size

    @property
    def count(self) -> int:
        """Threadgroups in the box."""
        return self.extent[0] * self.extent[1] * self.extent[2]


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
    ordering: int | None = None,
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
        ordering: dispatches with the same number, one after the other, are checked as if they ran
            at the same time; None is ordered after all before.

    Raises:
        KernelFault: if the kernel accessed memory that is not there, or did not end.
        DispatchError: if the arguments or sizes do not fit.
    """
    program = executable.program
    if len(arguments) != len(program.parameters):
        raise DispatchError(
            f"kernel {program.name!r} takes {len(program.parameters)} arguments, "
            f"{len(arguments)} given"
        )
    observers = observers_of(checker)
    if observers != executable.observers:
        executable = program.specialise_shape(executable.shape, observers)
    boxes, groups, grid = _boxes(executable, threads, threadgroups)
    if fuel is None:
        fuel = _number("ASSAY_FUEL") or DEFAULT_FUEL
    if workers is None:
        workers = default_workers()
    if program.needs.serial:
        workers = 1
    run = _Run(memory, arguments, groups, grid, fuel)
    if checker is not None and observers:
        total = math.prod(groups)
        if total * executable.shape.simdgroups <= _ORDERED_SIMDGROUPS or checker.seed is not None:
            workers = 1
        run.observation = Observation(checker, memory, arguments, executable, total, ordering)
    try:
        for box in boxes:
            if box.count:
                run.box(box, workers)
    finally:
        if run.observation is not None:
            report_findings(run.observation, boxes, groups)


def default_workers() -> int:
    """Threads that a dispatch uses if not told."""
    chosen = _number("ASSAY_WORKERS")
    if chosen is not None:
        return max(1, chosen)
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1


def _number(variable: str) -> int | None:
    """The number in an environment variable; None if it is not set or empty."""
    text = os.environ.get(variable, "")
    if not text:
        return None
    try:
        return int(text)
    except ValueError:
        raise DispatchError(f"{variable} is {text!r}; expected a whole number") from None


def _boxes(
    executable: Executable, threads: Size | None, threadgroups: Size | None
) -> tuple[list[Box], Size, Size]:
    """(boxes of equal shapes, threadgroups per grid, threads per grid)."""
    size = executable.shape.size
    if (threads is None) == (threadgroups is None):
        raise DispatchError("give either 'threads' or 'threadgroups'")
    if threadgroups is not None:
        _check_grid(threadgroups, size)
        x, y, z = (g * s for g, s in zip(threadgroups, size, strict=True))
        return [Box(executable, (0, 0, 0), threadgroups)], threadgroups, (x, y, z)
    assert threads is not None
    spans = []
    for total, step in zip(threads, size, strict=True):
        whole, rest = divmod(total, step)
        spans.append([(0, whole, step), (whole, 1, rest)] if rest else [(0, whole, step)])
    gx, gy, gz = (sum(count for _, count, _ in span) for span in spans)
    _check_grid((gx, gy, gz), size)
    boxes = []
    for (x, nx, sx), (y, ny, sy), (z, nz, sz) in itertools.product(*spans):
        if nx * ny * nz:
            shape = Shape(size=(sx, sy, sz), nominal=size)
            shaped = executable.program.specialise_shape(shape, executable.observers)
            boxes.append(Box(shaped, (x, y, z), (nx, ny, nz)))
    return boxes, (gx, gy, gz), threads


def _check_grid(groups: Size, size: Size) -> None:
    for axis, count, step in zip("xyz", groups, size, strict=True):
        if count < 0 or count >= MAX_THREADGROUPS or count * step >= 1 << 31:
            raise DispatchError(
                f"{count} threadgroups of {step} threads in {axis}; at most "
                f"{MAX_THREADGROUPS - 1} threadgroups and {(1 << 31) - 1} threads are possible"
            )


@functools.cache
def _pool(workers: int) -> Pool:
    return Pool(workers)


class _Run:
    """One dispatch."""

    def __init__(
        self,
        memory: Memory,
        arguments: Sequence[int],
        groups: Size,
        grid: Size,
        fuel: int,
    ) -> None:
        self.memory = memory
        self.arguments = arguments
        self.groups = groups
        self.grid = grid
        self.fuel = fuel
        self.observation: Observation | None = None

    def box(self, box: Box, workers: int) -> None:
        """Run the threadgroups of one box."""
        simdgroups = box.count * box.executable.shape.simdgroups
        workers = min(workers, box.count)
        if workers <= 1 or simdgroups <= _INLINE_SIMDGROUPS:
            worker = _Worker(self, box)
            with stopped_at_exit(worker):
                failed = box.executable.run(worker.address, 0, box.count)
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
        self.workers: list[_Worker] = []
        self.failed: list[tuple[int, _Worker]] = []
        self._next = 0
        self._limit = total
        self._lock = threading.Lock()

    def _chunks(self, worker: _Worker) -> Iterator[int]:
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
        worker = _Worker(run, box)
        with self._lock:
            self.workers.append(worker)
        with stopped_at_exit(worker):
            for first in self._chunks(worker):
                count = min(self.step, self.total - first)
                if box.executable.run(worker.address, first, count):
                    self._fail(first, worker)
                    return

    def _fail(self, first: int, worker: _Worker) -> None:
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


def _aligned(size: int) -> NDArray[np.uint8]:
    raw = np.zeros(size + _ALIGNMENT, np.uint8)
    start = -raw.ctypes.data % _ALIGNMENT
    return raw[start : start + size]


class _Worker:
    """The memory that one thread runs threadgroups with, laid out as `context` says."""

    def __init__(self, run: _Run, box: Box) -> None:
        self.box = box
        self.run_ = run
        self.chunk = 0
        executable = box.executable
        program = executable.program
        needs = program.needs
        self.arguments, arena = self._place_arguments(program.parameters, run, needs)
        simdgroups = executable.shape.simdgroups if executable.has_barriers else 1
        private = executable.private_memory * LANES * simdgroups
        shadows = 2 if "init" in executable.observers else 1
        sizes = {
            "context": c.CONTEXT_SIZE,
            "arguments": max(1, len(self.arguments)) * c.ARGUMENT_STRIDE,
            "scratch": c.SCRATCH_SIZE,
            "fault": c.FAULT_SIZE,
            "stop": 4,
            "arena": arena,
            "arena_shadow": arena if shadows == 2 else 0,
            "private": private * shadows,
            "states": executable.state_size * simdgroups,
            "constants": len(executable.constants),
        }
        places, total = {}, 0
        for name, size in sizes.items():
            places[name] = total
            total += -(-max(size, 1) // _ALIGNMENT) * _ALIGNMENT
        self.memory = _aligned(total)
        base = self.memory.ctypes.data
        self.at = {name: base + place for name, place in places.items()}
        self.address = self.at["context"]
        self._view = {
            name: self.memory[places[name] : places[name] + size] for name, size in sizes.items()
        }
        self._stop = self._view["stop"].view(np.int32)
        self._floor = self._view["context"].view(np.int64)[c.FLOOR // 8 :]
        self._fill(executable, arena)

    def _place_arguments(
        self, parameters: Sequence[object], run: _Run, needs: object
    ) -> tuple[list[tuple[int, int, int]], int]:
        """((host address or arena offset, bytes, GPU address) of each argument, arena size)."""
        program = self.box.executable.program
        arena = self.box.executable.threadgroup_memory
        placed = []
        for parameter, value in zip(program.parameters, run.arguments, strict=True):
            if parameter.kind == "threadgroup":
                start = -(-arena // 16) * 16
                arena = start + value
                placed.append((-1 - start, value, (c.THREADGROUP_HANDLE << c.HANDLE_SHIFT) + start))
            else:
                host, available = run.memory.resolve(value)
                placed.append((host, available, value))
        return placed, arena

    def _fill(self, executable: Executable, arena: int) -> None:
        constants = executable.constants
        self._view["constants"][:] = np.frombuffer(constants, np.uint8)
        table = self._view["arguments"].view(np.uint64).reshape(-1, c.ARGUMENT_STRIDE // 8)
        for row, (host, available, address) in zip(table, self.arguments, strict=False):
            row[0] = self.at["arena"] + (-1 - host) if host < 0 else host
            row[1], row[2] = available, address
        context = self._view["context"]
        wide = context.view(np.int64)
        for offset, value in (
            (c.TABLE, self.run_.memory.table.ctypes.data),
            (c.ARGUMENTS, self.at["arguments"]),
            (c.ARENA, self.at["arena"]),
            (c.PRIVATE, self.at["private"]),
            (c.SCRATCH, self.at["scratch"]),
            (c.FAULT, self.at["fault"]),
            (c.STOP, self.at["stop"]),
            (c.STATES, self.at["states"]),
            (c.STATE_STRIDE, executable.state_size),
            (c.FUEL, self.run_.fuel),
            (c.CONSTANTS, self.at["constants"]),
            (c.ARENA_SIZE, arena),
            (c.CONSTANTS_SIZE, len(constants)),
            (c.PRIVATE_SIZE, executable.private_memory),
            (c.PRIVATE_ALL, self.at["private"]),
            (c.GRID_THREADS, math.prod(self.run_.grid)),
        ):
            wide[offset // 8] = value
        narrow = context.view(np.int32)
        if self.run_.observation is not None:
            self._attach(self.run_.observation, arena, wide, narrow)
        for offset, triple in (
            (c.THREADGROUPS, self.run_.groups),
            (c.THREADS, self.run_.grid),
            (c.ORIGIN, self.box.origin),
            (c.BOX, self.box.extent),
        ):
            narrow[offset // 4 : offset // 4 + 3] = triple

    def _attach(
        self,
        observation: Observation,
        arena: int,
        wide: NDArray[np.int64],
        narrow: NDArray[np.int32],
    ) -> None:
        """Give the kernel its observers."""
        self.watch = observation.start(self.box.executable, arena, self.box.count)
        wide[c.WATCH // 8] = self.watch.address
        wide[c.ORDER // 8] = self.watch.order.ctypes.data
        wide[c.ARENA_SHADOW // 8] = self.at["arena_shadow"]
        wide[c.SHADOWS // 8] = observation.uninitialised.table.ctypes.data
        wide[c.READ_ONLY // 8] = self.run_.memory.read_only.ctypes.data
        narrow[c.FILL // 4] = observation.fill
        table = self._view["arguments"].view(np.uint64).reshape(-1, c.ARGUMENT_STRIDE // 8)
        for row, (_, _, address) in zip(table, self.arguments, strict=False):
            row[c.ARGUMENT_WATCHED // 8] = observation.shadows.watched(address >> c.HANDLE_SHIFT)

    def stop(self) -> None:
        """End at the next threadgroup, or as if out of fuel at the end of a loop's round."""
        self._stop[0] = 1
        self._floor[0] = _NO_FUEL_IS_ENOUGH

    def fault(self, memory: Memory) -> Exception:
        """The fault that this worker's kernel left behind."""
        return explain_fault(
            self.box.executable,
            memory,
            self.arguments,
            self._view["fault"].view(np.int32),
            int(self._view["fault"].view(np.int64)[4]),
        )
