"""The buffers that an executable is run with: which are read or written, sizes, elements."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import ml_dtypes
import numpy as np

from .format import Binding, BufferInfo, BufferType, ElementType, Executable

_DTYPES: dict[ElementType, Any] = {
    ElementType.I1: np.bool_,
    ElementType.I8: np.int8,
    ElementType.I16: np.int16,
    ElementType.I32: np.int32,
    ElementType.I64: np.int64,
    ElementType.F32: np.float32,
    ElementType.BF16: ml_dtypes.bfloat16,
}


def sizes_of(executable: Executable) -> dict[int, int]:
    """Bytes that each buffer must at least have, by number."""
    sizes: dict[int, int] = {}
    for binding in executable.bindings:
        needed = binding.offset + binding.size
        sizes[binding.number] = max(sizes.get(binding.number, 0), needed)
    return dict(sorted(sizes.items()))


def read_by(executable: Executable) -> tuple[int, ...]:
    """Numbers of the buffers that the program reads."""
    return _numbers(executable, lambda binding: not binding.write_only)


def written_by(executable: Executable) -> tuple[int, ...]:
    """Numbers of the buffers that it writes."""
    return _numbers(executable, lambda binding: not binding.read_only)


def described(executable: Executable, number: int) -> BufferInfo | None:
    """What the executable says of the elements of a buffer, if it does."""
    for binding in executable.bindings:
        if binding.number == number:
            for info in executable.buffers:
                here = info.buffer_type == BufferType.XRAM and info.address == binding.address
                if here and info.size == binding.size:
                    return info
    return None


def elements_of(info: BufferInfo | None, size: int) -> tuple[np.dtype[Any], tuple[int, ...]] | None:
    """Type and shape of a buffer of `size` bytes; None where nothing that fits is stated."""
    if info is None or info.element_type not in _DTYPES:
        return None
    dtype: np.dtype[Any] = np.dtype(_DTYPES[info.element_type])
    return (dtype, info.shape) if prod(info.shape) * dtype.itemsize == size else None


def _numbers(executable: Executable, chosen: Callable[[Binding], bool]) -> tuple[int, ...]:
    return tuple(sorted({b.number for b in executable.bindings if chosen(b)}))
