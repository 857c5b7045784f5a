"""Operators that move elements."""

from __future__ import annotations

import math

import numpy as np
from xdsl.ir import Operation, SSAValue

from ...graph.elements import Array
from ...graph.meaning.moves import nearest_places
from ...graph.tosa import ops
from ..hl.moves import Broadcast, Concat, Gather, Pad, Repeat, Slice, Transpose
from ..hl.types import Tensor, tensor_of
from .builder import DIRECT, GENERAL, Builder, Legaliser, NotForNpu, result


def concat(op: Operation, b: Builder) -> SSAValue:
    """CONCAT."""
    parts = [b.value(value) for value in op.operands]
    if len(parts) == 1:
        return parts[0]
    return b.emit(Concat, parts, _like(op, b), axis=ops.integer(op, "axis"))


def pad(op: Operation, b: Builder) -> SSAValue:
    """PAD with a constant."""
    widths = b.known(op.operands[1], "padding").reshape(-1, 2)
    value = b.known(op.operands[2], "what is padded with") if len(op.operands) > 2 else None
    fill = 0 if value is None else value.reshape(-1)[0]
    if float(fill) != int(fill):
        raise NotForNpu(f"the NPU pads with whole numbers, not with {fill}")
    before, after = (tuple(int(n) for n in widths[:, side]) for side in (0, 1))
    x = b.value(op.operands[0])
    return b.emit(Pad, [x], _like(op, b), before=before, after=after, fill=int(fill))


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


def gather(op: Operation, b: Builder) -> SSAValue:
    """GATHER."""
    return b.emit(Gather, [b.value(value) for value in op.operands[:2]], _like(op, b))


def reverse(op: Operation, b: Builder) -> SSAValue:
    """REVERSE: the rows of an axis gathered from the last to the first."""
    size = ops.shape(op.results[0])[ops.integer(op, "axis")]
    x = b.value(op.operands[0])
    return _picked(b, x, ops.integer(op, "axis"), np.arange(size, dtype=np.int32)[::-1])


def resize(op: Operation, b: Builder) -> SSAValue:
    """RESIZE to the nearest: repeats by whole factors, else rows and columns gathered."""
    if ops.word(op, "mode") != "NEAREST_NEIGHBOR":
        raise NotForNpu("the NPU resizes to the nearest only")
    scale, offset = (
        [int(n) for n in b.known(op.operands[i], "a scale or offset").reshape(-1)] for i in (1, 2)
    )
    x = b.value(op.operands[0])
    sizes, outputs = tensor_of(x).shape[1:3], ops.shape(op.results[0])[1:3]
    places = [
        nearest_places(sizes[i], outputs[i], scale[2 * i], scale[2 * i + 1], offset[i])
        for i in (0, 1)
    ]
    factors = [math.ceil(output / size) for size, output in zip(sizes, outputs, strict=True)]
    if all(
        np.array_equal(place, np.arange(output) // factor) and output == size * factor
        for place, output, factor, size in zip(places, outputs, factors, sizes, strict=True)
    ):
        return b.emit(Repeat, [x], _like(op, b), factors=(1, *factors, 1))
    for axis, place in enumerate(places, 1):
        x = _picked(b, x, axis, place.astype(np.int32))
    return x


def _picked(b: Builder, x: SSAValue, axis: int, places: Array) -> SSAValue:
    """Steps of an axis by their numbers."""
    kind = tensor_of(x)
    outer, inner = math.prod(kind.shape[:axis]), math.prod(kind.shape[axis + 1 :])
    rows = b.view(x, (outer, kind.shape[axis], inner))
    indices = b.const(np.broadcast_to(places, (outer, len(places))), "int32")
    shape = (outer, len(places), inner)
    taken = b.emit(Gather, [rows, indices], kind.like(shape=shape))
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
    "tosa.gather": (DIRECT, gather),
    "tosa.reverse": (GENERAL, reverse),
    "tosa.resize": (GENERAL, resize),
}
"""By the operator's name, with the way that it goes."""
