"""The order of a run's work: in each device's queue one after the other, between them by fences."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Final

from ..buffer import Buffer
from ..device import BufferRef, CommandBuffer, Copy, Device
from ..semaphore import Fence
from ..status import StatusError
from .memory import Growing
from .order import Order, Piece

_MOST_THREADS: Final = 16
"""Of a bridge; beyond that jobs wait for each other, in the order in which they can end."""


class Lane:
    """The work of one run on one device, each piece after the one before."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.order: Order | None = None
        """Told of what is submitted, if somebody checks that."""
        self.scratch = Growing(device)
        """Memory that kernels use one after the other, and nobody else."""
        self._last: Fence | None = None
        self._copied: list[tuple[Buffer, Fence]] = []
        """What is being copied to other devices, and the fences of the copies' ends."""

    def submit(self, start: Callable[[Fence | None], Fence | None]) -> None:
        """Starts work after all that was submitted before; `start` gives the fence of its end."""
        done = start(self._last)
        if done is not None:
            self._last = done

    @property
    def last(self) -> Fence | None:
        """Reached when all that was submitted is done; None if there was nothing."""
        return self._last

    def wait_for(self, fence: Fence) -> None:
        """What is submitted from here on waits for a fence of this device's, too."""
        self._last = Fence.join([self._last, fence])

    def keep(self, source: Buffer, copied: Fence) -> None:
        """Memory that must not be written before a fence is reached."""
        self._copied = [pair for pair in self._copied if not _is_over(pair[1])]
        self._copied.append((source, copied))

    def overwrites(self, places: Iterable[Buffer]) -> None:
        """What is submitted next writes these: it waits until what is copied from there is."""
        if not self._copied:
            return
        written = list(places)
        waited = [pair for pair in self._copied if any(meet(pair[0], each) for each in written)]
        for source, copied in waited:
            self.wait_for(copied)
            self._copied.remove((source, copied))

    def ended(self) -> None:
        """All devices have done everything, copies too."""
        self._copied.clear()

    def finish(self) -> None:
        """Blocks until everything is done. Raises the StatusError of what failed."""
        last, self._last = self._last, None
        if last is not None:
            last.wait()
            if self.order is not None:
                self.order.host_waited(last)

    def execute(self, commands: CommandBuffer) -> None:
        """Commands that were recorded before."""
        done = Fence(((self.device.create_semaphore(0, private=True), 1),))
        self.device.queue_execute(self._last, done, commands)
        self._last = done

    def copy(self, source: Buffer, target: Buffer, length: int) -> None:
        """A copy inside of the device's memory."""
        self.overwrites([target])
        command = Copy(BufferRef(source, 0, 0, length), BufferRef(target, 0, 0, length))
        done = Fence(((self.device.create_semaphore(0, private=True), 1),))
        self.device.queue_transfer(self._last, done, command)
        self.note("a copy", [source], [target], self._last, done)
        self._last = done

    def note(
        self,
        what: str,
        reads: Sequence[Buffer],
        writes: Sequence[Buffer],
        wait: Fence | None,
        done: Fence | None,
    ) -> None:
        """Tells a check of work that the device was given."""
        if self.order is not None:
            self.order.note(
                Piece(what=what, reads=reads, writes=writes, waits=(wait,), reaches=done)
            )


class Bridge:
    """Carries what one device has reached to another, which cannot wait for it by itself.

    Threads wait, copy and signal, so that the host's program need not. There are as many as there
    are jobs at a time: what one waits for holds up no other, nor does what a device begins when it
    is signalled. They are started when first needed, and end with `close`, or when nobody knows the
    bridge any more.
    """

    def __init__(self) -> None:
        self.order: Order | None = None
        """Told of copies, if somebody checks that."""
        self._workers = _Workers()
        weakref.finalize(self, self._workers.stop).atexit = False

    def carry(self, source: Fence | None, target: Lane) -> None:
        """What `target` is given from here on waits for `source`, a fence of another device."""
        arrived = outside_fence(target.device)
        self._start(Job(waits=(source,), reaches=arrived))
        target.wait_for(arrived)

    def copy(self, source: Lane, data: Buffer, target: Lane, place: Buffer, length: int) -> None:
        """A copy from one device's memory to another's, in the order of both.

        The host does it, to whom both are visible: submitted from here, it would stand behind work
        in the target's queue that waits for it. The source's device goes on meanwhile, with what
        does not write what is copied.
        """
        data, place = data.subspan(0, length), place.subspan(0, length)
        target.overwrites([place])
        done, free = outside_fence(target.device), outside_fence(source.device)
        reaches = Fence((*done.points, *free.points))
        waits = (source.last, target.last)
        self._start(Job(waits=waits, reaches=reaches, copy=CopyWork(data, place)))
        target.wait_for(done)
        source.keep(data, free)

    def close(self) -> None:
        """Ends the threads once their jobs are done."""
        for thread in self._workers.stop():
            thread.join()

    def _start(self, job: Job) -> None:
        if self.order is not None:
            self.order.note(job.piece())
        self._workers.start(job)


class _Workers:
    """Threads that take jobs in turn; they do not know the bridge."""

    def __init__(self) -> None:
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._open = 0
        """Jobs that are not done."""

    def start(self, job: Job) -> None:
        """Has a job done, by a new thread if all others may be at work."""
        with self._lock:
            self._open += 1
            is_short = len(self._threads) < min(self._open, _MOST_THREADS)
        self._jobs.put(job)
        if is_short:
            thread = threading.Thread(target=self._work, name="assay-bridge", daemon=True)
            self._threads.append(thread)
            thread.start()

    def stop(self) -> list[threading.Thread]:
        """Lets the threads end behind the jobs that are there; which these are."""
        threads, self._threads = self._threads, []
        for _ in threads:
            self._jobs.put(None)
        return threads

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            job.do()
            del job  # or it would keep its memory until the next one
            with self._lock:
                self._open -= 1


@dataclass(frozen=True, slots=True)
class CopyWork:
    """Bytes from one place to another one of the same length."""

    source: Buffer
    target: Buffer


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """What the thread waits for, copies, and signals then."""

    waits: Sequence[Fence | None]
    reaches: Fence
    copy: CopyWork | None = None

    def do(self) -> None:
        """All of it; what fails is told to those who wait."""
        try:
            for fence in self.waits:
                if fence is not None:
                    fence.wait()
            if self.copy is not None:
                self.copy.target.write(0, bytes(self.copy.source.read(0, self.copy.target.length)))
            self.reaches.signal()
        except StatusError as error:
            self.reaches.fail(error)

    def piece(self) -> Piece:
        """The same for a check."""
        copied = self.copy
        return Piece(
            what="a copy between devices" if copied is not None else "the host's signal",
            reads=() if copied is None else (copied.source,),
            writes=() if copied is None else (copied.target,),
            waits=self.waits,
            reaches=self.reaches,
        )


def _is_over(fence: Fence) -> bool:
    """Whether nobody need wait for a fence any more: it is reached, or failed."""
    try:
        return fence.reached()
    except StatusError:
        return True


def meet(one: Buffer, other: Buffer) -> bool:
    """Whether two ranges have a byte in common."""
    return (
        one.storage is other.storage
        and one.offset < other.offset + other.length
        and other.offset < one.offset + one.length
    )


def outside_fence(device: Device) -> Fence:
    """A fence that somebody outside of the device's own work signals."""
    return Fence(((device.create_semaphore(0), 1),))
