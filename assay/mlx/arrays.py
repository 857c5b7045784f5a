"""Arrays of MLX and NumPy as what a kernel takes and gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds
from numpy.typing import NDArray

from .dtypes import ElementType, element_type, is_mlx_type

# What MLX makes of element types that it does not have.
_CONVERTED = {"float64": np.float32, "complex128": np.complex64}
_PYTHON = (bool, int, float, complex, list, tuple)


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """An array that a kernel reads, over the caller's own memory unless it had to be converted."""

    elements: NDArray[Any]
    element_type: ElementType

    @property
    def strides(self) -> tuple[int, ...]:
        """Elements between neighbours along each dimension."""
        return tuple(step // self.elements.itemsize for step in self.elements.strides)

    def row_contiguous(self) -> Input:
        """The same elements without gaps, copied if they have any."""
        # Not numpy.ascontiguousarray, which gives arrays without dimensions one.
        dense = np.asarray(self.elements, order="C")
        return Input(elements=dense, element_type=self.element_type)

    def memory(self) -> tuple[NDArray[np.uint8], int]:
        """The bytes from the lowest element to the highest, and where among them the first is.

        They are the array's own and valid as long as it lives; those of read-only arrays are
        copied.
        """
        from assay.hal.metal.emulated.host import bytes_at

        low, high = byte_bounds(self.elements)
        data = bytes_at(low, high - low)
        start = self.elements.__array_interface__["data"][0] - low
        return (data if self.elements.flags.writeable else data.copy()), start


def as_input(value: object, name: str) -> Input:
    """`value` (an MLX or NumPy array, a number, or lists of numbers) as the input `name`.

    Raises ValueError for other things and for element types that kernels do not have.
    """
    if is_mlx(value):
        return _from_mlx(value)
    elements = _from_python(value) if isinstance(value, _PYTHON) else np.asarray(value)
    elements = elements.astype(_CONVERTED.get(elements.dtype.name, elements.dtype), copy=False)
    try:
        return Input(elements=elements, element_type=element_type(elements.dtype))
    except ValueError as error:
        raise ValueError(f"{error} (input {name!r})") from None


def is_mlx(value: object) -> bool:
    """Whether `value` is an mlx.core.array; MLX is not imported for the question."""
    return type(value).__module__.startswith("mlx.") and type(value).__name__ == "array"


def _from_mlx(array: Any) -> Input:
    """The array's own memory, evaluated; NumPy has no bfloat16, so its bits are looked at."""
    mlx = import_module("mlx.core")
    found = element_type(array.dtype)
    bits = array.view(mlx.uint16) if found.name == "bfloat16" else array
    mlx.eval(bits)
    elements = np.array(bits, copy=None)
    if found.name == "bfloat16":
        elements = elements.view(found.numpy)
    return Input(elements=elements, element_type=found)


def _from_python(value: object) -> NDArray[Any]:
    """Numbers and lists of them, as MLX takes them: integers have 32 bits, fractions too."""
    elements = np.asarray(value)
    narrow = {"i": np.int32, "f": np.float32, "c": np.complex64}.get(elements.dtype.kind)
    return elements if narrow is None else elements.astype(narrow)


def new_output(
    shape: Sequence[int], of: ElementType, init_value: float | None
) -> NDArray[np.generic]:
    """An array for a kernel to fill, whose elements are `init_value`.

    None leaves them undefined: every bit is set, which reads as NaN, -1 or the largest number.
    """
    if init_value is not None:
        return np.full(shape, init_value, of.numpy)
    if of.name == "bool":
        return np.full(shape, True)
    undefined = np.empty(shape, of.numpy)
    undefined.reshape(-1).view(np.uint8)[:] = 0xFF
    return undefined


def to_mlx(elements: NDArray[Any], of: ElementType) -> Any:
    """An MLX array with a copy of the elements."""
    mlx = import_module("mlx.core")
    if of.name == "bfloat16":
        return mlx.array(elements.view(np.uint16)).view(mlx.bfloat16)
    return mlx.array(elements)


def gives_mlx(inputs: Sequence[object], types: Sequence[object]) -> bool:
    """Whether a call is about MLX arrays: any input or type is MLX's."""
    return any(map(is_mlx, inputs)) or any(map(is_mlx_type, types))
