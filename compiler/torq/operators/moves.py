"""Operators that put elements elsewhere and leave them as they are."""

from __future__ import annotations

from dataclasses import dataclass

from .operator import Operator
from .tensors import TensorType

MOST_OFFSET = (1 << 15) - 1
"""Bytes: how far from its start a tensor is gathered from, by offsets of 16 bits."""


@dataclass(frozen=True, kw_only=True)
class Copy(Operator):
    """y = x of the same shape and type; the layouts may differ."""

    x: TensorType


@dataclass(frozen=True, kw_only=True)
class Transpose(Operator):
    """Dimension i of y is dimension order[i] of x. From ROWS (n, h, w, c) to PLANES this is
    (0, 3, 1, 2), back (0, 2, 3, 1).
    """

    x: TensorType
    order: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Segment(Operator):
    """y = x (n, c, h, w) of the same shape: PLANES taken apart into QUADRANTS."""

    x: TensorType


@dataclass(frozen=True, kw_only=True)
class Pad(Operator):
    """y = x with `before` and `after` elements of `value` along each dimension."""

    x: TensorType
    before: tuple[int, ...]
    after: tuple[int, ...]
    value: int = 0


@dataclass(frozen=True, kw_only=True)
class Concat(Operator):
    """The parts one behind the other along an axis; operands are x0, x1 and so on."""

    parts: tuple[TensorType, ...]
    axis: int

    @property
    def operands(self) -> dict[str, TensorType]:
        """The parts by name."""
        return {f"x{number}": part for number, part in enumerate(self.parts)}


@dataclass(frozen=True, kw_only=True)
class Slice(Operator):
    """y = elements of x from `starts` on, every `steps`-th."""

    x: TensorType
    starts: tuple[int, ...]
    steps: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Broadcast(Operator):
    """y = x repeated along the dimensions in which it has one step."""

    x: TensorType


@dataclass(frozen=True, kw_only=True)
class Repeat(Operator):
    """Each element of x so many times in a row along each dimension: what resizing to the nearest
    by whole factors is.
    """

    x: TensorType
    factors: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Gather(Operator):
    """y (n, w, c) = rows of x (n, k, c) at indices (n, w), int32."""

    x: TensorType
    indices: TensorType


@dataclass(frozen=True, kw_only=True)
class Fill(Operator):
    """y = one value everywhere."""

    value: int
