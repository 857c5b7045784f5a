"""Sums of products in linalg.generic: as products of matrices."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from xdsl.ir import SSAValue

from ...graph.elements import NUMPY, Array, is_float
from ...graph.linalg.generic import Generic
from ..hl.elementwise import Scale
from ..hl.moves import Concat
from ..hl.products import MatMul
from ..hl.types import Tensor, tensor_of
from .builder import NotForNpu, identity
from .integers import Item, Numbers
from .linalg_loops import turned

_PARTS = 3
"""Numbers of bfloat16 that one of float32 is the sum of."""


@dataclass(frozen=True, slots=True)
class Factors:
    """The two factors, with the loops that their axes are."""

    a: SSAValue
    a_loops: list[int]
    b: SSAValue
    b_loops: list[int]


@dataclass(frozen=True, slots=True)
class _Groups:
    """Loops by where they are: in both factors, in a only, in b only, summed over."""

    batch: list[int]
    rows: list[int]
    columns: list[int]
    summed: list[int]

    @classmethod
    def of(cls, nest: Generic, f: Factors) -> _Groups:
        both = [n for n in f.a_loops if n in f.b_loops]
        groups = cls(
            sorted(n for n in both if n not in nest.reduced),
            sorted(n for n in f.a_loops if n not in both),
            sorted(n for n in f.b_loops if n not in both),
            sorted(n for n in both if n in nest.reduced),
        )
        if any(n in nest.reduced for n in (*groups.rows, *groups.columns)):
            raise NotForNpu("a sum over a loop that only one of two factors knows")
        if len(groups.summed) < len(nest.reduced):
            raise NotForNpu("a sum over a loop that no factor knows")
        return groups


def contracted(n: Numbers, nest: Generic, f: Factors, start: Item, dtype: str) -> SSAValue:
    """The sums with an axis for each loop, one step where it was summed; start included."""
    groups = _Groups.of(nest, f)
    batch, rows, columns, summed = (
        math.prod(nest.sizes[loop] for loop in loops)
        for loops in (groups.batch, groups.rows, groups.columns, groups.summed)
    )
    a = _as(n, f.a, f.a_loops, [*groups.batch, *groups.rows, *groups.summed])
    b = _as(n, f.b, f.b_loops, [*groups.batch, *groups.summed, *groups.columns])
    a = n.builder.view(a, (batch, rows, summed))
    b = n.builder.view(b, (batch, summed, columns))
    order = [*groups.batch, *groups.rows, *groups.columns]
    if is_float(dtype):
        made = _floats(n, a, b, _row_start(nest, groups, start, (batch, rows)), dtype)
    else:
        made = _integers(n, a, b)
    laid = n.builder.view(made, [nest.sizes[loop] for loop in order] or [1])
    if order:
        laid = turned(n.builder, laid, sorted(range(len(order)), key=lambda axis: order[axis]))
    return n.builder.view(laid, [s if loop in order else 1 for loop, s in enumerate(nest.sizes)])


def _as(n: Numbers, x: SSAValue, loops: list[int], order: list[int]) -> SSAValue:
    return turned(n.builder, x, [loops.index(loop) for loop in order])


def _matmul(n: Numbers, a: SSAValue, b: SSAValue, dtype: str) -> SSAValue:
    (batch, rows, _), columns = tensor_of(a).shape, tensor_of(b).shape[2]
    return n.builder.emit(MatMul, [a, b], Tensor(dtype=dtype, shape=(batch, rows, columns)))


def _integers(n: Numbers, a: SSAValue, b: SSAValue) -> SSAValue:
    """int32 whose low bits are right: all of them, or 16 where both factors have 16."""
    a, b = _narrow(n, a), _narrow(n, b)
    depth = tensor_of(a).shape[2]
    most = depth * math.prod(max(abs(low), abs(high)) for low, high in map(n.bounds, (a, b)))
    if most < 1 << 31:
        return _matmul(n, a, b, "int32")
    if depth > 1 << 14:
        raise NotForNpu(f"a sum of {depth} products of 16 bits")
    (a_low, a_high), (b_low, b_high) = _bytes(n, a), _bytes(n, b)
    low = _matmul(n, a_low, b_low, "int32")
    middle = n.add(_matmul(n, a_high, b_low, "int32"), _matmul(n, a_low, b_high, "int32"))
    high = _matmul(n, a_high, b_high, "int32")
    middle = n.combine("LSL", middle, n.number(8, middle), "int32")
    high = n.combine("LSL", high, n.number(16, high), "int32")
    return n.add(n.add(low, middle), high)


def _bytes(n: Numbers, x: SSAValue) -> tuple[SSAValue, SSAValue]:
    """Low bytes from 0 to 255, and high ones."""
    x = n.widened(x, "int16")
    low = n.combine("BAND", x, n.number(255, x), "int16")
    return low, n.combine("ASR", x, n.number(8, x), "int16")


def _narrow(n: Numbers, x: SSAValue) -> SSAValue:
    if tensor_of(x).dtype != "int32":
        return x
    low, high = n.bounds(x)
    if low < -(1 << 15) or high >= 1 << 15:
        raise NotForNpu("products of matrices of 32 bits")
    y = tensor_of(x).like(dtype="int16")
    return n.builder.emit(Scale, [x], y, rescale=identity("int16"))


def _row_start(nest: Generic, groups: _Groups, start: Item, sizes: tuple[int, int]) -> Array | None:
    """What sums start with, for each batch and row; None if that is 0.

    Only constants that are the same for all columns are taken; others are added behind.
    """
    if not isinstance(start, np.ndarray):
        return None
    if not np.any(start):
        return None
    wanted = [*groups.batch, *groups.rows]
    full = np.broadcast_to(start, [1 if n in nest.reduced else s for n, s in enumerate(nest.sizes)])
    kept = np.transpose(full, [*wanted, *(n for n in range(len(nest.sizes)) if n not in wanted)])
    flat = kept.reshape(*sizes, -1)
    return flat[:, :, 0].astype(np.float32) if np.all(flat == flat[:, :, :1]) else None


def takes_start(nest: Generic, f: Factors, start: Item, dtype: str) -> bool:
    """Whether `contracted` adds what sums start with."""
    if not is_float(dtype) or not isinstance(start, np.ndarray) or not np.any(start):
        return False
    groups = _Groups.of(nest, f)
    sizes = [math.prod(nest.sizes[n] for n in loops) for loops in (groups.batch, groups.rows)]
    return _row_start(nest, groups, start, (sizes[0], sizes[1])) is not None


def _floats(n: Numbers, a: SSAValue, b: SSAValue, start: Array | None, dtype: str) -> SSAValue:
    """Sums in float32; what they start with are more products, with 1."""
    kinds = {tensor_of(value).dtype for value in (a, b)}
    if kinds != {"bfloat16"}:
        raise NotForNpu(f"products of {', '.join(sorted(kinds))}")
    if start is not None:
        parts = _as_parts(start)
        a = _joined(n, a, parts.astype(NUMPY["bfloat16"]), 2)
        batch, columns = tensor_of(b).shape[0], tensor_of(b).shape[2]
        ones = np.ones((batch, parts.shape[2], columns), NUMPY["bfloat16"])
        b = _joined(n, b, ones, 1)
    return _matmul(n, a, b, dtype)


def _as_parts(start: Array) -> Array:
    """Numbers (n, h) as sums of numbers of bfloat16, (n, h, parts)."""
    rest, parts = start, []
    for _ in range(_PARTS):
        part = rest.astype(NUMPY["bfloat16"]).astype(np.float32)
        parts.append(part)
        rest = rest - part
        if not np.any(rest):
            break
    return np.stack(parts, axis=-1)


def _joined(n: Numbers, x: SSAValue, more: Array, axis: int) -> SSAValue:
    kind = tensor_of(x)
    shape = list(kind.shape)
    shape[axis] += more.shape[axis]
    parts = [x, n.builder.const(more, kind.dtype)]
    return n.builder.emit(Concat, parts, kind.like(shape=tuple(shape)), axis=axis)
