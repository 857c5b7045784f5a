"""Semaphores whose value only grows: what queues, fences and events of devices are made of."""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import count

from simpy.events import Event

from .environment import Environment


class Semaphore:
    """A number that is signalled upwards; processes wait until it has reached a value."""

    def __init__(self, environment: Environment, name: str = "", value: int = 0) -> None:
        self.name = name
        self._environment = environment
        self._value = value
        self._order = count()
        self._waiting: list[tuple[int, int, Event]] = []

    @property
    def value(self) -> int:
        """What was signalled last."""
        return self._value

    @property
    def waiting(self) -> tuple[int, ...]:
        """Values that processes wait for, ascending; a run that ends with some is stuck."""
        return tuple(sorted(value for value, _, _ in self._waiting))

    def wait(self, value: int) -> Event:
        """An event that happens once the semaphore is at `value` or beyond."""
        event = Event(self._environment)
        if self._value >= value:
            event.succeed(self._value)
        else:
            heappush(self._waiting, (value, next(self._order), event))
        return event

    def signal(self, value: int) -> None:
        """Raise the semaphore to `value`. Raises ValueError if it is there already."""
        if value <= self._value:
            raise ValueError(
                f"semaphore {self.name!r} is at {self._value} and cannot be signalled to {value}"
            )
        self._value = value
        while self._waiting and self._waiting[0][0] <= value:
            heappop(self._waiting)[2].succeed(value)
