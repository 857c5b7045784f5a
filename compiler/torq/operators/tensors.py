"""Types of tensors: element type, shape, how elements lie in memory; and regions of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

ELEMENT_BYTES = {"int8": 1, "uint8": 1, "int16": 2, "int32": 4, "bfloat16": 2, "float32": 4}
"""Element types and their bytes. Truth values are int8, 0 or 1."""
PLANE_ALIGNMENT = 64
"""Bytes: planes start where a vector does."""


class Layout(Enum):
    """How elements lie in memory.

    ROWS: without gaps, the last dimension innermost. PLANES: of (n, c, h, w), a plane of h times w
    starts at a multiple of 64 bytes. QUADRANTS: of (n, c, h, w) with even h and w, each plane is
    taken apart into four of half the height and width: even and odd rows and columns, in the order
    EE, EO, OE, OO; this is what kernels of stride 2 read.
    """

    ROWS = "rows"
    PLANES = "planes"
    QUADRANTS = "quadrants"


@dataclass(frozen=True, kw_only=True)
class TensorType:
    """A tensor: `shape` is its own, (n, c, h, w) of PLANES and QUADRANTS alike."""

    dtype: str
    shape: tuple[int, ...]
    layout: Layout = Layout.ROWS

    def __post_init__(self) -> None:
        if self.dtype not in ELEMENT_BYTES:
            raise ValueError(f"no type {self.dtype}; there are {', '.join(ELEMENT_BYTES)}")
        if any(size < 1 for size in self.shape):
            raise ValueError(f"a tensor of {self.shape} has no elements")
        if self.layout is not Layout.ROWS and len(self.shape) != 4:
            raise ValueError(f"{self.layout.value} have 4 dimensions, not {len(self.shape)}")
        if self.layout is Layout.QUADRANTS and (self.shape[2] % 2 or self.shape[3] % 2):
            raise ValueError(f"quadrants of {self.shape[2]}x{self.shape[3]}: both must be even")

    @property
    def element(self) -> int:
        """Bytes of an element."""
        return ELEMENT_BYTES[self.dtype]

    @property
    def stored_shape(self) -> tuple[int, ...]:
        """The dimensions in memory: QUADRANTS have one more, (n, c, 4, h / 2, w / 2)."""
        if self.layout is not Layout.QUADRANTS:
            return self.shape
        n, c, h, w = self.shape
        return n, c, 4, h // 2, w // 2

    @cached_property
    def strides(self) -> tuple[int, ...]:
        """Bytes from one to the next along each of the dimensions in memory."""
        strides = []
        step = self.element
        for axis, size in reversed(list(enumerate(self.stored_shape))):
            strides.append(step)
            step *= size
            if self.layout is not Layout.ROWS and axis == len(self.stored_shape) - 2:
                step = -(-step // PLANE_ALIGNMENT) * PLANE_ALIGNMENT
        return tuple(reversed(strides))

    @property
    def bytes_(self) -> int:
        """Bytes in memory, gaps behind planes included."""
        return self.stored_shape[0] * self.strides[0] if self.stored_shape else self.element

    def of(self, region: Region) -> TensorType:
        """The type of a part by itself."""
        return TensorType(dtype=self.dtype, shape=region.sizes, layout=self.layout)


@dataclass(frozen=True, kw_only=True)
class Region:
    """A box of elements: along each dimension of the shape the first one, and how many."""

    starts: tuple[int, ...]
    sizes: tuple[int, ...]

    @staticmethod
    def whole(shape: tuple[int, ...]) -> Region:
        """All elements."""
        return Region(starts=(0,) * len(shape), sizes=shape)

    @property
    def stops(self) -> tuple[int, ...]:
        """The first element behind, along each dimension."""
        return tuple(a + n for a, n in zip(self.starts, self.sizes, strict=True))

    @property
    def count(self) -> int:
        """Elements."""
        return math.prod(self.sizes)

    def along(self, axis: int, start: int, size: int) -> Region:
        """The region with other bounds along an axis."""
        return Region(
            starts=(*self.starts[:axis], start, *self.starts[axis + 1 :]),
            sizes=(*self.sizes[:axis], size, *self.sizes[axis + 1 :]),
        )

    def is_within(self, shape: tuple[int, ...]) -> bool:
        """Whether a tensor of this shape has all elements of it, and there are some."""
        return len(shape) == len(self.sizes) and all(
            a >= 0 and n >= 1 and a + n <= size
            for a, n, size in zip(self.starts, self.sizes, shape, strict=True)
        )
