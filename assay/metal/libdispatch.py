"""What compute scripts take from `libdispatch`: data, queues, semaphores."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Final, NoReturn

from .foundation import NSData

__all__ = [
    "DISPATCH_QUEUE_SERIAL",
    "DISPATCH_TIME_FOREVER",
    "DISPATCH_TIME_NOW",
    "dispatch_data_create",
    "dispatch_get_global_queue",
    "dispatch_queue_create",
    "dispatch_semaphore_create",
    "dispatch_semaphore_signal",
    "dispatch_semaphore_wait",
    "dispatch_time",
]

DISPATCH_QUEUE_SERIAL = None
DISPATCH_TIME_NOW: Final = 0
DISPATCH_TIME_FOREVER: Final = (1 << 64) - 1
_NANOSECONDS: Final = 1_000_000_000


class DispatchQueue:
    """Where handlers are said to run; they run on threads of the emulated device."""

    def __init__(self, label: str):
        self.label = label


def dispatch_data_create(
    data: Any, size: int, _queue: object, _destructor: Callable[..., object] | None
) -> NSData:
    """A copy of the first `size` bytes."""
    return NSData.dataWithBytes_length_(data, size)


def dispatch_queue_create(label: bytes | str | None, _attributes: object) -> DispatchQueue:
    """A queue of this name."""
    return DispatchQueue(label.decode() if isinstance(label, bytes) else label or "")


def dispatch_get_global_queue(_quality: int, _flags: int) -> DispatchQueue:
    """The queue that all callers share."""
    return DispatchQueue("com.apple.root.default-qos")


def dispatch_time(_when: int, nanoseconds: int) -> int:
    """So long from now on, as dispatch_semaphore_wait takes it."""
    return nanoseconds


def dispatch_semaphore_create(value: int) -> threading.Semaphore:
    """A semaphore that lets `value` waiters pass."""
    return threading.Semaphore(value)


def dispatch_semaphore_signal(semaphore: threading.Semaphore) -> int:
    """Let one more pass."""
    semaphore.release()
    return 0


def dispatch_semaphore_wait(semaphore: threading.Semaphore, timeout: int) -> int:
    """Wait to pass for up to `timeout` nanoseconds; 0 if passed, else not 0."""
    if timeout == DISPATCH_TIME_FOREVER:
        semaphore.acquire()
        return 0
    return int(not semaphore.acquire(timeout=timeout / _NANOSECONDS))


def __getattr__(name: str) -> NoReturn:
    raise AttributeError(
        f"the stand-in for libdispatch has no {name!r}; it has {', '.join(sorted(__all__))}"
    )
