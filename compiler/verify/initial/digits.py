"""Which thread writes an element: addresses as numbers with digits, read backwards.

Addresses that threads write are mostly sums of digits of their index and of iterations, each times
a stride: `i / 16 * 40 + i % 16` is one. From an address the digits are got by dividing by the
strides, the largest first. What is found is a guess that the solver has to confirm.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..terms import Expression, quotient

Table = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Digit:
    """A digit of a number: it goes from 0 to `count` - 1, and counts `weight` there.

    Attributes:
        stride: what the address grows by with each.
        axis: of which of the numbers that addresses are made from.
    """

    stride: int
    count: int
    axis: int
    weight: int


def digits_of(table: Table) -> list[Digit] | None:
    """The digits of the axes of a table of addresses; None if it has no such form.

    Args:
        table: addresses by thread on the first axis, and by iterations of loops on the others.
    """
    first = table[(0,) * table.ndim]
    along = [
        np.moveaxis(table, axis, 0)[(slice(None),) + (0,) * (table.ndim - 1)] - first
        for axis in range(table.ndim)
    ]
    total = first
    for axis, each in enumerate(along):
        total = total + each.reshape([-1 if at == axis else 1 for at in range(table.ndim)])
    if not np.array_equal(np.broadcast_to(total, table.shape), table):
        return None
    found: list[Digit] = []
    for axis, each in enumerate(along):
        digits = _digits_along(each, axis)
        if digits is None:
            return None
        found += digits
    return found


def _digits_along(table: Table, axis: int) -> list[Digit] | None:
    found, weight = [], 1
    while len(table) > 1:
        steps = np.diff(table)
        stride = int(steps[0])
        others = np.flatnonzero(steps != stride)
        count = int(others[0]) + 1 if len(others) else len(table)
        at = np.arange(len(table))
        if not np.array_equal(table, table[at - at % count] + at % count * stride):
            return None
        found.append(Digit(stride, count, axis, weight))
        table, weight = table[::count], weight * count
    return found


def backwards(digits: Sequence[Digit], axes: int, distance: Expression) -> list[Expression]:
    """The numbers on each axis that an address is made from.

    Args:
        digits: of the addresses.
        axes: how many numbers there are.
        distance: the address less that of all zeros.
    """
    found: list[Expression] = [0] * axes
    falling = [each for each in digits if each.stride < 0]
    rest = distance - sum(each.stride * (each.count - 1) for each in falling)
    for digit in sorted(digits, key=lambda each: -abs(each.stride)):
        if digit.stride == 0:
            continue
        number = quotient(rest, abs(digit.stride))
        rest = rest - number * abs(digit.stride)
        if digit.stride < 0:
            number = digit.count - 1 - number
        found[digit.axis] = found[digit.axis] + digit.weight * number
    return found


def flattened(table: Table) -> Iterator[Table]:
    """The same addresses by one number, the thread counting least."""
    if table.ndim == 2:
        yield np.ascontiguousarray(table.T).reshape(-1)
