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


def _element_type(name: str, metal: str, numpy: type[np.generic]) -> ElementType:
    return ElementType(name=name, metal=metal, numpy=np.dtype(numpy))


_TYPES = {
    element_type.name: element_type
    for element_type in (
        _element_type("bool", "bool", np.bool_),
        _element_type("uint8", "uint8_t", np.uint8),
        _element_type("uint16", "uint16_t", np.uint16),
        _element_type("uint32", "uint32_t", np.uint32),
        _element_type("uint64", "uint64_t", np.uint64),
        _element_type("int8", "int8_t", np.int8),
        _element_type("int16", "int16_t", np.int16),
        _element_type("int32", "int32_t", np.int32),
        _element_type("int64", "int64_t", np.int64),
        _element_type("float16", "float16_t", np.float16),
        _element_type("bfloat16", "bfloat16_t", ml_dtypes.bfloat16),
        _element_type("float32", "float", np.float32),
        _element_type("complex64", "complex64_t", np.complex64),
    )
}


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
