"""What operations on one lane's integers mean.

Where LLVM leaves a result undefined, the engines define it: division by zero gives 0 and leaves
all of the dividend, the smallest integer divided by -1 gives itself, shifts count modulo the width.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..llvm_types import bits

_ORDERINGS: dict[str, Callable[[int, int], bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}


def signed(number: int, width: int) -> int:
    """The two's complement reading of a bit pattern."""
    return number - (1 << width) if number >> (width - 1) else number


def signed_divide(left: int, right: int, width: int) -> int:
    """The quotient, towards zero."""
    a, b = signed(left, width), signed(right, width)
    if b == 0:
        return 0
    return abs(a) // abs(b) * (-1 if (a < 0) != (b < 0) else 1)


def signed_remainder(left: int, right: int, width: int) -> int:
    """The remainder, with the sign of what is divided."""
    a, b = signed(left, width), signed(right, width)
    return a if b == 0 else abs(a) % abs(b) * (-1 if a < 0 else 1)


def saturate(number: int, width: int) -> int:
    """The nearest number that fits, read as signed."""
    return min(max(number, -(1 << (width - 1))), (1 << (width - 1)) - 1)


def compare(predicate: str, left: int, right: int, width: int) -> bool:
    """LLVM's `icmp`."""
    if predicate.startswith("s"):
        left, right = signed(left, width), signed(right, width)
    return _ORDERINGS[predicate[-2:]](left, right)


def funnel_left(operands: Sequence[int], width: int) -> int:
    """The upper half of two numbers, one behind the other, shifted to the left."""
    high, low, count = operands
    return (high << width | low) << count % width >> width & (1 << width) - 1


def funnel_right(operands: Sequence[int], width: int) -> int:
    """The lower half of two numbers, one behind the other, shifted to the right."""
    high, low, count = operands
    return (high << width | low) >> count % width & (1 << width) - 1


def order(a: int, b: int, type: str) -> int:
    """-1, 0 or 1 in a type."""
    return ((a > b) - (a < b)) & (1 << bits(type)) - 1
