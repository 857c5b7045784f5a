"""Integers that stand for values of the IR: congruent to them modulo 2**width.

Wrapping is thus no case of its own until a value is read as a number, which is where a remainder
is taken unless the term is known to lie in the range that is read.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

Expression = Any
"""A term of z3, or a Python number where it is constant."""


@dataclass(frozen=True, slots=True)
class Term:
    """An integer with what is known of it whatever the path.

    Attributes:
        value: the integer.
        least, most: bounds; None where there is none.
        zeros: how many of its lowest bits are surely 0.
        scale, base: if it is a product, a positive factor and the rest.
        mask: the only bits that may be set, if that is known better than by bounds.
        numbers: the only numbers that it can be, if these are few.
    """

    value: Expression
    least: int | None
    most: int | None
    zeros: int = 0
    scale: int = 1
    base: Expression = None
    mask: int | None = None
    numbers: tuple[int, ...] = ()

    @property
    def possible(self) -> int | None:
        """The bits that may be set; None of what may be negative or of any size."""
        if self.least is None or self.most is None or self.least < 0:
            return None
        by_bounds = (1 << self.most.bit_length()) - 1 >> self.zeros << self.zeros
        return by_bounds if self.mask is None else by_bounds & self.mask

    @property
    def unscaled(self) -> Expression:
        """What its scale is multiplied with."""
        return self.value if self.base is None else self.base

    @property
    def constant(self) -> int | None:
        """The number, if it is known."""
        return self.value if isinstance(self.value, int) else None

    def lies_in(self, least: int, most: int) -> bool:
        """Whether all that it can be is within bounds."""
        known = self.least is not None and self.most is not None
        return known and least <= self.least and self.most <= most  # type: ignore[operator]

    def lies_outside(self, least: int, most: int) -> bool:
        """Whether nothing that it can be is within bounds."""
        is_less = self.most is not None and self.most < least
        return is_less or (self.least is not None and self.least > most)


def constant(number: int) -> Term:
    """A number."""
    zeros = (number & -number).bit_length() - 1 if number else 64
    return Term(number, number, number, zeros, mask=number if number >= 0 else None)


def ranged(value: Expression, least: int, most: int, zeros: int = 0) -> Term:
    """A term whose bounds are stated."""
    return Term(value, least, most, zeros)


def unsigned(term: Term, width: int) -> Term:
    """The number from 0 to 2**width - 1 that a bit pattern is."""
    size = 1 << width
    if term.lies_in(0, size - 1):
        return term
    if term.constant is not None:
        return constant(term.constant % size)
    if term.lies_in(-size, -1):  # one wrap, always
        return add(term, constant(size))
    if term.lies_in(-size, size - 1):  # one wrap at most
        return Term(choose(term.value < 0, term.value + size, term.value), 0, size - 1, term.zeros)
    return Term(term.value % size, 0, size - 1, term.zeros)


def signed(term: Term, width: int) -> Term:
    """The number from -2**(width - 1) that a bit pattern is in two's complement."""
    half = 1 << width - 1
    if term.lies_in(-half, half - 1):
        return term
    if term.constant is not None:
        return constant((term.constant + half) % (2 * half) - half)
    plain = unsigned(term, width)
    value = choose(plain.value >= half, plain.value - 2 * half, plain.value)
    return Term(value, -half, half - 1, min(term.zeros, width - 1))


def choose(condition: Expression, yes: Expression, no: Expression) -> Expression:
    """One of two numbers."""
    from .native.building import chosen

    if isinstance(condition, bool):
        return yes if condition else no
    return chosen(condition, yes, no)


def either(condition: Expression, yes: Term, no: Term) -> Term:
    """One of two terms."""
    if isinstance(condition, bool):
        return yes if condition else no
    return replace(joined(yes, no), value=choose(condition, yes.value, no.value))


def joined(*terms: Term) -> Term:
    """What is known of a term that is one of several; its value is the first's."""
    least = [term.least for term in terms]
    most = [term.most for term in terms]
    return Term(
        terms[0].value,
        None if None in least else min(n for n in least if n is not None),
        None if None in most else max(n for n in most if n is not None),
        min(term.zeros for term in terms),
    )


def add(a: Term, b: Term) -> Term:
    """The sum."""
    if a.constant == 0 or b.constant == 0:
        return b if a.constant == 0 else a
    numbers = tuple(n + b.constant for n in a.numbers) if b.constant is not None else ()
    return Term(
        a.value + b.value,
        _plus(a.least, b.least),
        _plus(a.most, b.most),
        min(a.zeros, b.zeros),
        numbers=numbers,
    )


def negate(a: Term) -> Term:
    """The negative."""
    least = None if a.most is None else -a.most
    most = None if a.least is None else -a.least
    return Term(-a.value, least, most, a.zeros)


def subtract(a: Term, b: Term) -> Term:
    """The difference."""
    return add(a, negate(b))


def multiply(a: Term, b: Term) -> Term:
    """The product."""
    zeros = min(a.zeros + b.zeros, 64)
    bounds = (a.least, a.most, b.least, b.most)
    if 0 in (a.constant, b.constant):
        return constant(0)
    if 1 in (a.constant, b.constant):
        return b if a.constant == 1 else a
    if None in bounds:
        return _multiply_half_known(a, b, zeros)
    corners = [x * y for x in (a.least, a.most) for y in (b.least, b.most)]  # type: ignore[operator]
    found = Term(a.value * b.value, min(corners), max(corners), zeros)
    return _scaled(found, a, b)


def _scaled(product: Term, a: Term, b: Term) -> Term:
    """A product that remembers a factor which is a positive number."""
    for factor, rest in ((a.constant, b), (b.constant, a)):
        if factor is not None and factor > 0 and rest.constant is None:
            scale = factor * rest.scale
            bits = rest.possible
            is_shift = bits is not None and factor & factor - 1 == 0
            return replace(
                product,
                scale=scale,
                base=rest.unscaled,
                value=scale * rest.unscaled,
                mask=bits * factor if is_shift and bits is not None else None,
            )
    return product


def _multiply_half_known(a: Term, b: Term, zeros: int) -> Term:
    """Of terms without some bound: what is not negative stays so."""
    sign = a.least is not None and a.least >= 0 and b.least is not None and b.least >= 0
    return _scaled(Term(a.value * b.value, 0 if sign else None, None, zeros), a, b)


def _plus(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else a + b


def divide(a: Term, by: int) -> Term:
    """The quotient by a positive number, rounded down."""
    least = None if a.least is None else a.least // by
    most = None if a.most is None else a.most // by
    bits = a.possible
    mask = bits // by if bits is not None and by & by - 1 == 0 else None
    if a.scale % by == 0:
        scale = a.scale // by
        return Term(scale * a.unscaled, least, most, 0, scale, a.unscaled, mask)
    scale = a.scale if by % a.scale == 0 else 1
    dividend = a.unscaled if scale > 1 else a.value
    return Term(quotient(dividend, by // scale), least, most, mask=mask)


def remainder(a: Term, by: int) -> Term:
    """What is left of a division by a positive number; never negative.

    By the quotient, so that it vanishes where both are put together again.
    """
    if a.lies_in(0, by - 1):
        return a
    value = a.value - by * divide(a, by).value
    shift = by.bit_length() - 1
    if by != 1 << shift:
        return Term(value, 0, by - 1)
    bits = a.possible
    mask = bits & by - 1 if bits is not None else None
    return Term(value, 0, by - 1, min(a.zeros, shift), mask=mask)


def quotient(value: Expression, by: Expression) -> Expression:
    """A division rounded down, by what is positive."""
    return value // by if isinstance(value, int) and isinstance(by, int) else value / by


def small(term: Term, width: int) -> Term:
    """A constant as the number next to 0 that it is congruent to: steps may go backwards."""
    if term.constant is None:
        return term
    half = 1 << width - 1
    return constant((term.constant + half) % (2 * half) - half)


def clamped(term: Term, least: int, most: int) -> Term:
    """A term that surely lies within bounds."""
    low = least if term.least is None else max(least, term.least)
    high = most if term.most is None else min(most, term.most)
    return replace(term, least=low, most=high)
