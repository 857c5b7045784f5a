"""What the NPU's units do when, by the costs that the emulated device has, too."""

from __future__ import annotations

from collections.abc import Iterator

from ..blocks import BURST
from ..target import target
from .steps import LoadCode, RunSlice, Start, unit_of

_WORDS = {"XR": 18, "XW": 17, "SLC0": 7, "SLC1": 7}
"""Command words of a start with its waits."""
_TRANSFERS = ("XR", "XW")


def words_of(step: Start) -> int:
    """Command words of a step; the NSS takes a cycle for each."""
    transfers = 1 if isinstance(step, RunSlice | LoadCode) else len(step.moves)
    return _WORDS[unit_of(step)] * transfers


def cycles_of(step: Start) -> int:
    """How long a step takes if it has the path to DRAM for itself."""
    if isinstance(step, RunSlice):
        return step.cycles
    if isinstance(step, LoadCode):
        return transfer_cycles(step.run.code_bytes)
    return sum(transfer_cycles(move.size) for move in step.moves)


def transfer_cycles(size: int) -> int:
    """How long a transfer of so many bytes takes if it has the path to DRAM for itself."""
    machine = target()
    return machine.dma_start + machine.dma_cycles(size, BURST)


class Units:
    """Who works on what; transfers in both directions share the path to DRAM.

    Attributes:
        now: the time in cycles.
        busy: cycles of work by unit.
        moving, computing, both: cycles in which a transfer is under way, a slice runs, both.
    """

    def __init__(self) -> None:
        self.now = 0
        self.busy: dict[str, int] = {}
        self.moving = self.computing = self.both = 0
        self._work: dict[str, tuple[int, int]] = {}
        """By unit the number of a step, and twice the cycles that are left of it."""

    @property
    def are_idle(self) -> bool:
        """Whether nobody does anything."""
        return not self._work

    def is_busy(self, unit: str) -> bool:
        """Whether a unit does something."""
        return unit in self._work

    def start(self, unit: str, number: int, cycles: int) -> None:
        """A unit begins with a step."""
        self._work[unit] = number, 2 * max(1, cycles)

    def next_end(self) -> int:
        """When the next step will be done."""
        return self.now + min(
            -(-left // self._rate(unit)) for unit, (_, left) in self._work.items()
        )

    def advance(self, time: int) -> Iterator[int]:
        """Goes on up to a time; gives the steps that are done then."""
        while self._work and self.now < time:
            until = min(time, self.next_end())
            self._count(until - self.now)
            rates = {unit: self._rate(unit) for unit in self._work}
            for unit, (number, left) in list(self._work.items()):
                left -= rates[unit] * (until - self.now)
                self._work[unit] = number, left
                if left <= 0:
                    del self._work[unit]
                    yield number
            self.now = until
        self.now = max(self.now, time)

    def _count(self, cycles: int) -> None:
        moving = any(unit in _TRANSFERS for unit in self._work)
        computing = any(unit not in _TRANSFERS for unit in self._work)
        self.moving += moving * cycles
        self.computing += computing * cycles
        self.both += (moving and computing) * cycles
        for unit in self._work:
            self.busy[unit] = self.busy.get(unit, 0) + cycles

    def _rate(self, unit: str) -> int:
        shared = all(channel in self._work for channel in _TRANSFERS)
        return 1 if shared and unit in _TRANSFERS else 2
