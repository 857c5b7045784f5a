"""A uniform value plus a pattern over the lanes, as a record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ..ir.llvm_types import bits
from ..ir.nodes import Constant, Value
from ..ir.shape import LANES

Pattern = tuple[int, ...]
ZEROS: Pattern = (0,) * LANES
IOTA: Pattern = tuple(range(LANES))


@dataclass(frozen=True, slots=True)
class Guard:
    """A condition under which a form holds: extending `form` from its type did not wrap."""

    kind: Literal["zext", "sext"]
    form: Form


@dataclass(frozen=True, slots=True)
class Form:
    """`value[lane] == base + lanes[lane] + sum(term * pattern[lane])`, modulo the type's width.

    `unsigned` and `signed` say that the sum holds over the integers too, read so. With `guards`
    the form holds only if they do.
    """

    base: Value
    lanes: Pattern = ZEROS
    terms: tuple[tuple[Value, Pattern], ...] = ()
    guards: tuple[Guard, ...] = ()
    unsigned: bool = True
    signed: bool = True

    @property
    def is_uniform(self) -> bool:
        """Whether all lanes hold the same."""
        return not any(self.lanes) and not self.terms

    def of_lanes(self, lanes: Sequence[int]) -> Form:
        """The same over some of the lanes."""
        guards = tuple(Guard(each.kind, each.form.of_lanes(lanes)) for each in self.guards)
        terms = tuple((value, _picked(pattern, lanes)) for value, pattern in self.terms)
        kept = tuple((value, pattern) for value, pattern in terms if any(pattern))
        return replace(self, lanes=_picked(self.lanes, lanes), terms=kept, guards=guards)


def _picked(pattern: Pattern, lanes: Sequence[int]) -> Pattern:
    return tuple(pattern[lane] for lane in lanes)


def number_of(value: Value) -> int | None:
    """A constant integer's value, read as signed; None for anything else."""
    if not isinstance(value, Constant) or value.number is None:
        return None
    width = bits(value.type)
    return value.number - (1 << width) if value.number >> (width - 1) else value.number
