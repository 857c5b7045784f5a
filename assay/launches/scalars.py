"""Types of MSL and of files by name: what their elements are in memory."""

from __future__ import annotations

import re
from typing import Any

import ml_dtypes
import numpy as np

_BFLOAT = np.dtype(ml_dtypes.bfloat16)
_MSL: dict[str, np.dtype[Any]] = {
    "float": np.dtype(np.float32),
    "half": np.dtype(np.float16),
    "bfloat": _BFLOAT,
    "int": np.dtype(np.int32),
    "uint": np.dtype(np.uint32),
    "short": np.dtype(np.int16),
    "ushort": np.dtype(np.uint16),
    "char": np.dtype(np.int8),
    "uchar": np.dtype(np.uint8),
    "long": np.dtype(np.int64),
    "ulong": np.dtype(np.uint64),
    "size_t": np.dtype(np.uint64),
    "bool": np.dtype(np.bool_),
}
_SPELLINGS = {
    "unsigned int": "uint",
    "unsigned": "uint",
    "unsigned short": "ushort",
    "unsigned char": "uchar",
    "unsigned long": "ulong",
    "bfloat16_t": "bfloat",
    "atomic_float": "float",
    "atomic_int": "int",
    "atomic_uint": "uint",
    "atomic_ulong": "ulong",
    "atomic_bool": "bool",
}
_NAMES: dict[str, np.dtype[Any]] = {
    **_MSL,
    **{
        name: np.dtype(name)
        for name in (
            "float32",
            "float16",
            "int8",
            "int16",
            "int32",
            "int64",
            "uint8",
            "uint16",
            "uint32",
            "uint64",
            "bool",
        )
    },
    "bfloat16": _BFLOAT,
}
_VECTOR = re.compile(r"(?:packed_)?(?P<element>[a-z_]+?)(?P<count>[234])")
_MATRIX = re.compile(r"(?P<element>float|half)(?P<columns>[234])x(?P<rows>[234])")
DTYPES = tuple(_NAMES)
"""Names that `dtype` may have in a file of arguments."""


def dtype_named(name: str) -> np.dtype[Any] | None:
    """The NumPy type that a file of arguments calls `name`, or None."""
    return _NAMES.get(name)


def element_of(type_name: str) -> np.dtype[Any] | None:
    """The scalar that an MSL type such as `uint3` or `atomic_uint` is made of, or None."""
    plain = _plain(type_name)
    if plain in _MSL:
        return _MSL[plain]
    match = _VECTOR.fullmatch(plain) or _MATRIX.fullmatch(plain)
    if match is not None and match["element"] in _MSL:
        return _MSL[match["element"]]
    fixed = re.fullmatch(r"(u?int(?:8|16|32|64))_t", plain)
    return np.dtype(fixed[1]) if fixed else None


def axes_of(type_name: str) -> int:
    """How many components a position of this type has: 1 for `uint`, 2 for `ushort2`."""
    match = _VECTOR.fullmatch(_plain(type_name))
    return int(match["count"]) if match else 1


def lanes_of(type_name: str, itemsize: int) -> tuple[int, int]:
    """(scalars that a value of this type takes in memory, its alignment in bytes).

    A vector of three takes the room of four, a packed one is aligned as its scalars are.
    """
    plain = _plain(type_name)
    matrix = _MATRIX.fullmatch(plain)
    if matrix is not None:
        rows = 4 if matrix["rows"] == "3" else int(matrix["rows"])
        return int(matrix["columns"]) * rows, rows * itemsize
    vector = _VECTOR.fullmatch(plain)
    if vector is None:
        return 1, itemsize
    count = int(vector["count"])
    if plain.startswith("packed_"):
        return count, itemsize
    count = 4 if count == 3 else count
    return count, count * itemsize


def _plain(type_name: str) -> str:
    text = re.sub(r"\b(?:const|volatile|metal\s*::|coherent)\s*", "", type_name)
    text = re.sub(r"\s+", " ", text).strip()
    atomic = re.fullmatch(r"(?:_?atomic)\s*<\s*(.*?)\s*>", text)
    text = atomic[1] if atomic else text
    return _SPELLINGS.get(text, text)
