"""Small floating-point numbers that NumPy has no type for: bfloat16, E2M1, E4M3, E8M0.

E2M1, E4M3 and E8M0: OCP Microscaling Formats (MX) Specification 1.0, section 5.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from assay.hw.small_floats import FP4

E2M1: Final = np.array(FP4, np.float32)
"""The values of codes 0 to 7; bit 3 of a code is the sign."""
_E2M1_CODES: Final = np.concatenate([E2M1, -E2M1])
# Half way between neighbours; a tie goes to the even code of the two.
_E2M1_BOUNDS: Final = (E2M1[1:] + E2M1[:-1]) / 2


def bfloat_bits(values: NDArray[np.float32] | np.float32) -> NDArray[np.uint16]:
    """The bits of bfloat16, rounded to nearest even; every NaN becomes the quiet one 0x7fc0."""
    bits = np.asarray(values, np.float32).view(np.uint32).astype(np.uint64)
    rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
    return np.where(np.isnan(values), 0x7FC0, rounded).astype(np.uint16)


def bfloat_values(bits: NDArray[np.uint16]) -> NDArray[np.float32]:
    """What bits of bfloat16 stand for."""
    return (bits.astype(np.uint32) << 16).view(np.float32)


def e2m1_values(codes: NDArray[np.uint8]) -> NDArray[np.float32]:
    """What codes 0 to 15 stand for."""
    return _E2M1_CODES[codes]


def e2m1_codes(values: NDArray[np.float32], *, ties: str = "even") -> NDArray[np.uint8]:
    """The nearest codes; what exceeds 6 becomes 6.

    `ties` are those half way between two codes: "even" takes the even code, as MLX's kernels do,
    and "first" the first of the nearest in the order of codes, as an argmin over the table does,
    which loses the sign of what becomes zero.
    """
    sizes = np.abs(values)
    if ties == "first":
        codes = np.searchsorted(_E2M1_BOUNDS, sizes, side="left").astype(np.uint8)
        return np.where((values < 0) & (codes > 0), codes | 8, codes).astype(np.uint8)
    below = np.searchsorted(_E2M1_BOUNDS, sizes, side="left")
    above = np.searchsorted(_E2M1_BOUNDS, sizes, side="right")
    codes = np.where(below % 2 == 0, below, above).astype(np.uint8)
    return (codes | np.where(np.signbit(values), 8, 0)).astype(np.uint8)


def _e4m3_sizes(bits: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Without sign, and as if all codes were numbers: bias 7, subnormals."""
    exponent, mantissa = (bits >> 3 & 15).astype(np.int32), (bits & 7).astype(np.float64)
    return np.where(exponent == 0, np.ldexp(mantissa, -9), np.ldexp(1 + mantissa / 8, exponent - 7))


def e4m3_values(bits: NDArray[np.uint8]) -> NDArray[np.float32]:
    """What bits of E4M3 stand for: bias 7, subnormals, 0x7f and 0xff are NaN."""
    sizes = np.where(bits & 0x7F == 0x7F, np.nan, _e4m3_sizes(bits))
    return np.where(bits & 0x80, -sizes, sizes).astype(np.float32)


_E4M3: Final = _e4m3_sizes(np.arange(0x7F, dtype=np.uint8))
_E4M3_BOUNDS: Final = (_E4M3[1:] + _E4M3[:-1]) / 2


def e4m3_bits(values: NDArray[np.float32]) -> NDArray[np.uint8]:
    """The nearest E4M3, ties to even; what exceeds 448 becomes 448, and NaN stays NaN.

    OCP 8-bit Floating Point Specification 1.0: conversion that saturates.
    """
    sizes = np.abs(values).astype(np.float64)
    below = np.searchsorted(_E4M3_BOUNDS, sizes, side="left")
    above = np.searchsorted(_E4M3_BOUNDS, sizes, side="right")
    bits = np.where(np.isnan(sizes), 0x7F, np.where(below % 2 == 0, below, above))
    return (bits | np.where(np.signbit(values), 0x80, 0)).astype(np.uint8)


def ue4m3_values(bits: NDArray[np.uint8]) -> NDArray[np.float32]:
    """E4M3 without a sign as ggml reads it: the uppermost bit has no meaning, and 0x7f is 0."""
    return np.where(bits == 0x7F, 0, _e4m3_sizes(bits)).astype(np.float32)


def ue4m3_bits(values: NDArray[np.float32]) -> NDArray[np.uint8]:
    """The nearest, ties up, at most 448; below the normal ones at most the largest subnormal."""
    bits = np.searchsorted(_E4M3_BOUNDS, values.astype(np.float64), side="right")
    return np.where(values < np.ldexp(1.0, -6), bits.clip(max=7), bits).astype(np.uint8)


def e8m0_values(bits: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Powers of two: 2 ** (bits - 127); 255 is NaN."""
    powers = np.ldexp(np.ones(bits.shape), bits.astype(np.int32) - 127).astype(np.float32)
    return np.where(bits == 255, np.float32(np.nan), powers)
