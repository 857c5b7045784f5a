"""Element types of buffer views: IREE's codes, its spelling, and the NumPy dtype of each.

A code is `numerical type << 24 | bits`. Source: `runtime/src/iree/hal/buffer_view.h`.
"""

from __future__ import annotations

from typing import Final

import ml_dtypes
import numpy as np

from .status import StatusError

OPAQUE: Final = 0x00
INTEGER: Final = 0x10
BOOLEAN: Final = 0x13
DENSE_ROW_MAJOR: Final = 1
"""The encoding type of ordinary arrays."""


def _code(numerical: int, bits: int) -> int:
    return numerical << 24 | bits


_DTYPES: Final[dict[int, np.dtype]] = {
    _code(0x13, 8): np.dtype(np.bool_),
    **{_code(0x10, bits): np.dtype(f"i{bits // 8}") for bits in (8, 16, 32, 64)},
    **{_code(0x11, bits): np.dtype(f"i{bits // 8}") for bits in (8, 16, 32, 64)},
    **{_code(0x12, bits): np.dtype(f"u{bits // 8}") for bits in (8, 16, 32, 64)},
    **{_code(0x21, bits): np.dtype(f"f{bits // 8}") for bits in (16, 32, 64)},
    _code(0x22, 16): np.dtype(ml_dtypes.bfloat16),
    _code(0x23, 64): np.dtype(np.complex64),
    _code(0x23, 128): np.dtype(np.complex128),
    _code(0x24, 8): np.dtype(ml_dtypes.float8_e5m2),
    _code(0x25, 8): np.dtype(ml_dtypes.float8_e4m3fn),
    _code(0x26, 8): np.dtype(ml_dtypes.float8_e5m2fnuz),
    _code(0x27, 8): np.dtype(ml_dtypes.float8_e4m3fnuz),
    _code(0x28, 8): np.dtype(ml_dtypes.float8_e8m0fnu),
}

# Signless integers are what compiled programs expect; unsigned arrays keep their sign class.
_CODES: Final[dict[np.dtype, int]] = {
    dtype: code for code, dtype in reversed(_DTYPES.items()) if code >> 24 != 0x11
}

_FLOAT8_NAMES: Final = {0x24: "E5M2", 0x25: "E4M3FN", 0x26: "E5M2FNUZ", 0x27: "E4M3FNUZ"}
_PREFIXES: Final = {
    0x00: "x",
    0x10: "i",
    0x11: "si",
    0x12: "ui",
    0x13: "i",
    0x21: "f",
    0x22: "bf",
    0x23: "complex<f",
}


def numerical_type(code: int) -> int:
    """The numerical type of an element type."""
    return code >> 24 & 0xFF


def bit_count(code: int) -> int:
    """Bits of one element."""
    return code & 0xFF


def text(code: int) -> str:
    """An element type as IREE prints it: `f32`, `bf16`, `si8`, ..."""
    numerical, bits = numerical_type(code), bit_count(code)
    if numerical in _FLOAT8_NAMES:
        return f"f8{_FLOAT8_NAMES[numerical]}"
    if numerical == 0x28:
        return "f8E8M0FNU"
    if numerical == 0x23:
        return f"complex<f{bits // 2}>"
    return f"{_PREFIXES.get(numerical, '*')}{1 if numerical == BOOLEAN else bits}"


def shape_text(shape: tuple[int, ...]) -> str:
    """A shape as IREE prints it: `4x8`; empty for scalars."""
    return "x".join(map(str, shape))


def dtype_of(code: int) -> np.dtype:
    """The NumPy dtype of an element type; raises StatusError for types NumPy lacks."""
    dtype = _DTYPES.get(code)
    if dtype is None:
        raise StatusError(
            "UNIMPLEMENTED", f"element type {text(code)} ({code:08X}) has no NumPy counterpart"
        )
    return dtype


def code_of(dtype: np.dtype) -> int:
    """The element type of a NumPy dtype; raises StatusError for dtypes IREE lacks."""
    code = _CODES.get(dtype.newbyteorder("="))
    if code is None:
        choices = ", ".join(sorted({str(known) for known in _CODES}))
        raise StatusError(
            "INVALID_ARGUMENT", f"arrays of dtype {dtype} cannot be passed; choices: {choices}"
        )
    return code


def compatible(actual: int, expected: int) -> bool:
    """Whether a view of one element type may be passed where another is expected."""
    actual_kind, expected_kind = numerical_type(actual), numerical_type(expected)
    if actual_kind == OPAQUE or actual == expected:
        return True
    integers = actual_kind & INTEGER and expected_kind & INTEGER
    return bool(integers) and bit_count(actual) == bit_count(expected)
