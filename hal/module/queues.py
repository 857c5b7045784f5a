"""The order of a run's work: in each device's queue one after the other, between them by fences."""

from __future__ import annotations

import functools
import threading
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from queue import SimpleQueue

from ..buffer import Buffer
from ..device import BufferRef, CommandBuffer, Copy, Device
from ..semaphore import Fence
from ..status import StatusError
from .memory import Growing
from .order import Order, Piece


class Lane:
    """The work of one run on one device, each piece after the one before."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.order: Order | None = None
        """Told of what is submitted, if somebody checks that."""
        self.scratch = Growing(device)
        """Memory that kernels use one after the other, and nobody else."""
        self._last: Fence | None = None

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

    A thread waits and signals, so that the host's program need not; it is started when first
    needed, and ends with `close`, or when nobody knows the bridge any more.
    """

    def __init__(self) -> None:
        self.order: Order | None = None
        """Told of copies, if somebody checks that."""
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        weakref.finalize(self, self._jobs.put, None).atexit = False

    def carry(self, source: Fence | None, target: Lane) -> None:
        """What `target` is given from here on waits for `source`, a fence of another device."""
        arrived = outside_fence(target.device)
        self._start(Job(waits=(source,), reaches=arrived))
        target.wait_for(arrived)

    def copy(self, source: Lane, data: Buffer, target: Lane, place: Buffer, length: int) -> None:
        """A copy from one device's memory to another's, in the order of both.

        The host does it, to whom both are visible: submitted from here, it would stand behind work
        in the target's queue that waits for it.
        """
        done = outside_fence(target.device)
        work = CopyWork(data.subspan(0, length), place.subspan(0, length))
        self._start(Job(waits=(source.last, target.last), reaches=done, copy=work))
        target.wait_for(done)
        # The source must not be written again before it is read.
        self.carry(done, source)

    def close(self) -> None:
        """Ends the thread once its jobs are done."""
        thread, self._thread = self._thread, None
        if thread is not None:
            self._jobs.put(None)
            thread.join()

    def _start(self, job: Job) -> None:
        if self.order is not None:
            self.order.note(job.piece())
        self._jobs.put(job.do)
        if self._thread is None:
            work = functools.partial(_work, self._jobs)  # which does not know the bridge
            self._thread = threading.Thread(target=work, name="assay-bridge", daemon=True)
            self._thread.start()


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


def _work(jobs: SimpleQueue[Callable[[], None] | None]) -> None:
    while (job := jobs.get()) is not None:
        job()


def outside_fence(device: Device) -> Fence:
    """A fence that somebody outside of the device's own work signals."""
    return Fence(((device.create_semaphore(0), 1),))
