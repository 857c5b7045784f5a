"""What is being recorded: which dispatches, into which file."""

from __future__ import annotations

import fnmatch
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...recordings import DispatchRecord, RecordingWriter
from .encoded import EncodedPlaces

if TYPE_CHECKING:
    from .commands import Queue
    from .device import Device


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """Which dispatches are kept.

    Attributes:
        kernels: patterns of names; all if there is none.
        every: each so-manieth of a kernel.
        limit: at most so many; None for no limit.
    """

    kernels: Sequence[str] = ()
    every: int = 1
    limit: int | None = None


class Session:
    """One recording.

    Attributes:
        api: the Metal API that runs all.
        writer: the file.
        encoded: argument buffers.
        queues: all queues that programs made.
        alone: held while something runs that waits for nothing of other queues.
    """

    def __init__(self, api: Any, writer: RecordingWriter, chosen: Chosen | None = None) -> None:
        self.api = api
        self.writer = writer
        self.encoded = EncodedPlaces()
        self.queues: list[Queue] = []
        self.alone = threading.RLock()
        self._chosen = chosen or Chosen()
        self._seen: dict[str, int] = {}
        self._taken = 0  # those that were chosen, though they may not be in the file yet
        self._devices: list[Device] = []
        self._lock = threading.RLock()

    def device_of(self, real: Any) -> Device:
        """The object that stands for a device, always the same."""
        from .device import Device

        with self._lock:
            for device in self._devices:
                if device.real is real or device.real == real:
                    return device
            self._devices.append(Device(real, self))
            return self._devices[-1]

    def chooses(self, kernel: str) -> bool:
        """Whether the next dispatch of a kernel is kept."""
        chosen = self._chosen
        with self._lock:
            count = self._seen[kernel] = self._seen.get(kernel, 0) + 1
            if chosen.kernels and not any(fnmatch.fnmatch(kernel, one) for one in chosen.kernels):
                self.writer.leave_out("kernels that were not asked for")
            elif (count - 1) % chosen.every:
                self.writer.leave_out("dispatches between those of --every")
            elif chosen.limit is not None and self._taken >= chosen.limit:
                self.writer.leave_out("dispatches beyond --limit")
            else:
                self._taken += 1
                return True
            return False

    def leave_out(self, reason: str) -> None:
        """A dispatch that was chosen cannot be kept."""
        with self._lock:
            self._taken -= 1
        self.writer.leave_out(reason)

    def keep(self, record: DispatchRecord) -> None:
        """A dispatch has run."""
        self.writer.add_dispatch(record)

    def finish(self, seconds: float | None = None) -> bool:
        """Let run what was committed, for at most so long, and close the file.

        Whether all of it ran.
        """
        threads = [threading.Thread(target=queue.shutdown, daemon=True) for queue in self.queues]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(seconds)
        self.writer.close()
        return not any(thread.is_alive() for thread in threads)
