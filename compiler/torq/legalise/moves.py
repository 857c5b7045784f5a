"""Operators that move elements."""

from __future__ import annotations

import math

import numpy as np
from xdsl.ir import Operation, SSAValue

from ...graph.elements import NUMPY, Array
from ...graph.tosa import ops
from ..hl.moves import Broadcast, Concat, Slice, Transpose
from ..hl.types import Tensor, tensor_of
from .builder import DIRECT, GENERAL, Builder, Legaliser, result
from .gathering import gathered
from .padding import padded


def concat(op: Operation, b: Builder) -> SSAValue:
    """CONCAT."""
    parts = [b.value(value) for value in op.operands]
    if len(parts) == 1:
        return parts[0]
    return b.emit(Concat, parts, _like(op, b), axis=ops.integer(op, "axis"))


def pad(op: Operation, b: Builder) -> SSAValue:
    """PAD with a constant."""
    widths = b.known(op.operands[1], "padding").reshape(-1, 2)
    x = b.value(op.operands[0])
    fill = np.zeros(1, NUMPY[tensor_of(x).dtype])
    if len(op.operands) > 2:
        fill = b.known(op.operands[2], "what is padded with").astype(fill.dtype)
    before, after = (tuple(int(n) for n in widths[:, side]) for side in (0, 1))
    return padded(b, x, before, after, fill)


def reshape(op: Operation, b: Builder) -> SSAValue:
    """RESHAPE: the same bytes."""
    return b.view(b.value(op.operands[0]), ops.shape(op.results[0]))


def slice_(op: Operation, b: Builder) -> SSAValue:
    """SLICE."""
    starts = b.known(op.operands[1], "where a slice starts").reshape(-1)
    x = b.value(op.operands[0])
    return b.emit(Slice, [x], _like(op, b), starts=tuple(int(n) for n in starts))


def transpose(op: Operation, b: Builder) -> SSAValue:
    """TRANSPOSE."""
    x = b.value(op.operands[0])
    return b.emit(Transpose, [x], _like(op, b), order=ops.integers(op, "perms"))


def tile(op: Operation, b: Builder) -> SSAValue:
    """TILE: along each axis so many copies one behind the other."""
    times = [int(n) for n in b.known(op.operands[1], "how often to repeat").reshape(-1)]
    x = b.value(op.operands[0])
    for axis, many in enumerate(times):
        kind = tensor_of(x)
        shape = list(kind.shape)
        shape[axis] *= many
        if many > 1 and kind.shape[axis] == 1:
            x = b.emit(Broadcast, [x], kind.like(shape=tuple(shape)))
        elif many > 1:
            x = b.emit(Concat, [x] * many, kind.like(shape=tuple(shape)), axis=axis)
    return x


def reverse(op: Operation, b: Builder) -> SSAValue:
    """REVERSE: the rows of an axis gathered from the last to the first."""
    size = ops.shape(op.results[0])[ops.integer(op, "axis")]
    x = b.value(op.operands[0])
    return picked(b, x, ops.integer(op, "axis"), np.arange(size, dtype=np.int32)[::-1])


def picked(b: Builder, x: SSAValue, axis: int, places: Array) -> SSAValue:
    """Steps of an axis by their numbers."""
    kind = tensor_of(x)
    outer, inner = math.prod(kind.shape[:axis]), math.prod(kind.shape[axis + 1 :])
    rows = b.view(x, (outer, kind.shape[axis], inner))
    indices = b.const(np.broadcast_to(places, (outer, len(places))), "int32")
    taken = gathered(b, rows, indices)
    return b.view(taken, (*kind.shape[:axis], len(places), *kind.shape[axis + 1 :]))


def _like(op: Operation, b: Builder) -> Tensor:
    """The result's shape with the first operand's quantisation."""
    return tensor_of(b.value(op.operands[0])).like(shape=result(op).shape)


LEGALISERS: dict[str, tuple[str, Legaliser]] = {
    "tosa.concat": (DIRECT, concat),
    "tosa.pad": (DIRECT, pad),
    "tosa.reshape": (DIRECT, reshape),
    "tosa.slice": (DIRECT, slice_),
    "tosa.transpose": (DIRECT, transpose),
    "tosa.tile": (GENERAL, tile),
    "tosa.reverse": (GENERAL, reverse),
}
"""By the operator's name, with the way that it goes."""
