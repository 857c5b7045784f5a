"""Conditions of one kind, each stronger than the one before, and how several are said together."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rising:
    """Conditions, each stronger than the one before.

    Attributes:
        texts: the conditions.
        number: where all say of one number of what it is a multiple, that number.
        multiples: and of what, for each.
    """

    texts: tuple[str, ...]
    number: str = ""
    multiples: tuple[int, ...] = ()


def multiples_of(number: str, base: int, most: int) -> Rising:
    """That a number is a multiple of powers of a base, as far as a most."""
    powers = [base]
    while powers[-1] * base <= most:
        powers.append(powers[-1] * base)
    return Rising(tuple(_multiple(number, each) for each in powers), number, tuple(powers))


@dataclass(frozen=True, slots=True)
class Chosen:
    """One of rising conditions, the strongest unless told otherwise."""

    rising: Rising
    at: int = -1

    @property
    def text(self) -> str:
        """The condition."""
        return self.rising.texts[self.at]


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


def _multiple(number: str, of: int) -> str:
    return f"{number} % {of} == 0"
