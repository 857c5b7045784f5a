"""Hands threadgroups of one grid or of several out to threads."""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from .pool import Pool, stopped_at_exit
from .worker import Launch, Worker

if TYPE_CHECKING:
    from .boxes import Box

_CHUNKS_PER_WORKER: Final = 8
_INLINE_SIMDGROUPS: Final = 8
# Seconds of work for which one more thread is woken: it takes some 0.05 ms until that helps.
_WORTH_A_THREAD: Final = 200e-6


@dataclass(frozen=True, slots=True)
class Part:
    """Threadgroups of one shape, and the launch that they belong to."""

    launch: Launch
    box: Box

    @property
    def is_small(self) -> bool:
        """Whether one thread runs it all."""
        return self.box.count * self.box.executable.shape.simdgroups <= _INLINE_SIMDGROUPS

    def step(self, threads: int) -> int:
        """How many threadgroups a thread takes at once."""
        count = self.box.count
        return count if self.is_small else max(1, count // (threads * _CHUNKS_PER_WORKER))


@dataclass(frozen=True, slots=True)
class Failure:
    """The first fault in the order of parts and of threadgroups."""

    number: int
    """Of the part."""
    worker: Worker

    def fault(self) -> Exception:
        """What the kernel did, to be raised."""
        return self.worker.fault(self.worker.run_.memory)


def run_parts(parts: Sequence[Part], workers: int) -> Failure | None:
    """Run all threadgroups, those of several parts perhaps at the same time.

    After a fault nothing behind it is begun, and all before it has run to its end. A result does
    not depend on the number of `workers` if no threadgroup writes what another one accesses.
    """
    if workers > 1:
        threads = _threads(parts, workers)
        if threads > 1:
            return _Board(parts, threads).run()
    is_timed = len(parts) > 1
    for number, part in enumerate(parts):
        worker = Worker(part.launch, part.box)
        with stopped_at_exit(worker):
            if is_timed:
                failed = _timed(worker, 0, part.box.count)
            else:
                failed = worker.run(0, part.box.count)
        if failed:
            return Failure(number, worker)
    return None


def _threads(parts: Sequence[Part], workers: int) -> int:
    """How many threads are worth their while, the calling one among them."""
    if len(parts) == 1 and parts[0].is_small:
        return 1
    steps = [part.step(workers) for part in parts]
    chunks = [-(-part.box.count // step) for part, step in zip(parts, steps, strict=True)]
    if max(chunks) > 1:
        return min(workers, sum(chunks))
    # Each part is small: what they take together is known since they ran last.
    seconds = [part.box.executable.seconds * part.box.count for part in parts]
    return min(workers, len(parts), 1 + int((sum(seconds) - max(seconds)) / _WORTH_A_THREAD))


def _timed(worker: Worker, first: int, count: int) -> int:
    """Run threadgroups, and note what each of them takes."""
    start = time.perf_counter()
    failed = worker.run(first, count)
    worker.box.executable.note_seconds((time.perf_counter() - start) / count)
    return failed


@functools.cache
def _pool(workers: int) -> Pool:
    return Pool(workers)


_Place = tuple[int, int]
"""(number of a part, first threadgroup of a chunk in it)."""


class _Hand:
    """What one thread is at."""

    def __init__(self) -> None:
        self.place: _Place = (0, 0)
        self.worker: Worker | None = None


class _Board:
    """Hands out chunks in order. After a fault, the chunks before it still run to their end,
    so that the first fault in the order of parts and grids is the one reported.
    """

    def __init__(self, parts: Sequence[Part], threads: int) -> None:
        self._parts = parts
        self._threads = threads
        self._steps = [part.step(threads) for part in parts]
        self._hands: list[_Hand] = []
        self._failed: list[tuple[_Place, Worker]] = []
        self._next: _Place = (0, 0)
        self._limit: _Place = (len(parts), 0)
        self._lock = threading.Lock()

    def run(self) -> Failure | None:
        """The calling thread works too: what is small is done before the others wake up."""
        helpers = self._threads - 1
        futures: list[Future[None]] = [_pool(helpers).submit(self._work) for _ in range(helpers)]
        try:
            self._work()
            for future in futures:
                if not future.cancel():
                    future.result()
        except BaseException:
            self._stop_all()
            for future in futures:
                if not future.cancel():
                    future.exception()
            raise
        if not self._failed:
            return None
        place, worker = min(self._failed, key=lambda pair: pair[0])
        return Failure(place[0], worker)

    def _take(self, hand: _Hand) -> bool:
        """Give a thread its next chunk; False if none is left."""
        with self._lock:
            if self._next >= self._limit:
                return False
            number, first = hand.place = self._next
            first += self._steps[number]
            at_end = first >= self._parts[number].box.count
            self._next = (number + 1, 0) if at_end else (number, first)
            return True

    def _work(self) -> None:
        """What each thread does."""
        hand = _Hand()
        with self._lock:
            self._hands.append(hand)
        taken = self._take(hand)
        while taken:
            number = hand.place[0]
            worker = Worker(self._parts[number].launch, self._parts[number].box)
            with self._lock:
                hand.worker = worker
                if hand.place >= self._limit:
                    return
            with stopped_at_exit(worker):
                while taken and hand.place[0] == number:
                    if self._run_chunk(hand.place, worker):
                        self._fail(hand.place, worker)
                        return
                    taken = self._take(hand)

    def _run_chunk(self, place: _Place, worker: Worker) -> int:
        number, first = place
        count = min(self._steps[number], self._parts[number].box.count - first)
        return _timed(worker, first, count)

    def _fail(self, place: _Place, worker: Worker) -> None:
        with self._lock:
            self._failed.append((place, worker))
            self._limit = min(self._limit, place)
            for other in self._hands:
                if other.worker is not None and other.place > place:
                    other.worker.stop()

    def _stop_all(self) -> None:
        """Make all threads end soon."""
        with self._lock:
            self._limit = (0, 0)
            for hand in self._hands:
                if hand.worker is not None:
                    hand.worker.stop()
