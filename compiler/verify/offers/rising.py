"""Conditions of one kind, each stronger than the one before, and how several are said together."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import overload


class Bounds(Sequence[str]):
    """Comparisons with numbers, made as they are asked for: `n >= 1`, `n >= 2` and so on.

    Args:
        what: what is compared, and how: `n >=`.
        numbers: with what.
    """

    def __init__(self, what: str, numbers: range) -> None:
        self._what = what
        self._numbers = numbers

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> Bounds: ...
    def __getitem__(self, at: int | slice) -> str | Bounds:
        if isinstance(at, slice):
            return Bounds(self._what, self._numbers[at])
        return f"{self._what} {self._numbers[at]}"


@dataclass(frozen=True, slots=True)
class Rising:
    """Conditions, each stronger than the one before.

    Attributes:
        texts: the conditions.
        number: where all say of one number of what it is a multiple, that number.
        multiples: and of what, for each.
        implied: weaker ones of another kind, for each: a number is as large as what is no larger
            than it.
    """

    texts: Sequence[str]
    number: str = ""
    multiples: tuple[int, ...] = ()
    implied: tuple[Rising, ...] = ()


def multiples_of(number: str, base: int, most: int) -> Rising:
    """That a number is a multiple of powers of a base, as far as a most."""
    powers = [base]
    while powers[-1] * base <= most:
        powers.append(powers[-1] * base)
    return Rising(tuple(_multiple(number, each) for each in powers), number, tuple(powers))


@dataclass(frozen=True, slots=True)
class Chosen:
    """One of rising conditions."""

    rising: Rising
    at: int

    @property
    def text(self) -> str:
        """The condition."""
        return self.rising.texts[self.at]


def strongest(rising: Rising) -> Chosen:
    """The strongest of conditions."""
    return Chosen(rising, len(rising.texts) - 1)


def together(chosen: Iterable[Chosen]) -> str:
    """Conditions as one: multiples of one number are told once."""
    texts: dict[str, str] = {}
    factors: dict[str, int] = {}
    for each in chosen:
        number = each.rising.number
        if number:
            factors[number] = math.lcm(factors.get(number, 1), each.rising.multiples[each.at])
            texts[f"{number} %"] = _multiple(number, factors[number])
        else:
            texts[each.text] = each.text
    return " and ".join(texts.values())


def sensible(chosen: Iterable[Chosen]) -> str:
    """The same, and that what is a multiple is not nothing."""
    chosen = list(chosen)
    numbers = dict.fromkeys(each.rising.number for each in chosen if each.rising.number)
    return " and ".join([together(chosen), *(f"{number} >= 1" for number in numbers)])


def _multiple(number: str, of: int) -> str:
    return f"{number} % {of} == 0"
