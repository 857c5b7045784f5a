"""What one tick of a trace is: a cycle of a named clock, a nanosecond, a picosecond."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from .errors import TraceError

CYCLE = "cycle"
UNITS = {CYCLE: None, "ns": 1_000_000_000, "ps": 1_000_000_000_000}
"""Units of a tick, and how many make a second where the unit itself says so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """The clock that all times of a trace are counted on.

    Attributes:
        name: whose clock it is, for people ("M4 Max GPU").
        unit: "cycle", "ns" or "ps".
        hz: ticks per second; for "ns" and "ps" it follows from the unit. Raises TraceError when
            it does not agree, is missing for cycles, or is not positive.
    """

    name: str
    unit: str
    hz: int

    def __post_init__(self) -> None:
        if self.unit not in UNITS:
            known = ", ".join(UNITS)
            raise TraceError(f"clock {self.name!r}: unit {self.unit!r}; there are {known}")
        expected = UNITS[self.unit]
        if expected is not None and self.hz != expected:
            raise TraceError(
                f"clock {self.name!r}: {self.hz} ticks per second in {self.unit}; it is {expected}"
            )
        if self.hz <= 0:
            raise TraceError(f"clock {self.name!r}: {self.hz} Hz; a frequency is above zero")

    @classmethod
    def cycles(cls, name: str, hz: int) -> Clock:
        """A clock whose tick is one cycle at `hz`."""
        return cls(name=name, unit=CYCLE, hz=hz)

    @classmethod
    def nanoseconds(cls, name: str = "time") -> Clock:
        """A clock whose tick is a nanosecond."""
        return cls(name=name, unit="ns", hz=1_000_000_000)

    @classmethod
    def picoseconds(cls, name: str = "time") -> Clock:
        """A clock whose tick is a picosecond: for machines with several clocks."""
        return cls(name=name, unit="ps", hz=1_000_000_000_000)

    def seconds(self, ticks: int) -> float:
        """How long `ticks` take, in seconds, rounded once."""
        return float(Fraction(ticks, self.hz))

    def ticks(self, seconds: float) -> int:
        """The tick nearest to a number of seconds."""
        return round(Fraction(seconds) * self.hz)

    def text(self, ticks: int) -> str:
        """A duration for people: ticks with thousands, and the true time beside cycles."""
        if self.unit == CYCLE:
            return f"{ticks:,} cycles ({time_text(self.seconds(ticks))})"
        return time_text(self.seconds(ticks))

    def __str__(self) -> str:
        if self.unit == CYCLE:
            return f"cycles of {self.name} at {frequency_text(self.hz)}"
        return f"{self.unit} of {self.name}"


def frequency_text(hz: int) -> str:
    """A frequency in the unit that reads best."""
    for scale, unit in ((10**9, "GHz"), (10**6, "MHz"), (10**3, "kHz")):
        if hz >= scale:
            return f"{hz / scale:.6g} {unit}"
    return f"{hz} Hz"


def time_text(seconds: float) -> str:
    """A time in the unit that reads best, four digits."""
    if seconds == 0:
        return "0 s"
    for scale, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")):
        if seconds >= scale:
            return f"{seconds / scale:.4g} {unit}"
    return f"{seconds / 1e-12:.4g} ps"
