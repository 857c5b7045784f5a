"""Operations of tensor: they put elements elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from ...graph.linalg import tensors
from ...graph.linalg.generic import NotUnderstood
from ...graph.tosa import ops
from ..hl.moves import Concat, Slice
from ..hl.types import tensor_of
from .builder import DIRECT, GENERAL, Builder, Legaliser, NotForNpu
from .padding import padded


def reshape(op: Operation, b: Builder) -> SSAValue:
    """expand_shape and collapse_shape: the same bytes."""
    return b.view(b.value(op.operands[0]), ops.shape(op.results[0]))


def pad(op: Operation, b: Builder) -> SSAValue:
    """tensor.pad with a constant."""
    try:
        value = tensors.padding_value(op)
    except NotUnderstood as error:
        raise NotForNpu(str(error)) from None
    known = b.constant(value)
    fill = ops.constant(value) if known is None else known
    if fill is None:
        raise NotForNpu("what it pads with must be a constant, and is computed")
    lows = len(tensors.segments(op)[1])
    before = _known(op, "low", _numbers(b, op.operands[1 : 1 + lows]))
    after = _known(op, "high", _numbers(b, op.operands[1 + lows :]))
    x = b.value(op.operands[0])
    if min(before + after) < 0:
        raise NotForNpu("padding by less than nothing")
    return padded(b, x, before, after, fill)


def _numbers(b: Builder, values: Sequence[SSAValue]) -> list[int | None]:
    """Operands that are indices; None for those that are computed."""
    known = [b.constant(value) for value in values]
    return [None if each is None else int(each.reshape(-1)[0]) for each in known]


def _known(op: Operation, key: str, given: list[int | None]) -> tuple[int, ...]:
    found = [n for n in tensors.numbers(op, key, given) if n is not None]
    if len(found) < len(tensors.numbers(op, key, given)):
        raise NotForNpu("padding must be known, and is computed")
    return tuple(found)


def extract_slice(op: Operation, b: Builder) -> SSAValue:
    """tensor.extract_slice of a known region."""
    region = _region(op, 1, _numbers(b, list(op.operands[1:])))
    return b.view(_part(b, b.value(op.operands[0]), region), ops.shape(op.results[0]))


def _region(op: Operation, source: int, given: list[int | None]) -> list[slice]:
    try:
        return tensors.region_of(op, source, given)
    except NotUnderstood as error:
        raise NotForNpu(str(error)) from None


def _part(b: Builder, x: SSAValue, region: list[slice]) -> SSAValue:
    kind = tensor_of(x)
    shape = tuple(len(range(where.start, where.stop, where.step)) for where in region)
    if shape == kind.shape:
        return x
    starts = tuple(where.start for where in region)
    steps = tuple(where.step for where in region)
    every = steps if any(step != 1 for step in steps) else None
    return b.emit(Slice, [x], kind.like(shape=shape), starts=starts, steps=every)


def insert_slice(op: Operation, b: Builder) -> SSAValue:
    """tensor.insert_slice: what lies around it, axis by axis, and it."""
    region = _region(op, 2, _numbers(b, list(op.operands[2:])))
    if any(where.step != 1 for where in region):
        raise NotForNpu("an insertion with strides")
    shape = ops.shape(op.results[0])
    sizes = [where.stop - where.start for where in region]
    inner = b.view(b.value(op.operands[0]), sizes)
    whole = b.value(op.operands[1])
    for axis in reversed(range(len(shape))):
        outside = [slice(w.start, w.stop, 1) for w in region[:axis]]
        behind = [slice(0, size, 1) for size in shape[axis + 1 :]]
        parts = []
        for start, stop in ((0, region[axis].start), (region[axis].stop, shape[axis])):
            if stop > start:
                parts.append(_part(b, whole, [*outside, slice(start, stop, 1), *behind]))
        parts.insert(1 if region[axis].start else 0, inner)
        if len(parts) > 1:
            kind = tensor_of(inner)
            joined = (*kind.shape[:axis], shape[axis], *kind.shape[axis + 1 :])
            inner = b.emit(Concat, parts, kind.like(shape=joined), axis=axis)
    return inner


def concat(op: Operation, b: Builder) -> SSAValue:
    """tensor.concat."""
    parts = [b.value(value) for value in op.operands]
    y = tensor_of(parts[0]).like(shape=ops.shape(op.results[0]))
    return parts[0] if len(parts) == 1 else b.emit(Concat, parts, y, axis=ops.integer(op, "dim"))


LEGALISERS: dict[str, tuple[str, Legaliser]] = {
    "tensor.expand_shape": (DIRECT, reshape),
    "tensor.collapse_shape": (DIRECT, reshape),
    "tensor.reshape": (DIRECT, reshape),
    "tensor.cast": (DIRECT, reshape),
    "tensor.pad": (DIRECT, pad),
    "tensor.extract_slice": (DIRECT, extract_slice),
    "tensor.insert_slice": (GENERAL, insert_slice),
    "tensor.concat": (DIRECT, concat),
}
"""By the operation's name, with the way that it goes."""
