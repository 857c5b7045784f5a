"""IEEE arithmetic on bit patterns, rounded once to nearest even: slow, and exact by construction.

Every floating-point value is the integer that its bits spell. Any NaN result is the quiet NaN with
the sign clear.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A binary floating-point format; both fields count bits, the sign is one more."""

    exponent: int
    fraction: int

    @property
    def width(self) -> int:
        """All bits of a value."""
        return 1 + self.exponent + self.fraction

    @property
    def infinity(self) -> int:
        """Bits of positive infinity."""
        return ((1 << self.exponent) - 1) << self.fraction

    @property
    def nan(self) -> int:
        """Bits of the quiet NaN that results carry."""
        return self.infinity | 1 << (self.fraction - 1)

    @property
    def sign(self) -> int:
        """The sign bit."""
        return 1 << (self.width - 1)

    @property
    def smallest_exponent(self) -> int:
        """Exponent of the smallest normal number, as a power of two."""
        return 2 - (1 << (self.exponent - 1))


FORMATS = {
    "half": Format(exponent=5, fraction=10),
    "bfloat": Format(exponent=8, fraction=7),
    "float": Format(exponent=8, fraction=23),
    "double": Format(exponent=11, fraction=52),
}
_PACK = {"half": ("<e", 2), "float": ("<f", 4), "double": ("<d", 8)}


def decode(bits: int, type: str) -> float:
    """The number that the bits stand for; exact for every format."""
    if type == "bfloat":
        bits, type = bits << 16, "float"
    code, size = _PACK[type]
    (value,) = struct.unpack(code, bits.to_bytes(size, "little"))
    return float(value)


def encode(value: float, type: str) -> int:
    """The bits of the nearest number of the format, ties to even."""
    layout = FORMATS[type]
    sign = layout.sign if math.copysign(1.0, value) < 0 else 0
    if math.isnan(value):
        return layout.nan
    if math.isinf(value):
        return sign | layout.infinity
    if value == 0.0:
        return sign
    return encode_fraction(Fraction(value), type)


def encode_fraction(value: Fraction, type: str) -> int:
    """The bits of the number of the format that is nearest to a rational other than zero."""
    layout = FORMATS[type]
    sign, size = (layout.sign if value < 0 else 0), abs(value)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if size < Fraction(2) ** exponent:
        exponent -= 1
    exponent = max(exponent, layout.smallest_exponent)
    units = round(size / Fraction(2) ** (exponent - layout.fraction))  # ties to even
    bits = units + ((exponent - layout.smallest_exponent) << layout.fraction)
    return sign | min(bits, layout.infinity)


def is_nan(bits: int, type: str) -> bool:
    """Whether the bits are any NaN."""
    layout = FORMATS[type]
    return bits & ~layout.sign > layout.infinity


def divide(left: float, right: float) -> float:
    """The quotient in double."""
    if right != 0.0 or math.isnan(left):
        return left / right if right != 0.0 else math.nan
    if left == 0.0:
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1.0, right)


def remainder(left: float, right: float) -> float:
    """The remainder in double, with the sign of what is divided."""
    if math.isnan(left) or math.isnan(right) or math.isinf(left) or right == 0.0:
        return math.nan
    return math.fmod(left, right)


def binary(compute: Callable[[float, float], float], left: int, right: int, type: str) -> int:
    """A sum, product, quotient or remainder.

    One of two numbers of at most 24 bits, rounded to double's 53 and then to the format, is the
    correctly rounded one (53 >= 2 * 24 + 2); so is a root.
    """
    return encode(compute(decode(left, type), decode(right, type)), type)


def fma(left: int, right: int, addend: int, type: str) -> int:
    """`left * right + addend`, rounded once."""
    layout = FORMATS[type]
    a, b, c = (decode(bits, type) for bits in (left, right, addend))
    if math.isnan(a) or math.isnan(b) or math.isnan(c):
        return layout.nan
    if math.isinf(a) or math.isinf(b):
        return encode(a * b + (c if math.isinf(c) else 0.0), type)
    if math.isinf(c):
        return addend
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        return (left ^ right) & addend & layout.sign
    return encode_fraction(exact, type)


def square_root(bits: int, type: str) -> int:
    """The square root; NaN below zero."""
    value = decode(bits, type)
    return encode(math.sqrt(value) if not value < 0.0 else math.nan, type)


def half_away(value: float) -> int:
    """The nearest integer; of two, the one that is farther from zero."""
    size = math.floor(abs(Fraction(value)) + Fraction(1, 2))
    return -size if value < 0 else size


floor: Callable[[float], int] = math.floor
ceil: Callable[[float], int] = math.ceil
trunc: Callable[[float], int] = math.trunc


def round_to_integral(rounding: Callable[[float], int], bits: int, type: str) -> int:
    """A float without fraction; the sign stays, also that of a zero."""
    value = decode(bits, type)
    if math.isnan(value) or math.isinf(value):
        return encode(value, type)
    return encode(math.copysign(float(rounding(value)), value), type)


def choose(bits: tuple[int, int], type: str, *, smallest: bool, nan_wins: bool) -> int:
    """The smaller or larger of two; -0 is below +0; a NaN wins always or never."""
    left, right = bits
    if is_nan(left, type) or is_nan(right, type):
        if nan_wins or (is_nan(left, type) and is_nan(right, type)):
            return FORMATS[type].nan
        return right if is_nan(left, type) else left
    return (min if smallest else max)(bits, key=lambda each: _order(each, type))


def _order(bits: int, type: str) -> int:
    sign = FORMATS[type].sign
    return ~(bits & ~sign) if bits & sign else bits


def to_integer(bits: int, type: str, width: int, *, signed: bool) -> int:
    """Towards zero; what does not fit becomes the nearest that does, NaN becomes 0."""
    value = decode(bits, type)
    if math.isnan(value):
        return 0
    low, high = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if signed else (0, (1 << width) - 1)
    if math.isinf(value):
        number = low if value < 0 else high
    else:
        number = min(max(math.trunc(value), low), high)
    return number & ((1 << width) - 1)


def from_integer(number: int, type: str) -> int:
    """The float nearest to an integer."""
    return encode_fraction(Fraction(number), type) if number else 0


def compare(predicate: str, left: int, right: int, type: str) -> bool:
    """LLVM's `fcmp`: `o..` is false and `u..` true when a NaN takes part."""
    if predicate in ("true", "false"):
        return predicate == "true"
    unordered = is_nan(left, type) or is_nan(right, type)
    if predicate in ("ord", "uno"):
        return unordered == (predicate == "uno")
    if unordered:
        return predicate.startswith("u")
    a, b = decode(left, type), decode(right, type)
    return {"eq": a == b, "ne": a != b, "lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b}[
        predicate[1:]
    ]


def in_class(bits: int, type: str, classes: int) -> bool:
    """`llvm.is.fpclass`: bits of `classes` from signalling NaN to positive infinity."""
    layout = FORMATS[type]
    size, negative = bits & ~layout.sign, bool(bits & layout.sign)
    if size > layout.infinity:
        place = 1 if size & 1 << (layout.fraction - 1) else 0
    elif size == layout.infinity:
        place = 2 if negative else 9
    elif size >> layout.fraction:
        place = 3 if negative else 8
    elif size:
        place = 4 if negative else 7
    else:
        place = 5 if negative else 6
    return bool(classes >> place & 1)
