"""How elements of each width are taken apart into the byte lanes of the ALU, and put together.

The ALU multiplies bytes. A wider element is several lanes whose sums the activation unit shifts and
adds up; low bytes are unsigned.
"""

from __future__ import annotations

from dataclasses import dataclass

from assay.hw.torq.facts.modes import modes

from ..operators.tensors import ELEMENT_BYTES
from .errors import IllegalSliceProgram

LIMITS = {
    "int8": (-(1 << 7), (1 << 7) - 1),
    "uint8": (0, (1 << 8) - 1),
    "int16": (-(1 << 15), (1 << 15) - 1),
    "int32": (-(1 << 31), (1 << 31) - 1),
}
"""Least and largest value of each integer type."""
_FLOATS = ("bfloat16", "float32")


@dataclass(frozen=True, slots=True, kw_only=True)
class Lanes:
    """How one product of two elements lies in the lanes.

    Attributes:
        partials: 32-bit words of PRAM that one result takes.
        data_repeats: lanes that each byte of the data feeds.
        weight_repeats: the same for the weights.
        data_unsigned, weight_unsigned: a bit per lane index modulo 4.
        shifts: left shift of each of four neighbouring words before they are summed.
        sum_bits: width of the sum.
    """

    partials: int
    data_repeats: int = 1
    weight_repeats: int = 1
    data_unsigned: int = 0
    weight_unsigned: int = 0
    shifts: tuple[int, int, int, int] = (0, 0, 0, 0)
    sum_bits: int = 0


_SHORT = {"int8": "i8", "uint8": "i8", "int16": "i16", "int32": "i32"}
_UNSIGNED = 0xF
_WIDE_SUM = 48
_BFLOAT = Lanes(partials=2)
"""A float32 sum takes two words."""


def limits(dtype: str) -> tuple[int, int]:
    """LIMITS of a type. Raises IllegalSliceProgram for one that has none."""
    if dtype not in LIMITS:
        raise IllegalSliceProgram("formats", f"{dtype}, where one of {', '.join(LIMITS)} is needed")
    return LIMITS[dtype]


def is_float(dtype: str) -> bool:
    """Whether elements are floating-point numbers."""
    return dtype in _FLOATS


def product_lanes(data: str, weights: str) -> Lanes | None:
    """The lanes of a product, None if the ALU does not know it."""
    if data == weights == "bfloat16":
        return _BFLOAT
    name = f"{_SHORT.get(data)} x {_SHORT.get(weights)}"
    if name not in modes("lanes"):
        return None
    mode = modes("lanes")[name]
    sizes = ELEMENT_BYTES[data], ELEMENT_BYTES[weights]
    return Lanes(
        partials=mode.code("sum"),
        data_repeats=sizes[1],
        weight_repeats=sizes[0] if sizes[0] > 1 and sizes[1] > 1 else 1,
        data_unsigned=_UNSIGNED if data == "uint8" else mode.code("d_unsigned"),
        weight_unsigned=_UNSIGNED if weights == "uint8" else mode.code("w_unsigned"),
        shifts=_four(mode.codes["act_lsh"]),
        sum_bits=_WIDE_SUM if mode.code("sum") > 1 else 0,
    )


def _four(value: object) -> tuple[int, int, int, int]:
    assert isinstance(value, list)
    a, b, c, d = (int(number) for number in value)
    return a, b, c, d


def bypass_lanes(data: str, op1: str) -> Lanes:
    """The lanes of an operation that takes data as they are.

    Sums are sums of products with 1, so wider elements are taken apart as for a product; all other
    operations keep an element in one word.
    """
    if op1 in ("ACC", "SACC"):
        lanes = product_lanes(data, "bfloat16" if data == "bfloat16" else "int8")
        return lanes or Lanes(partials=1)
    unsigned = {"uint8": 0xF, "int16": 0b0101, "bfloat16": 0b0101, "int32": 0b0111}
    return Lanes(partials=1, data_unsigned=unsigned.get(data, 0))
