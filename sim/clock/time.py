"""Simulated time: integer ticks of a picosecond, and the clocks whose edges fall on them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

TICKS_PER_SECOND: Final = 10**12
"""A tick is a picosecond: below the period of every clock, and years fit 64 bits."""


def ticks_of(seconds: Fraction | int | float) -> int:
    """The ticks nearest to a length of time in seconds; a float is taken for what it exactly is.

    Raises ValueError for a negative or endless time.
    """
    try:
        exact = Fraction(seconds)
    except (OverflowError, ValueError):
        raise ValueError(f"{seconds} s is no length of time") from None
    if exact < 0:
        raise ValueError(f"{seconds} s is no length of time: it is negative")
    return round(exact * TICKS_PER_SECOND)


def seconds_of(ticks: int) -> float:
    """Seconds that `ticks` last."""
    return ticks / TICKS_PER_SECOND


@dataclass(frozen=True, slots=True)
class ClockDomain:
    """A clock whose edge 0 is at tick 0; `hz` is its frequency.

    Each edge is rounded to the nearest tick by itself, so that nothing drifts: cycle 10**9 of a
    1.398 GHz clock is where it should be, to half a tick.
    """

    name: str
    hz: int

    def __post_init__(self) -> None:
        if not 0 < self.hz <= TICKS_PER_SECOND:
            raise ValueError(
                f"clock {self.name!r}: {self.hz} Hz; a frequency is 1 to {TICKS_PER_SECOND} Hz"
            )

    def edge(self, cycle: int) -> int:
        """The tick of the edge that begins `cycle`."""
        return (2 * cycle * TICKS_PER_SECOND + self.hz) // (2 * self.hz)

    def cycle(self, tick: int) -> int:
        """The cycle that `tick` lies in; `cycle(edge(n)) == n` for all n."""
        near = tick * self.hz // TICKS_PER_SECOND
        while self.edge(near) > tick:
            near -= 1
        while self.edge(near + 1) <= tick:
            near += 1
        return near

    def ticks(self, cycles: int, *, now: int = 0) -> int:
        """Ticks from `now`, an edge, until `cycles` edges later."""
        return self.edge(self.cycle(now) + cycles) - now

    def next_edge(self, tick: int) -> int:
        """The first edge at or after `tick`."""
        cycle = self.cycle(tick)
        edge = self.edge(cycle)
        return edge if edge == tick else self.edge(cycle + 1)
