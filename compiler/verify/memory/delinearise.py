"""Whether two accesses overlap, with rows and columns compared apart.

`row * n + column` of two threads is equal only if rows and columns are, once each column is known
to be less than n: then products of symbols are gone, which solvers are slow and unsure at.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..conditions import both
from ..terms import Expression
from .polynomials import Polynomial, polynomial

Holds = Callable[[Expression], bool]
"""Whether a condition is proved for one of the threads."""


@dataclass(frozen=True, slots=True)
class Span:
    """Bytes, or other units, that an access takes: where it begins, and how many.

    `holds` proves conditions on the path of the access.
    """

    start: Expression
    length: int
    holds: Holds


def overlap(one: Span, other: Span) -> Expression:
    """Whether two spans have a unit in common."""
    found = _apart(one, other)
    if found is not None:
        return found
    return both(
        one.start < other.start + other.length,
        other.start < one.start + one.length,
    )


def _apart(one: Span, other: Span) -> Expression | None:
    """The same with some common factor taken out; None if none can be."""
    mine, theirs = polynomial(one.start), polynomial(other.start)
    if mine is None or theirs is None:
        return None
    shared = (mine.factors() | theirs.factors()) & mine.atoms.keys() & theirs.atoms.keys()
    for atom in sorted(shared, key=lambda atom: str(mine.atoms[atom])):
        found = _by(atom, mine.atoms[atom], (one, mine), (other, theirs))
        if found is not None:
            return found
    return _by_number((one, mine), (other, theirs))


def _by_number(one: tuple[Span, Polynomial], other: tuple[Span, Polynomial]) -> Expression | None:
    """With what was read from memory as rows, of a length in numbers, if columns are proved to be
    less than that.
    """
    split = [part.of_memory() for _, part in (one, other)]
    (rows, columns), (other_rows, other_columns) = split
    unit = math.gcd(rows.common(), other_rows.common())
    longest = max(one[0].length, other[0].length)
    if not rows.products or not other_rows.products or unit <= longest:
        return None
    for (span, _), (_, part) in zip((one, other), split, strict=True):
        start = part.expression()
        if not span.holds(both(start >= 0, start + span.length <= unit)):
            return None
    return both(
        rows.divided(unit).expression() == other_rows.divided(unit).expression(),
        overlap(
            Span(columns.expression(), one[0].length, one[0].holds),
            Span(other_columns.expression(), other[0].length, other[0].holds),
        ),
    )


def _by(
    atom: int, factor: Any, one: tuple[Span, Polynomial], other: tuple[Span, Polynomial]
) -> Expression | None:
    """With the row length `factor`, if columns are proved to be less than that."""
    split = [each.split(atom) for _, each in (one, other)]
    if split[0] is None or split[1] is None:
        return None
    (rows, columns), (other_rows, other_columns) = split[0], split[1]
    unit = math.gcd(rows.common(), other_rows.common())
    if unit == 0:
        return None
    for (span, _), part in ((one, columns), (other, other_columns)):
        start = part.expression()
        if not span.holds(both(start >= 0, start + span.length <= unit * factor)):
            return None
    (mine, _), (theirs, _) = one, other
    return both(
        overlap(
            Span(rows.divided(unit).expression(), 1, mine.holds),
            Span(other_rows.divided(unit).expression(), 1, theirs.holds),
        ),
        overlap(
            Span(columns.expression(), mine.length, mine.holds),
            Span(other_columns.expression(), theirs.length, theirs.holds),
        ),
    )
