"""Loops of a slice program and whole-number expressions of their counters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from assay.hw.torq.words.commands import Dim

FLAT = "A"
"""Tag of a loop over output pixels of a plane, row after row."""
KERNEL_ROW = "J"
KERNEL_COLUMN = "I"
PLAIN = "O"


@dataclass(frozen=True, slots=True, eq=False)
class Loop:
    """One loop: its counter goes from 0 to `count` - 1. Arithmetic with it makes an `Index`.

    A loop over the taps of a kernel may be several loops of the data agent, which are then in
    `data`, innermost first; they move the data by themselves, in so many `transfers`.
    """

    count: int
    tag: str = PLAIN
    data: tuple[Dim, ...] = ()
    transfers: int = 0

    def __mul__(self, factor: int) -> Index:
        return Index({self: factor})

    __rmul__ = __mul__

    def __add__(self, other: Index | Loop | int) -> Index:
        return Index({self: 1}) + other

    __radd__ = __add__


@dataclass(frozen=True, slots=True)
class Index:
    """A sum of loop counters times constants, plus a constant."""

    terms: Mapping[Loop, int] = field(default_factory=lambda: MappingProxyType({}))
    constant: int = 0

    def __add__(self, other: Index | Loop | int) -> Index:
        added = index(other)
        terms = dict(self.terms)
        for loop, factor in added.terms.items():
            terms[loop] = terms.get(loop, 0) + factor
        return Index(terms, self.constant + added.constant)

    __radd__ = __add__

    def __mul__(self, factor: int) -> Index:
        return Index({loop: n * factor for loop, n in self.terms.items()}, self.constant * factor)

    __rmul__ = __mul__


def index(value: Index | Loop | int) -> Index:
    """Any of the three as an `Index`."""
    if isinstance(value, Index):
        return value
    return Index({value: 1}) if isinstance(value, Loop) else Index({}, value)
