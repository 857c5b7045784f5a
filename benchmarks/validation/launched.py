"""What the rows launch, without predicting it: a dispatch for each kernel."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from assay.hw.apple.core.result import DispatchTime

from .harness import chosen
from .launches import Launch
from .machine import Machine, Tapes


class _WholeAsked(Exception):
    """A row asks for more of a dispatch than its time."""


class _Asked(Machine):
    """A chip that predicts nothing: it keeps what it is asked for, and each time is later."""

    def __init__(self, name: str, found: dict[str, Launch]) -> None:
        super().__init__(name, Tapes())
        self._found = found
        self._times = count(1)

    def sibling(self, name: str) -> Machine:
        return self

    def seconds(self, launch: Launch) -> float:
        self._found.setdefault(launch.kernel, launch)
        return float(next(self._times))

    def cycles(self, launch: Launch) -> float:
        return self.seconds(launch)

    def time(self, launch: Launch) -> DispatchTime:
        self.seconds(launch)
        raise _WholeAsked


def launched() -> Iterator[Launch]:
    """The first dispatch with each kernel, by name."""
    found: dict[str, Launch] = {}
    for case in chosen(quick=False):
        if case.predict is None:
            continue
        try:
            case.predict(_Asked(case.chip, found))
        except _WholeAsked:
            continue
    yield from (found[name] for name in sorted(found))
