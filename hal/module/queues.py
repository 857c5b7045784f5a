"""The order of a run's work: in each device's queue one after the other, between them by fences."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue

from ..buffer import Buffer
from ..device import BufferRef, Copy, Device, Update
from ..semaphore import Fence
from ..status import StatusError


class Lane:
    """The work of one run on one device, each piece after the one before."""

    def __init__(self, device: Device) -> None:
        self.device = device
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

    def copy(self, source: Buffer, target: Buffer, length: int) -> None:
        """A copy inside of the device's memory."""
        command = Copy(BufferRef(source, 0, 0, length), BufferRef(target, 0, 0, length))

        def start(wait: Fence | None) -> Fence:
            done = Fence(((self.device.create_semaphore(0, private=True), 1),))
            self.device.queue_transfer(wait, done, command)
            return done

        self.submit(start)


class Bridge:
    """Carries what one device has reached to another, which cannot wait for it by itself.

    A thread waits and signals, so that the host's program need not; it is started when first
    needed, and ends with `close`.
    """

    def __init__(self) -> None:
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None

    def carry(self, source: Fence | None, target: Lane) -> None:
        """What `target` is given from here on waits for `source`, a fence of another device."""
        arrived = _fence(target.device)

        def job() -> None:
            if source is not None:
                source.wait()
            arrived.signal()

        self._start(job, arrived)
        target.wait_for(arrived)

    def copy(self, source: Lane, data: Buffer, target: Lane, place: Buffer, length: int) -> None:
        """A copy from one device's memory to another's, in the order of both."""
        ready, done, before = source.last, _fence(target.device), target.last

        def job() -> None:
            if ready is not None:
                ready.wait()
            update = Update(bytes(data.read(0, length)), BufferRef(place, 0, 0, length))
            target.device.queue_transfer(before, done, update)

        self._start(job, done)
        target.wait_for(done)
        # The source must not be written again before it is read.
        self.carry(done, source)

    def close(self) -> None:
        """Ends the thread once its jobs are done."""
        thread, self._thread = self._thread, None
        if thread is not None:
            self._jobs.put(None)
            thread.join()

    def _start(self, job: Callable[[], None], fence: Fence) -> None:
        def guarded() -> None:
            try:
                job()
            except StatusError as error:
                fence.fail(error)

        self._jobs.put(guarded)
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="assay-bridge", daemon=True)
            self._thread.start()

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()


def _fence(device: Device) -> Fence:
    """A fence that somebody outside of the device's own work signals."""
    return Fence(((device.create_semaphore(0), 1),))
