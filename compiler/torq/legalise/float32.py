"""Arithmetic of float32 in integers, exact to the bit: the ALU does none with such operands.

A number is its sign, an exponent and 24 bits; sums and products carry further bits and one that
says whether anything is beyond them, so that they round once, halves to even. Subnormal numbers,
infinities and NaN are those of IEEE 754.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from ..hl.elementwise import Mul, Scale, Select, Unary
from ..hl.types import tensor_of
from ..operators.quantisation import Rescale
from .builder import Builder, identity
from .integers import Numbers

_SIGN = -(1 << 31)
_REST = (1 << 31) - 1
_INFINITY = 0x7F800000
_QUIET = 0x00400000
_POINT = 23
"""Bits behind the point of a number."""
_HIDDEN = 1 << _POINT
_SPARE = 5
"""Bits that numbers are shifted up by before they are added; sums have one more."""
_BIAS = 127
_LOW = 18
"""Bits of a product of mantissas that are only looked at for whether there are any."""
_MOST_SHIFT = 31


class Float32:
    """Emits operations on the bits of float32, as int32."""

    def __init__(self, builder: Builder) -> None:
        self._n = Numbers(builder)

    def floor(self, x: SSAValue, *, up: bool = False) -> SSAValue:
        """The whole number below, or above."""
        bits = self._n.integers(x)
        size, signs = self._size(bits), self._signs(bits)
        exponent = self._op("ASR", size, _POINT)
        away = self._op("BXOR", signs, -1) if up else signs
        # Bits behind the point of numbers from 1; smaller ones go to 0 or 1 altogether.
        behind = self._op("MIN", self._op("MAX", self._less(_BIAS + _POINT, exponent), 0), _POINT)
        ones = self._op("SUB", self._op("LSL", self._n.number(1, behind), behind), 1)
        raised = self._op("ADD", size, self._op("BAND", ones, away))
        whole = self._op("BAND", raised, self._op("BXOR", ones, -1))
        small = self._op("BAND", self._op("BAND", self._any(size), away), _BIAS << _POINT)
        found = self._chosen(self._from(exponent, _BIAS), whole, small)
        return self._number(found, bits)

    def add(self, a: SSAValue, b: SSAValue, *, negate: bool = False) -> SSAValue:
        """a + b, or a - b."""
        x, y = self._n.integers(a), self._n.integers(b)
        if negate:
            y = self._op("BXOR", y, _SIGN)
        sizes = self._size(x), self._size(y)
        most, least = self._op("MAX", *sizes), self._op("MIN", *sizes)
        differ = self._signs(self._op("BXOR", x, y))
        exponent = self._exponent(most)
        lower = self._down(
            self._op("LSL", self._mantissa(least), _SPARE),
            self._op("SUB", exponent, self._exponent(least)),
        )
        upper = self._op("LSL", self._mantissa(most), _SPARE)
        total = self._op("ADD", upper, self._with_sign(lower, differ))
        clash = self._op("BAND", differ, self._mask(least, _INFINITY))
        found = self._finished(self._rounded(total, exponent), most, clash)
        # What cancels is 0 without sign; else the sign is that of the larger.
        keeps = self._op("BOR", self._op("BXOR", differ, -1), self._any(total))
        larger = self._chosen(self._n.combine("GE", *sizes, "int32", "bool"), x, y)
        return self._number(found, self._op("BAND", larger, keeps))

    def multiply(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """a * b."""
        x, y = self._n.integers(a), self._n.integers(b)
        sizes = self._size(x), self._size(y)
        (one, power), (other, other_power) = (self._normal(size) for size in sizes)
        total = self._product(one, other)
        exponent = self._op("SUB", self._op("ADD", power, other_power), _BIAS)
        low = self._op("MAX", self._less(1, exponent), 0)
        kept = self._op("MIN", self._op("MAX", exponent, 1), 255)
        made = self._rounded(self._down(total, low), kept)
        most, least = self._op("MAX", *sizes), self._op("MIN", *sizes)
        none = self._op("BXOR", self._any(least), -1)
        return self._number(self._finished(made, most, none), self._op("BXOR", x, y))

    def compare(self, kind: str, a: SSAValue, b: SSAValue) -> SSAValue:
        """Truth values of GT, GE or EQ; false where one is a NaN."""
        x, y = self._n.integers(a), self._n.integers(b)
        sizes = self._size(x), self._size(y)
        first, second = (
            self._with_sign(size, self._signs(bits))
            for size, bits in zip(sizes, (x, y), strict=True)
        )
        found = self._n.combine(kind, first, second, "int32", "bool")
        most = self._op("MAX", *sizes)
        known = self._n.combine("GE", self._n.number(_INFINITY, most), most, "int32", "bool")
        return self._n.combine("AND", found, known, "bool")

    def integers(self, x: SSAValue, dtype: str) -> SSAValue:
        """Rounded to whole numbers, halves to even, within the type; a NaN is 0."""
        bits = self._n.integers(x)
        size, signs = self._size(bits), self._signs(bits)
        exponent, mantissa = self._op("ASR", size, _POINT), self._mantissa(size)
        above = self._op("SUB", exponent, _BIAS + _POINT)
        whole = self._op("LSL", mantissa, self._op("MIN", self._op("MAX", above, 0), 7))
        fine = self._down(
            self._op("LSL", mantissa, _SPARE), self._op("MAX", self._less(0, above), 0)
        )
        rounded = self._to_even(fine, _SPARE)
        found = self._chosen(self._from(above, 0), whole, rounded)
        edges = self._op("BXOR", signs, _REST)
        found = self._chosen(self._from(size, 158 << _POINT), edges, self._with_sign(found, signs))
        known = self._op("BXOR", self._mask(size, _INFINITY + 1), -1)
        found = self._op("BAND", found, known)
        if dtype == "int32":
            return found
        y = tensor_of(found).like(dtype=dtype)
        return self._n.builder.emit(Scale, [found], y, rescale=identity(dtype))

    # Parts of numbers.

    def _size(self, bits: SSAValue) -> SSAValue:
        """All but the sign."""
        return self._op("BAND", bits, _REST)

    def _signs(self, bits: SSAValue) -> SSAValue:
        """All bits of negative numbers, none of others."""
        return self._op("ASR", bits, 31)

    def _with_sign(self, size: SSAValue, signs: SSAValue) -> SSAValue:
        """size, or its negative."""
        return self._op("SUB", self._op("BXOR", size, signs), signs)

    def _number(self, size: SSAValue, signed: SSAValue) -> SSAValue:
        """The float32 of this size, and of the sign of other bits."""
        bits = self._op("BOR", size, self._op("BAND", signed, _SIGN))
        return self._n.seen_as(bits, "float32")

    def _exponent(self, size: SSAValue) -> SSAValue:
        """At least 1: that of subnormal numbers, too."""
        return self._op("MAX", self._op("ASR", size, _POINT), 1)

    def _mantissa(self, size: SSAValue) -> SSAValue:
        """24 bits, of subnormal numbers and 0 fewer."""
        hidden = self._op("LSL", self._op("MIN", self._op("ASR", size, _POINT), 1), _POINT)
        return self._op("BOR", self._op("BAND", size, _HIDDEN - 1), hidden)

    def _normal(self, size: SSAValue) -> tuple[SSAValue, SSAValue]:
        """(a mantissa of 24 bits, unless it is 0; its exponent, which may be below 1)."""
        mantissa = self._mantissa(size)
        up = self._op("SUB", self._clz(mantissa), 31 - _POINT)
        return self._op("LSL", mantissa, up), self._op("SUB", self._exponent(size), up)

    def _product(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """The upper 30 bits of a product of mantissas, the last one set if there are more."""
        shape = np.broadcast_shapes(tensor_of(a).shape, tensor_of(b).shape)
        shift = 2 * 12  # of products of numbers with three more bits
        scaling = Rescale(shifts=(shift,), low=-(1 << 31), high=_REST)
        wide = [self._op("LSL", x, (shift - _LOW) // 2) for x in (a, b)]
        y = tensor_of(a).like(shape=shape)
        upper = self._n.builder.emit(Mul, wide, y, rescale=scaling)
        parts = [self._op("BAND", x, (1 << _LOW) - 1) for x in (a, b)]
        lower = self._op("BAND", self._n.multiply(*parts), (1 << _LOW) - 1)
        # The scaling rounds halves up: that is taken off.
        down = self._op("SUB", upper, self._op("ASR", lower, _LOW - 1))
        return self._op("BOR", down, self._op("MIN", lower, 1))

    # Rounding.

    def _down(self, x: SSAValue, by: SSAValue) -> SSAValue:
        """x shifted down, the last bit set if any of those lost was."""
        shift = self._op("MIN", by, _MOST_SHIFT)
        kept = self._op("ASR", x, shift)
        lost = self._op("SUB", x, self._op("LSL", kept, shift))
        return self._op("BOR", kept, self._op("MIN", lost, 1))

    def _to_even(self, x: SSAValue, bits: int) -> SSAValue:
        odd = self._op("BAND", self._op("ASR", x, bits), 1)
        up = self._op("ADD", odd, (1 << (bits - 1)) - 1)
        return self._op("ASR", self._op("ADD", x, up), bits)

    def _rounded(self, total: SSAValue, exponent: SSAValue) -> SSAValue:
        """The size of total * 2**(exponent - 155), total having at most 30 bits."""
        up = self._op("MIN", self._op("SUB", self._clz(total), 2), exponent)
        mantissa = self._to_even(self._op("LSL", total, up), _SPARE + 1)
        power = self._op("LSL", self._op("SUB", exponent, up), _POINT)
        size = self._op("MIN", self._op("ADD", power, mantissa), _INFINITY)
        return self._op("BAND", size, self._any(total))

    def _finished(self, size: SSAValue, most: SSAValue, clash: SSAValue) -> SSAValue:
        """Infinity or NaN where the larger operand is one; NaN where the other clashes with it."""
        other = self._op("BOR", most, self._op("BAND", clash, _QUIET))
        return self._chosen(self._from(most, _INFINITY), other, size)

    # Integers.

    def _op(self, kind: str, a: SSAValue, b: SSAValue | int) -> SSAValue:
        other = self._n.number(b, a) if isinstance(b, int) else b
        return self._n.combine(kind, a, other, "int32")

    def _less(self, a: int, b: SSAValue) -> SSAValue:
        return self._op("SUB", self._n.number(a, b), b)

    def _clz(self, x: SSAValue) -> SSAValue:
        return self._n.builder.emit(Unary, [x], tensor_of(x).like(), kind="CLZ")

    def _any(self, x: SSAValue) -> SSAValue:
        """All bits where x > 0, none where it is 0."""
        return self._less(0, self._op("MIN", x, 1))

    def _mask(self, x: SSAValue, least: int) -> SSAValue:
        """All bits where x >= least, none elsewhere; both are at least 0."""
        return self._signs(self._less(least - 1, x))

    def _from(self, x: SSAValue, least: int) -> SSAValue:
        """Whether x >= least."""
        return self._n.combine("GE", x, self._n.number(least, x), "int32", "bool")

    def _chosen(self, condition: SSAValue, yes: SSAValue, no: SSAValue) -> SSAValue:
        shape = np.broadcast_shapes(*(tensor_of(x).shape for x in (condition, yes, no)))
        return self._n.builder.emit(Select, [condition, yes, no], tensor_of(yes).like(shape=shape))
