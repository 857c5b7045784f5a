"""Timeline semaphores of devices that work when what they wait for is reached."""

from __future__ import annotations

import threading
from collections.abc import Callable

from ..semaphore import Semaphore
from ..status import StatusError

_LONGEST_MS = 1 << 40


class HostSemaphore(Semaphore):
    """A number under a lock; `changed` is called, outside of it, whenever it grows or fails."""

    def __init__(self, initial: int, *, private: bool, changed: Callable[[], None]) -> None:
        self._value = initial
        self._private = private
        self._changed = changed
        self._error: StatusError | None = None
        self._condition = threading.Condition()
        self.promised = initial
        """The largest value that submitted work will signal."""

    def query(self) -> int:
        """The value reached."""
        if self._error is not None:
            raise StatusError(self._error.status, self._error.message)
        return self._value

    def signal(self, value: int) -> None:
        """Reach a value."""
        with self._condition:
            if value <= self._value:
                return
            self._value = value
            self._condition.notify_all()
        self._changed()

    def fail(self, error: StatusError) -> None:
        """Fail for good."""
        with self._condition:
            if self._error is None:
                self._error = error
            self._condition.notify_all()
        self._changed()

    def wait(self, value: int, timeout_ms: int) -> bool:
        """Block until a value is reached; False after the time."""
        seconds = None if timeout_ms > _LONGEST_MS else timeout_ms / 1000
        with self._condition:
            reached = self._condition.wait_for(
                lambda: self._error is not None or self._value >= value, seconds
            )
        return reached and self.query() >= value

    def unreachable(self, value: int) -> bool:
        """Whether nothing that was submitted will reach the value, nor anyone else."""
        return self._private and self._error is None and max(self._value, self.promised) < value
