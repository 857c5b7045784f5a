"""What operations on integers do to terms: the table's meanings, for the solver.

An operation that is not here, or whose operands it is not told for, gives an unknown value.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

from assay.sim.simt.ir.operations import conversions, functions, integers, marks
from assay.sim.simt.ir.operations.operation import Operation

from .terms import (
    Expression,
    Term,
    add,
    choose,
    constant,
    divide,
    either,
    multiply,
    negate,
    quotient,
    remainder,
    signed,
    subtract,
    unsigned,
)

Reading = Literal["congruent", "unsigned", "signed"]
Build = Callable[[int, tuple[Term, ...]], Term | None]
_MOST_SHIFTS = 8  # by how many different counts a number may be shifted
_MOST_RUNS = 6  # of neighbouring ones in a constant that bits are masked with


@dataclass(frozen=True, slots=True)
class Meaning:
    """How operands are read, and what comes of them: from their width and them."""

    reading: Reading
    build: Build


def _divide(width: int, terms: tuple[Term, ...]) -> Term | None:
    left, right = terms
    if right.constant is not None:
        return divide(left, right.constant) if right.constant else constant(0)
    value = choose(right.value == 0, 0, quotient(left.value, right.value))
    return Term(value, 0, left.most)


def _remainder(width: int, terms: tuple[Term, ...]) -> Term | None:
    left, right = terms
    if right.constant is not None:
        return remainder(left, right.constant) if right.constant else left
    return Term(choose(right.value == 0, left.value, left.value % right.value), 0, left.most)


def _signed_divide(width: int, terms: tuple[Term, ...]) -> Term | None:
    left, right = terms
    by = right.constant
    if by is None or by == 0:
        return None if by is None else constant(0)
    towards_zero = either(
        left.value >= 0, divide(left, abs(by)), negate(divide(negate(left), abs(by)))
    )
    return towards_zero if by > 0 else negate(towards_zero)


def _signed_remainder(width: int, terms: tuple[Term, ...]) -> Term | None:
    left, right = terms
    if right.constant == 0:
        return left
    whole = _signed_divide(width, terms)
    if whole is None or right.constant is None:
        return None
    most = abs(right.constant) - 1
    value = left.value - right.constant * whole.value
    return Term(value, 0 if left.least is not None and left.least >= 0 else -most, most)


def _shift_left(width: int, terms: tuple[Term, ...]) -> Term | None:
    left, count = terms
    if count.constant is not None:
        return multiply(left, constant(1 << count.constant % width))
    least, most = count.least, count.most
    if least is None or most is None or least < 0 or most >= min(width, least + _MOST_SHIFTS):
        return None
    found = multiply(left, constant(1 << most))
    for by in range(least, most):
        found = either(count.value == by, multiply(left, constant(1 << by)), found)
    return found


def _shift_right(width: int, terms: tuple[Term, ...]) -> Term | None:
    left, count = terms[0], terms[1].constant
    if count is None:  # of what is not negative, it makes less
        return None
    return divide(left, 1 << count % width)


def _shift_right_signed(width: int, terms: tuple[Term, ...]) -> Term | None:
    count = terms[1].constant
    if count is None:
        return None
    return divide(signed(terms[0], width), 1 << count % width)


def _and(width: int, terms: tuple[Term, ...]) -> Term | None:
    left, right = terms if terms[1].constant is not None else terms[::-1]
    if right.constant is None:
        return _by_cases(width, terms, _and)
    return masked(left, right.constant)


def _by_cases(
    width: int, terms: tuple[Term, ...], build: Callable[[int, tuple[Term, ...]], Term | None]
) -> Term | None:
    """An operation with one operand that is one of few numbers; None if neither is."""
    left, right = terms if terms[1].numbers else terms[::-1]
    if not right.numbers or min(right.numbers) < 0 or max(right.numbers) >> width:
        return None
    cases = [build(width, (left, constant(number))) for number in right.numbers]
    if any(each is None for each in cases):
        return None
    found, *others = [each for each in cases if each is not None]
    for number, each in zip(right.numbers[1:], others, strict=True):
        found = either(right.value == number, each, found)
    return found


def masked(term: Term, mask: int) -> Term | None:
    """The bits of a number that a mask has; None if the mask has too many runs."""
    found = constant(0)
    runs = _runs(mask)
    if len(runs) > _MOST_RUNS:
        return None
    for low, high in runs:
        part = remainder(divide(term, 1 << low), 1 << high - low)
        found = add(found, multiply(part, constant(1 << low)))
    bits = term.possible
    return replace(found, mask=mask if bits is None else bits & mask)


def _runs(mask: int) -> list[tuple[int, int]]:
    """Neighbouring ones, as first bit and bit after the last."""
    found, at = [], 0
    while mask >> at:
        if mask >> at & 1:
            end = at
            while mask >> end & 1:
                end += 1
            found.append((at, end))
            at = end
        else:
            at += 1
    return found


def _or(width: int, terms: tuple[Term, ...]) -> Term | None:
    if are_apart(*terms):
        return put_together(*terms)
    both = _and(width, terms)
    return None if both is None else subtract(add(*terms), both)


def are_apart(left: Term, right: Term) -> bool:
    """Whether no bit may be set in both."""
    bits = left.possible, right.possible
    return None not in bits and bits[0] & bits[1] == 0  # type: ignore[operator]


def put_together(left: Term, right: Term) -> Term:
    """Two numbers without a bit in common as one."""
    bits = left.possible, right.possible
    mask = bits[0] | bits[1] if None not in bits else None  # type: ignore[operator]
    return replace(add(left, right), mask=mask)


def _xor(width: int, terms: tuple[Term, ...]) -> Term | None:
    if are_apart(*terms):
        return add(*terms)
    if all(each.constant is None for each in terms):
        return _by_cases(width, terms, _xor)
    both = _and(width, terms)
    if both is None:
        return None
    found = subtract(add(*terms), multiply(both, constant(2)))
    bits = [each.possible for each in terms]
    most = (1 << width) - 1
    if None not in bits:
        most = (1 << (bits[0] | bits[1]).bit_length()) - 1  # type: ignore[operator]
    return Term(found.value, 0, most)


def _least(width: int, terms: tuple[Term, ...]) -> Term | None:
    left, right = terms
    most = min((n for n in (left.most, right.most) if n is not None), default=None)
    least = min(left.least, right.least) if None not in (left.least, right.least) else None  # type: ignore[type-var]
    return Term(choose(left.value < right.value, left.value, right.value), least, most)


def _most(width: int, terms: tuple[Term, ...]) -> Term | None:
    found = _least(width, (negate(terms[0]), negate(terms[1])))
    assert found is not None
    return negate(found)


def _subtract_saturated(width: int, terms: tuple[Term, ...]) -> Term | None:
    left, right = terms
    return Term(choose(left.value < right.value, 0, left.value - right.value), 0, left.most)


def _add_saturated(width: int, terms: tuple[Term, ...]) -> Term | None:
    return _least(width, (add(*terms), constant((1 << width) - 1)))


def _absolute(width: int, terms: tuple[Term, ...]) -> Term | None:
    (term,) = terms
    return either(term.value < 0, negate(term), term)


def _first(width: int, terms: tuple[Term, ...]) -> Term | None:
    return terms[0]


MEANINGS: dict[Operation, Meaning] = {
    integers.ADD: Meaning("congruent", lambda width, terms: add(*terms)),
    integers.SUB: Meaning("congruent", lambda width, terms: subtract(*terms)),
    integers.MUL: Meaning("congruent", lambda width, terms: multiply(*terms)),
    integers.SHL: Meaning("congruent", _shift_left),
    integers.UDIV: Meaning("unsigned", _divide),
    integers.UREM: Meaning("unsigned", _remainder),
    integers.SDIV: Meaning("signed", _signed_divide),
    integers.SREM: Meaning("signed", _signed_remainder),
    integers.LSHR: Meaning("unsigned", _shift_right),
    integers.ASHR: Meaning("congruent", _shift_right_signed),
    integers.AND: Meaning("unsigned", _and),
    integers.OR: Meaning("unsigned", _or),
    integers.XOR: Meaning("unsigned", _xor),
    integers.UMIN: Meaning("unsigned", _least),
    integers.UMAX: Meaning("unsigned", _most),
    integers.SMIN: Meaning("signed", _least),
    integers.SMAX: Meaning("signed", _most),
    integers.USUB_SAT: Meaning("unsigned", _subtract_saturated),
    integers.UADD_SAT: Meaning("unsigned", _add_saturated),
    integers.ABS: Meaning("signed", _absolute),
    conversions.TRUNC: Meaning("congruent", _first),
    conversions.ZEXT: Meaning("unsigned", _first),
    conversions.SEXT: Meaning("signed", _first),
    conversions.BITCAST: Meaning("congruent", _first),
}
for _row in (*functions.FUNCTIONS, marks.UNIFORM, marks.LANE_OF, marks.NARROWED, marks.IN_ROW):
    MEANINGS[_row] = Meaning("congruent", _first)

_ORDERS: dict[str, Callable[[Any, Any], Expression]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}


def reading_of_comparison(predicate: str) -> Reading:
    """How the operands of a comparison are read."""
    return "signed" if predicate.startswith("s") else "unsigned"


def compare(predicate: str, left: Term, right: Term) -> Expression:
    """A condition on operands that are read as they must be."""
    return _ORDERS[predicate[-2:]](left.value, right.value)


def read(term: Term, width: int, reading: Reading) -> Term:
    """A term as an operation reads it."""
    if reading == "congruent":
        return term
    return unsigned(term, width) if reading == "unsigned" else signed(term, width)


def bounds_of(width: int, reading: Reading) -> tuple[int, int]:
    """The least and the largest number of a type."""
    if reading == "signed":
        return -(1 << width - 1), (1 << width - 1) - 1
    return 0, (1 << width) - 1
