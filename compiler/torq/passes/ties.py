"""Which elements of a function's values keep one order: what an operation says of its operands.

An operation ties parts of axes: where elements of one are put into another order, those of the
other must be, too. Axes that are `free` may have any order by themselves, because the operation's
constants can follow, or because it does not matter. All other axes stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from xdsl.ir import Operation, SSAValue

from ..hl import elementwise, moves, products, reductions
from ..hl.operation import HlOp
from ..hl.types import Tensor, tensor_of
from ..operators.tensors import Layout
from .base import is_constant

Place = tuple[SSAValue, int]
"""A value and one of its axes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tie:
    """`size` elements along `one` from `first` on are those along `other` from `second` on."""

    one: Place
    other: Place
    first: int
    second: int
    size: int


@dataclass(slots=True)
class Bonds:
    """What an operation says."""

    ties: list[Tie] = field(default_factory=list)
    free: set[Place] = field(default_factory=set)

    def tie(self, one: Place, other: Place, size: int, first: int = 0, second: int = 0) -> None:
        """Ties elements of two axes."""
        self.ties.append(Tie(one=one, other=other, first=first, second=second, size=size))
        self.free |= {one, other}


def bonds_of(op: Operation) -> Bonds:
    """What an operation says of its operands and its result."""
    bonds = Bonds()
    rule = _RULES.get(type(op))
    if rule is not None and isinstance(op, HlOp):
        rule(op, bonds)
    return bonds


def places_of(op: Operation) -> Iterator[Place]:
    """All axes of what an operation reads and makes."""
    for value in (*op.operands, *op.results):
        for axis in range(len(tensor_of(value).shape)):
            yield value, axis


def channel_axis(kind: Tensor) -> int:
    """The axis of channels: the last one of rows, else the second one."""
    return len(kind.shape) - 1 if kind.layout is Layout.ROWS else 1


def channels_of(value: SSAValue) -> Place:
    """A value's axis of channels."""
    return value, channel_axis(tensor_of(value))


def _alike(op: HlOp, bonds: Bonds) -> None:
    """Each element of the result is made of the same one of operands, which may be repeated."""
    for operand in op.operands:
        _same(op, operand, bonds, range(len(op.type.shape)))


def _same(op: HlOp, operand: SSAValue, bonds: Bonds, axes: Sequence[int]) -> None:
    """Ties these axes of an operand and the result, if their sizes say so."""
    shape, own = op.type.shape, tensor_of(operand).shape
    for axis in axes if len(own) == len(shape) else ():
        if own[axis] == shape[axis]:
            bonds.tie((operand, axis), (op.value, axis), shape[axis])
        elif own[axis] == 1:
            bonds.free.add((operand, axis))


def _scale(op: HlOp, bonds: Bonds) -> None:
    if len(op.field("rescale").multipliers) == 1:
        _alike(op, bonds)


def _weighted(op: HlOp, bonds: Bonds) -> None:
    """Weights follow the order of what is read and what is made."""
    if all(is_constant(operand) for operand in op.operands[1:]):
        bonds.free |= {channels_of(op.operands[0]), channels_of(op.value)}


def _depthwise(op: HlOp, bonds: Bonds) -> None:
    if all(is_constant(operand) for operand in op.operands[1:]):
        _channels(op, bonds)


def _channels(op: HlOp, bonds: Bonds) -> None:
    """Only channels keep their order."""
    size = products.channels(tensor_of(op.operands[0]))
    bonds.tie(channels_of(op.operands[0]), channels_of(op.value), size)


def _matmul(op: HlOp, bonds: Bonds) -> None:
    a, b, y = *op.operands, op.value
    for one, other in (((a, 1), (y, 1)), ((b, 2), (y, 2)), ((a, 2), (b, 1))):
        bonds.tie(one, other, tensor_of(one[0]).shape[one[1]])


def _reduce(op: HlOp, bonds: Bonds) -> None:
    x, axis = op.operands[0], op.field("axis")
    rank = len(tensor_of(x).shape)
    gone = len(op.type.shape) < rank
    for place in range(rank):
        if place != axis:
            there = place - (gone and place > axis)
            bonds.tie((x, place), (op.value, there), tensor_of(x).shape[place])
    if not op.field("kind").startswith("arg"):
        bonds.free.add((x, axis))


def _transpose(op: HlOp, bonds: Bonds) -> None:
    for axis, source in enumerate(op.field("order")):
        bonds.tie((op.operands[0], source), (op.value, axis), op.type.shape[axis])


def _broadcast(op: HlOp, bonds: Bonds) -> None:
    _alike(op, bonds)
    shape = tensor_of(op.operands[0]).shape
    bonds.free |= {(op.value, axis) for axis, size in enumerate(shape) if size == 1}


def _repeat(op: HlOp, bonds: Bonds) -> None:
    axes = [axis for axis, factor in enumerate(op.field("factors")) if factor == 1]
    _same(op, op.operands[0], bonds, axes)


def _pad(op: HlOp, bonds: Bonds) -> None:
    x = op.operands[0]
    for axis, (size, before) in enumerate(zip(tensor_of(x).shape, op.field("before"), strict=True)):
        bonds.tie((x, axis), (op.value, axis), size, second=before)


def _slice(op: HlOp, bonds: Bonds) -> None:
    assert isinstance(op, moves.Slice)
    for axis, (size, step) in enumerate(zip(op.type.shape, op.steps_, strict=True)):
        if step == 1:
            bonds.tie((op.x, axis), (op.value, axis), size, first=op.field("starts")[axis])


def _concat(op: HlOp, bonds: Bonds) -> None:
    along, start = op.field("axis"), 0
    for part in op.operands:
        for axis, size in enumerate(tensor_of(part).shape):
            bonds.tie((part, axis), (op.value, axis), size, second=start if axis == along else 0)
        start += tensor_of(part).shape[along]


def _gather(op: HlOp, bonds: Bonds) -> None:
    bonds.tie((op.operands[0], 2), (op.value, 2), op.type.shape[2])


def _view(op: HlOp, bonds: Bonds) -> None:
    """Axes that both shapes have at the same place among all elements."""
    x, y = tensor_of(op.operands[0]), op.type
    mine = {(size, step): axis for axis, size, step in _steps(x.shape)}
    for axis, size, step in _steps(y.shape):
        source = mine.get((size, step))
        if source is not None and size > 1:
            bonds.tie((op.operands[0], source), (op.value, axis), size)


def _steps(shape: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """(axis, size, elements from one to the next)."""
    step = 1
    for axis in reversed(range(len(shape))):
        yield axis, shape[axis], step
        step *= shape[axis]


def _const(op: HlOp, bonds: Bonds) -> None:
    bonds.free |= {(op.value, axis) for axis in range(len(op.type.shape))}


_RULES: dict[type[Operation], Callable[[HlOp, Bonds], None]] = {
    products.Convolution: _weighted,
    products.DepthwiseConvolution: _depthwise,
    products.FullyConnected: _weighted,
    products.MatMul: _matmul,
    elementwise.Add: _alike,
    elementwise.Mul: _alike,
    elementwise.Elementwise: _alike,
    elementwise.Unary: _alike,
    elementwise.Scale: _scale,
    elementwise.Clamp: _alike,
    elementwise.Table: _alike,
    elementwise.Select: _alike,
    reductions.Pool: _channels,
    reductions.Mean: _channels,
    reductions.Reduce: _reduce,
    moves.Const: _const,
    moves.View: _view,
    moves.Copy: _alike,
    moves.Transpose: _transpose,
    moves.Segment: _alike,
    moves.Pad: _pad,
    moves.Concat: _concat,
    moves.Slice: _slice,
    moves.Broadcast: _broadcast,
    moves.Repeat: _repeat,
    moves.Gather: _gather,
}
"""By operation; others keep all as it is."""
