"""The element types of MLX: their names in MLX, in Metal and in NumPy."""

from __future__ import annotations

from dataclasses import dataclass

import ml_dtypes
import numpy as np


@dataclass(frozen=True, slots=True, kw_only=True)
class ElementType:
    """One type: MLX's name, the name that generated kernels use, the type of NumPy elements."""

    name: str
    metal: str
    numpy: np.dtype[np.generic]


_NAMES = (
    "bool",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "bfloat16",
    "float32",
    "complex64",
)
_METAL = {"bool": "bool", "float32": "float"}  # the others have a _t at the end


def _element_type(name: str) -> ElementType:
    numpy = np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)
    return ElementType(name=name, metal=_METAL.get(name, f"{name}_t"), numpy=numpy)


_TYPES = {name: _element_type(name) for name in _NAMES}


def element_type(of: object) -> ElementType:
    """The type that `of` names: an mlx.core.Dtype, a NumPy dtype or scalar type, or a string.

    Raises ValueError for what is no type, or none that Metal has.
    """
    name = _name(of)
    found = _TYPES.get(name)
    if found is None:
        raise ValueError(
            f"[metal_kernel] {name} is not a type of Metal kernels; there are {', '.join(_TYPES)}"
        )
    return found


def is_type(value: object) -> bool:
    """Whether `value` means an element type, supported or not."""
    return is_mlx_type(value) or isinstance(value, np.dtype | type)


def is_mlx_type(value: object) -> bool:
    """Whether `value` is an mlx.core.Dtype; MLX is not imported for the question."""
    return type(value).__module__.startswith("mlx.") and type(value).__name__ == "Dtype"


def _name(of: object) -> str:
    if is_mlx_type(of):
        return str(of).rpartition(".")[2]
    try:
        return np.dtype(of).name  # type: ignore[call-overload,no-any-return]
    except TypeError:
        raise ValueError(
            f"[metal_kernel] {of!r} is no element type; give an mlx.core.Dtype or a NumPy dtype"
        ) from None
