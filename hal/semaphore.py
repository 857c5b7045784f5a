"""Timeline semaphores and fences: how host and device work is ordered."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from time import monotonic
from typing import ClassVar

from .status import StatusError


class Semaphore(ABC):
    """A number that only grows; work waits until it is reached, or until it fails."""

    type_name: ClassVar[str] = "hal.semaphore"

    @abstractmethod
    def query(self) -> int:
        """The value reached. Raises the failure's StatusError if it failed."""

    @abstractmethod
    def signal(self, value: int) -> None:
        """Reach a value from the host."""

    @abstractmethod
    def fail(self, error: StatusError) -> None:
        """Fail for good: waiters wake and get the error."""

    @abstractmethod
    def wait(self, value: int, timeout_ms: int) -> bool:
        """Block until a value is reached; False after the time. Raises the failure's error."""

    @abstractmethod
    def unreachable(self, value: int) -> bool:
        """Whether nothing that was submitted will ever reach the value, nor anyone else."""


class Fence:
    """A set of points on semaphores' timelines, reached when all of them are."""

    type_name: ClassVar[str] = "hal.fence"
    __slots__ = ("points",)

    def __init__(self, points: Iterable[tuple[Semaphore, int]]) -> None:
        self.points = tuple(points)

    @staticmethod
    def join(fences: Iterable[Fence | None]) -> Fence | None:
        """One fence for several; the latest point counts per semaphore. None if none is given."""
        latest: dict[int, tuple[Semaphore, int]] = {}
        for fence in fences:
            for semaphore, value in fence.points if fence is not None else ():
                known = latest.get(id(semaphore))
                if known is None or known[1] < value:
                    latest[id(semaphore)] = (semaphore, value)
        return Fence(latest.values()) if latest else None

    def reached(self) -> bool:
        """Whether every point is reached. Raises StatusError if a semaphore failed."""
        return all(semaphore.query() >= value for semaphore, value in self.points)

    def unreachable(self) -> bool:
        """Whether waiting for it would never end."""
        return any(semaphore.unreachable(value) for semaphore, value in self.points)

    def signal(self) -> None:
        """Reach every point from the host."""
        for semaphore, value in self.points:
            semaphore.signal(value)

    def fail(self, error: StatusError) -> None:
        """Fail every semaphore."""
        for semaphore, _ in self.points:
            semaphore.fail(error)

    def wait(self, timeout_ms: int | None = None) -> bool:
        """Block until reached; False if that took longer than the milliseconds (None: forever)."""
        if timeout_ms is None:
            return all(semaphore.wait(value, _FOREVER) for semaphore, value in self.points)
        deadline = monotonic() + timeout_ms / 1000
        for semaphore, value in self.points:
            if not semaphore.wait(value, max(0, round(1000 * (deadline - monotonic())))):
                return False
        return True


_FOREVER = 0xFFFFFFFFFFFFFFFF
