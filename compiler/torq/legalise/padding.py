"""Padding with a constant: 32 bits get constants around them, the rest is padded by its bits."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from ...graph.elements import NUMPY, Array
from ..hl.moves import Concat, Pad
from ..hl.types import tensor_of
from .builder import Builder
from .integers import Numbers, bits_of

Widths = tuple[int, ...]


def padded(b: Builder, x: SSAValue, before: Widths, after: Widths, fill: Array) -> SSAValue:
    """x with so many elements before and behind along each axis; `fill` has one, of x's type."""
    kind = tensor_of(x)
    if bits_of(kind.dtype) == 32:
        return _surrounded(b, x, before, after, fill)
    bits = Numbers(b).integers(x)
    dtype = tensor_of(bits).dtype
    number = int(np.ascontiguousarray(fill.reshape(-1)[:1]).view(NUMPY[dtype])[0])
    shape = tuple(a + n + c for a, n, c in zip(before, kind.shape, after, strict=True))
    y = tensor_of(bits).like(shape=shape)
    made = b.emit(Pad, [bits], y, before=before, after=after, fill=number)
    return b.view(made, shape, kind.dtype)


def _surrounded(b: Builder, x: SSAValue, before: Widths, after: Widths, fill: Array) -> SSAValue:
    """Constants before and behind, axis by axis."""
    for axis, sizes in enumerate(zip(before, after, strict=True)):
        kind = tensor_of(x)
        rims = [
            b.const(_rim(kind.shape, axis, size, fill), kind.dtype) if size else None
            for size in sizes
        ]
        parts = [part for part in (rims[0], x, rims[1]) if part is not None]
        if len(parts) > 1:
            total = sum(tensor_of(part).shape[axis] for part in parts)
            shape = (*kind.shape[:axis], total, *kind.shape[axis + 1 :])
            x = b.emit(Concat, parts, kind.like(shape=shape), axis=axis)
    return x


def _rim(shape: tuple[int, ...], axis: int, size: int, fill: Array) -> Array:
    return np.broadcast_to(fill.reshape(-1)[0], (*shape[:axis], size, *shape[axis + 1 :]))
