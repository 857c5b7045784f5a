"""Element types by name, as xDSL writes them and as NumPy keeps them; constants as arrays."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import (
    BFloat16Type,
    BytesAttr,
    DenseIntOrFPElementsAttr,
    Float16Type,
    Float32Type,
    Float64Type,
    IndexType,
    IntegerType,
    Signedness,
    TensorType,
)
from xdsl.ir import Attribute

Array = NDArray[Any]

NUMPY: dict[str, np.dtype[np.generic]] = {
    "bool": np.dtype(np.bool_),
    "int4": np.dtype(np.int8),
    "int8": np.dtype(np.int8),
    "uint8": np.dtype(np.uint8),
    "int16": np.dtype(np.int16),
    "uint16": np.dtype(np.uint16),
    "int32": np.dtype(np.int32),
    "uint32": np.dtype(np.uint32),
    "int48": np.dtype(np.int64),
    "int64": np.dtype(np.int64),
    "uint64": np.dtype(np.uint64),
    "index": np.dtype(np.int64),
    "float16": np.dtype(np.float16),
    "bfloat16": np.dtype(ml_dtypes.bfloat16),
    "float32": np.dtype(np.float32),
    "float64": np.dtype(np.float64),
}
"""How NumPy keeps elements of each type; int48 in 64 bits."""
LIMITS = {
    "bool": (0, 1),
    "int4": (-8, 7),
    "int8": (-(1 << 7), (1 << 7) - 1),
    "uint8": (0, (1 << 8) - 1),
    "int16": (-(1 << 15), (1 << 15) - 1),
    "uint16": (0, (1 << 16) - 1),
    "int32": (-(1 << 31), (1 << 31) - 1),
    "uint32": (0, (1 << 32) - 1),
    "int48": (-(1 << 47), (1 << 47) - 1),
    "int64": (-(1 << 63), (1 << 63) - 1),
}
"""Least and largest value of each integer type."""


def unsigned(dtype: str) -> str:
    """The unsigned type of as many bits; itself, if there is none."""
    return found if (found := f"u{dtype}") in LIMITS else dtype


FLOATS = ("float16", "bfloat16", "float32", "float64")
_FLOAT_TYPES: dict[str, Attribute] = {
    "float16": Float16Type(),
    "bfloat16": BFloat16Type(),
    "float32": Float32Type(),
    "float64": Float64Type(),
    "index": IndexType(),
}
_SHORT = {
    "bool": "i1",
    "bfloat16": "bf16",
    "float16": "f16",
    "float32": "f32",
    "float64": "f64",
    "index": "index",
}


def dtype_of(element: Attribute) -> str | None:
    """The name of an element type; None of one that there is no name for."""
    if isinstance(element, IntegerType):
        width = element.width.data
        if width == 1:
            return "bool"
        unsigned = element.signedness.data == Signedness.UNSIGNED
        name = f"{'u' if unsigned else ''}int{width}"
        return name if name in NUMPY else None
    return next((name for name, known in _FLOAT_TYPES.items() if known == element), None)


def element_type(dtype: str) -> Attribute:
    """The element type of a name."""
    if dtype in _FLOAT_TYPES:
        return _FLOAT_TYPES[dtype]
    if dtype == "bool":
        return IntegerType(1)
    unsigned = dtype.startswith("u")
    width = int(dtype.removeprefix("u").removeprefix("int"))
    return IntegerType(width, Signedness.UNSIGNED if unsigned else Signedness.SIGNLESS)


def short_name(dtype: str) -> str:
    """As MLIR writes it: i8, ui8, bf16."""
    return _SHORT.get(dtype) or dtype.replace("int", "i")


DTYPES = {short_name(dtype): dtype for dtype in NUMPY}
"""Names by what MLIR writes."""


def is_float(dtype: str) -> bool:
    """Whether elements are floating-point numbers."""
    return dtype in FLOATS


def shape_of(kind: Attribute) -> tuple[int, ...] | None:
    """The shape of a tensor type, -1 where it is not known; None of what is no ranked tensor."""
    return tuple(kind.get_shape()) if isinstance(kind, TensorType) else None


def array_of(value: Attribute) -> Array:
    """The elements of `dense<...>`, shaped as its type says; splats are not repeated in memory."""
    if not isinstance(value, DenseIntOrFPElementsAttr):
        raise ValueError(f"{value.name} has no elements at hand")
    shape = tuple(value.type.get_shape())
    dtype = dtype_of(value.get_element_type())
    if dtype is None:
        raise ValueError(f"elements of {value.get_element_type()}")
    flat = np.frombuffer(value.data.data, NUMPY[dtype])
    if flat.size == math.prod(shape):
        return flat.reshape(shape)
    return np.broadcast_to(flat, shape)


def dense_of(array: Array, dtype: str) -> DenseIntOrFPElementsAttr:
    """An array as `dense<...>` of elements of this type."""
    kept = np.ascontiguousarray(array, NUMPY[dtype])
    kind = TensorType(element_type(dtype), kept.shape)
    if kept.size > 1 and kept.size == array.size and not np.any(kept != kept.flat[0]):
        kept = kept.reshape(-1)[:1]
    return DenseIntOrFPElementsAttr(kind, BytesAttr(kept.tobytes()))  # type: ignore[arg-type]
