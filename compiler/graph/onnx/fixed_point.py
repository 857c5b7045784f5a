"""Arithmetic on integers of 32 bits that have a fixed number of bits behind the point."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..elements import Array
from .values import Tensor
from .writer import Writer

_HALF_BITS = 12
"""Bits of the lower of the two halves that numbers are summed, and looked up, in."""
MOST_TOTAL_BITS = 15
"""Sums have at most 2 to this numbers."""
_PROPAGATE = "#tosa.nan_mode<PROPAGATE>"
_INVERSE_ROOT_BITS = 14
"""Bits behind the point of the table of 1 / sqrt(x)."""
_FORTY_EIGHT_17THS, _THIRTY_TWO_17THS = 1515870810, -1010580540
"""48/17 and -32/17 with 29 bits behind the point: the best straight line to start 1 / x from."""
_ONE = 1 << 29


class FixedPoint:
    """Writes operators on tensors of int32 that have as many dimensions as `like`, in its order."""

    def __init__(self, writer: Writer, like: Tensor) -> None:
        self._writer, self._like = writer, like

    def number(self, value: int) -> Tensor:
        """One number, to be broadcast."""
        return self.numbers(np.asarray(value).reshape((1,) * len(self._like.shape)))

    def numbers(self, values: Array) -> Tensor:
        """Constants in ONNX's order of dimensions."""
        last = self._like.last
        made = self._writer.const(np.moveaxis(values, 1, -1) if last else values, "int32")
        return Tensor(value=made, dtype="int32", shape=values.shape, last=last)

    def binary(self, name: str, a: Tensor, b: Tensor | int) -> Tensor:
        """One of TOSA's operators that has two operands and nothing else."""
        return self._writer.binary(name, a, self._tensor(b))

    def add(self, a: Tensor, b: Tensor | int) -> Tensor:
        """a + b."""
        return self.binary("add", a, b)

    def sub(self, a: Tensor | int, b: Tensor) -> Tensor:
        """a - b."""
        return self.binary("sub", self._tensor(a), b)

    def mul(self, a: Tensor, b: Tensor | int, shift: int) -> Tensor:
        """a * b / 2**shift, rounded."""
        return self._writer.binary("mul", a, self._tensor(b), [self._writer.one(shift, "int8")])

    def left(self, x: Tensor, by: Tensor | int) -> Tensor:
        """x * 2**by."""
        return self.binary("logical_left_shift", x, by)

    def right(self, x: Tensor, by: Tensor | int, *, rounded: bool = True) -> Tensor:
        """x / 2**by, rounded or down."""
        truth = "true" if rounded else "false"
        return self._writer.binary("arithmetic_right_shift", x, self._tensor(by), round=truth)

    def clz(self, x: Tensor) -> Tensor:
        """Leading zeros."""
        return self._writer.like(x, "clz")

    def abs(self, x: Tensor) -> Tensor:
        """|x|."""
        return self._writer.like(x, "abs")

    def reduced(self, name: str, x: Tensor, axes: Sequence[int]) -> Tensor:
        """reduce_sum or reduce_max along axes, which stay with one step."""
        more = {"nan_mode": _PROPAGATE} if name == "reduce_max" else {}
        for axis in axes:
            shape = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
            kept = Tensor(value=x.value, dtype=x.dtype, shape=shape, last=x.last)
            place = f"{x.axis(axis)} : i32"
            value = self._writer.emit(name, [x.value], x.dtype, kept.stored, axis=place, **more)
            x = Tensor(value=value, dtype=x.dtype, shape=shape, last=x.last)
        return x

    def total(self, x: Tensor, axes: Sequence[int], bits: int) -> Tensor:
        """Sums of numbers of 31 bits without sign, divided by 2**bits and rounded down.

        There are at most 2**bits numbers in each, and `bits` is at most MOST_TOTAL_BITS: high and
        low halves are summed apart.
        """
        low_bits = max(bits, _HALF_BITS)
        high = self.right(x, low_bits, rounded=False)
        low = self.binary("bitwise_and", x, (1 << low_bits) - 1)
        carried = self.right(self.reduced("reduce_sum", low, axes), bits, rounded=False)
        sums = self.left(self.reduced("reduce_sum", high, axes), low_bits - bits)
        return self.add(sums, carried)

    def looked_up(self, x: Tensor, entries: Array) -> Tensor:
        """128 times what lies at an int16 on the lines between 513 entries of up to 24 bits."""
        integers = np.asarray(entries, np.int64)
        high, low = (
            self._table(x, part)
            for part in (integers >> _HALF_BITS, integers & ((1 << _HALF_BITS) - 1))
        )
        return self.add(self.left(high, _HALF_BITS), low)

    def _table(self, x: Tensor, entries: Array) -> Tensor:
        table = self._writer.const(entries, "int16")
        value = self._writer.emit("table", [x.value, table], "int32", x.stored)
        return Tensor(value=value, dtype="int32", shape=x.shape, last=x.last)

    def inverse(self, x: Tensor) -> Tensor:
        """1 / x with 29 bits behind the point, x being from a half to 1 with 31.

        Three of Newton's steps, from the best straight line.
        """
        found = self.add(self.mul(x, _THIRTY_TWO_17THS, 31), _FORTY_EIGHT_17THS)
        for _ in range(3):
            error = self.sub(_ONE, self.mul(found, x, 31))
            step = self.mul(found, error, 31)
            found = self.add(found, self.left(step, 2))
        return found

    def inverse_root(self, x: Tensor) -> Tensor:
        """1 / sqrt(x) with 29 bits behind the point, x being from a quarter to 1 with 31.

        A table that is exact to 17 bits, and one of Newton's steps.
        """
        places = np.maximum((np.arange(513) - 256) * 128 + 32768, 1 << _INVERSE_ROOT_BITS)
        roots = np.rint((1 << _INVERSE_ROOT_BITS) * (places / (1 << 16)) ** -0.5)
        middle = self.sub(self.right(x, 15, rounded=False), self.number(1 << 15))
        narrow = self._writer.rescale(middle, 1.0, "int16")
        start = self.left(self._table(narrow, np.minimum(roots, (1 << 15) - 1)), 8)
        square = self.mul(start, start, 30)
        error = self.sub(3 << 28, self.mul(x, square, 31))
        return self.mul(start, error, 29)

    def _tensor(self, value: Tensor | int) -> Tensor:
        return value if isinstance(value, Tensor) else self.number(value)
