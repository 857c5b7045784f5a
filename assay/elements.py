"""Element types of tensors: IREE's names for them and their NumPy types."""

from collections.abc import Mapping
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Value = Array | int | float
"""What functions take and return: tensors as arrays, scalars as Python numbers."""

ELEMENTS: Mapping[str, np.dtype[Any]] = {
    "i1": np.dtype(np.bool_),
    "i8": np.dtype(np.int8),
    "i16": np.dtype(np.int16),
    "i32": np.dtype(np.int32),
    "i64": np.dtype(np.int64),
    "si8": np.dtype(np.int8),
    "si16": np.dtype(np.int16),
    "si32": np.dtype(np.int32),
    "si64": np.dtype(np.int64),
    "ui8": np.dtype(np.uint8),
    "ui16": np.dtype(np.uint16),
    "ui32": np.dtype(np.uint32),
    "ui64": np.dtype(np.uint64),
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "f8E4M3FN": np.dtype(ml_dtypes.float8_e4m3fn),
    "f8E5M2": np.dtype(ml_dtypes.float8_e5m2),
    "complex<f32>": np.dtype(np.complex64),
    "complex<f64>": np.dtype(np.complex128),
}

_NAMES: dict[np.dtype[Any], str] = {}
for _name, _dtype in ELEMENTS.items():
    _NAMES.setdefault(_dtype, _name)

FLOAT_BITS: Mapping[str, type[np.unsignedinteger[Any]]] = {
    "f16": np.uint16,
    "bf16": np.uint16,
    "f32": np.uint32,
    "f64": np.uint64,
    "f8E4M3FN": np.uint8,
    "f8E5M2": np.uint8,
}


def element_name(dtype: np.dtype[Any]) -> str:
    """IREE's name of a NumPy type, or NumPy's own where IREE has none."""
    return _NAMES.get(dtype, dtype.name)


def is_float(dtype: np.dtype[Any]) -> bool:
    """Whether values have rounding errors: the floating types, ml_dtypes' included."""
    return element_name(dtype) in FLOAT_BITS


def type_text(value: Value) -> str:
    """The type of a value as IREE writes it: `4x8xf32`, `f32` for a tensor of rank 0."""
    if not isinstance(value, np.ndarray):
        return "f32" if isinstance(value, float) else "i32"
    return "x".join([*map(str, value.shape), element_name(value.dtype)])
