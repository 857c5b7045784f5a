"""What the rows launch, without predicting it: a dispatch for each kernel."""

from __future__ import annotations

from collections.abc import Iterator

from assay.hw.apple.core.result import DispatchTime

from .harness import chosen
from .launches import Launch
from .machine import Machine, Tapes


class _Launched(Exception):
    """A row has come to its first dispatch."""


class _Asked(Machine):
    """A chip that predicts nothing."""

    def __init__(self, name: str) -> None:
        super().__init__(name, Tapes())
        self.launch: Launch | None = None

    def sibling(self, name: str) -> Machine:
        return self

    def time(self, launch: Launch) -> DispatchTime:
        self.launch = launch
        raise _Launched


def launched() -> Iterator[Launch]:
    """The first dispatch of a row with each kernel, by name."""
    found: dict[str, Launch] = {}
    for case in chosen(quick=False):
        if case.predict is None:
            continue
        asked = _Asked(case.chip)
        try:
            case.predict(asked)
        except _Launched:
            assert asked.launch is not None
            found.setdefault(asked.launch.kernel, asked.launch)
    yield from (found[name] for name in sorted(found))
