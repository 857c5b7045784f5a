"""Who observes what programs do with devices, whichever driver they call.

A program is checked inside of `checking`, timed inside of `timing`. Drivers ask here who observes
when work is submitted, and again on the thread that does the work; they tell each observer and
timer what it can be told: each driver declares a protocol of its own, and objects that implement it
hear from that driver. Nothing is known here of any machine.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from assay.sim.check import Checker

T = TypeVar("T")
H = TypeVar("H", bound=Callable[..., object])


@dataclass(frozen=True, slots=True, eq=False)
class Watch:
    """What work is submitted under: the checker, and all who want to know."""

    checker: Checker
    observers: tuple[object, ...]
    ends: dict[Callable[[Watch], None], None] = field(default_factory=dict)

    def at_end(self, end: Callable[[Watch], None]) -> None:
        """Call `end` once when the block that checks is left."""
        self.ends[end] = None

    def of(self, kind: type[T]) -> Iterator[T]:
        """The observers that implement a driver's protocol, the outermost block's first."""
        for observer in self.observers:
            if isinstance(observer, kind):
                yield observer


_watches: list[Watch] = []
_timers: list[object] = []
_lock = threading.Lock()


@contextmanager
def checking(checker: Checker, *, observer: object | None = None) -> Iterator[Checker]:
    """Check all work that any thread submits meanwhile, to any device; findings go to `checker`.

    Work that was submitted meanwhile is checked to its end, even if that comes after the block's:
    wait for it before looking at the findings. Of blocks inside one another the innermost has the
    checker that counts; the observers of all of them are called.
    """
    with _lock:
        outer = _watches[-1].observers if _watches else ()
        watch = Watch(checker, outer if observer is None else (*outer, observer))
        _watches.append(watch)
    try:
        yield checker
    finally:
        with _lock:
            _watches.remove(watch)
        for end in tuple(watch.ends):
            end(watch)


def current_watch() -> Watch | None:
    """The innermost block that is open, on whichever thread it was opened."""
    if not _watches:
        return None
    with _lock:
        return _watches[-1] if _watches else None


def unseen(handler: H) -> H:
    """Mark a handler of a driver's own: the program learns nothing when it is called."""
    handler.is_unseen = True  # type: ignore[attr-defined]
    return handler


def tells_program(handler: Callable[..., object]) -> bool:
    """Whether the program learns from a handler that what it was added to has happened."""
    return not getattr(handler, "is_unseen", False)


@contextmanager
def timing(*timers: object) -> Iterator[None]:
    """Tell `timers` of all work that any thread submits meanwhile.

    A timer hears from the drivers whose protocol it implements; of nested blocks the innermost
    counts, for each protocol. Work that was submitted meanwhile is timed to its end, even if that
    comes after the block's: wait for it before looking at the times.
    """
    with _lock:
        _timers.extend(timers)
    try:
        yield
    finally:
        with _lock:
            for timer in timers:
                _timers.remove(timer)


def current_timer(kind: type[T]) -> T | None:
    """The timer of the innermost block that hears from a driver, by the driver's protocol."""
    with _lock:
        return next((timer for timer in reversed(_timers) if isinstance(timer, kind)), None)


class _Thread(threading.local):
    """What the work that this thread does was submitted under."""

    watch: Watch | None = None
    timer: object | None = None


_thread = _Thread()


@contextmanager
def under(watch: Watch | None, timer: object | None = None) -> Iterator[None]:
    """Work that this thread does meanwhile belongs to `watch` and `timer`."""
    outer = _thread.watch, _thread.timer
    _thread.watch, _thread.timer = watch, timer
    try:
        yield
    finally:
        _thread.watch, _thread.timer = outer


def watch_of_work() -> Watch | None:
    """The watch of the work that this thread does."""
    return _thread.watch


def timer_of_work(kind: type[T]) -> T | None:
    """The timer of the work that this thread does, if it implements a driver's protocol."""
    timer = _thread.timer
    return timer if isinstance(timer, kind) else None
