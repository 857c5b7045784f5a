"""Where tensors and constants lie in LRAM."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..operators.tensors import ELEMENT_BYTES
from .errors import IllegalSliceProgram
from .tensor import Tensor, dense

ALIGNMENT = 64
"""Bytes: planes start where a vector does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Constant:
    """Bytes that must be in LRAM before a program starts."""

    name: str
    address: int
    data: bytes


class Lram:
    """Places one thing behind the other from `start` up to `end`; remembers constants, names."""

    def __init__(self, start: int, end: int) -> None:
        self.next = start
        self.end = end
        self.constants: list[Constant] = []
        self.places: list[tuple[int, int, str]] = []
        """(start, stop, name) of everything that was placed."""
        self.padding: list[tuple[int, int]] = []
        """(start, stop) of gaps between planes."""

    def reserve(self, name: str, size: int, alignment: int = ALIGNMENT) -> int:
        """The address of `size` free bytes. Raises IllegalSliceProgram when LRAM is full."""
        address = -(-self.next // alignment) * alignment
        if address + size > self.end:
            raise IllegalSliceProgram(
                "LRAM budget",
                f"'{name}' needs {size} bytes at {address:#x}, and LRAM ends at {self.end:#x}",
            )
        self.next = address + size
        self.places.append((address, self.next, name))
        return address

    def tensor(self, name: str, dtype: str, shape: tuple[int, ...]) -> Tensor:
        """A tensor without gaps."""
        flat = dense(name, 0, dtype, shape)
        return dense(name, self.reserve(name, flat.size), dtype, shape)

    def planes(self, name: str, dtype: str, shape: tuple[int, ...]) -> Tensor:
        """A tensor (..., height, width) whose planes start at multiples of 64 bytes."""
        *outer, height, width = shape
        element = ELEMENT_BYTES[dtype]
        plane = -(-height * width * element // ALIGNMENT) * ALIGNMENT
        strides = [element, width * element]
        step = plane
        for count in reversed(outer):
            strides.append(step)
            step *= count
        address = self.reserve(name, step)
        used = height * width * element
        self.padding += [
            (address + start + used, address + start + plane)
            for start in range(0, step, plane)
            if used < plane
        ]
        return Tensor(
            name=name,
            address=address,
            dtype=dtype,
            shape=shape,
            strides=tuple(reversed(strides)),
        )

    def constant(self, name: str, values: NDArray[np.generic]) -> Tensor:
        """Numbers of the program's own, innermost dimension last."""
        dtype = str(values.dtype)
        tensor = self.tensor(name, dtype, values.shape)
        data = np.ascontiguousarray(values).tobytes()
        self.constants.append(Constant(name=name, address=tensor.address, data=data))
        return tensor
