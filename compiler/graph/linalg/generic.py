"""Reading linalg.generic: its operands, their maps, and the loops that it stands for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, TensorType
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
)

from ..tosa import ops

NAME = "linalg.generic"


class NotUnderstood(ValueError):
    """A linalg operation of a form that is not read, with the reason."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a loop nest is along one axis of an operand: a sum of loops' counters and a constant.

    Attributes:
        factors: what the counter of a loop is multiplied by, by the number of the loop.
        offset: what is added.
    """

    factors: tuple[tuple[int, int], ...]
    offset: int = 0

    @property
    def loop(self) -> int | None:
        """The loop whose counter it is; None if it is anything else."""
        if self.offset == 0 and len(self.factors) == 1 and self.factors[0][1] == 1:
            return self.factors[0][0]
        return None


@dataclass(frozen=True, slots=True)
class Operand:
    """A tensor or number of a generic operation.

    Attributes:
        value: it.
        places: one per axis; none of a number.
        argument: what stands for an element of it in the body.
    """

    value: SSAValue
    places: tuple[Place, ...]
    argument: SSAValue

    @property
    def is_tensor(self) -> bool:
        """Whether it has elements, and is no number."""
        return isinstance(self.value.type, TensorType)


@dataclass(frozen=True)
class Generic:
    """A linalg.generic operation with one result.

    Attributes:
        op: the operation.
        inputs, init: its operands.
        sizes: how often each loop runs, the outermost first.
        reduced: the loops over which is reduced.
    """

    op: Operation
    inputs: tuple[Operand, ...]
    init: Operand
    sizes: tuple[int, ...]
    reduced: tuple[int, ...]

    @cached_property
    def body(self) -> Block:
        """What is done with one element of each operand."""
        return self.op.regions[0].blocks[0]

    @cached_property
    def result(self) -> SSAValue:
        """What the body yields."""
        last = self.body.last_op
        assert last is not None
        return last.operands[0]

    @property
    def parallel(self) -> tuple[int, ...]:
        """The loops that make elements of the result."""
        return tuple(loop for loop in range(len(self.sizes)) if loop not in self.reduced)


def generic_of(op: Operation) -> Generic:
    """What a linalg.generic operation says. Raises NotUnderstood."""
    if len(op.results) != 1:
        raise NotUnderstood(f"it has {len(op.results)} results; operators have one here")
    maps = ops.attribute(op, "indexing_maps")
    kinds = ops.attribute(op, "iterator_types")
    assert isinstance(maps, ArrayAttr) and isinstance(kinds, ArrayAttr)
    words = [str(kind) for kind in kinds.data]
    block = op.regions[0].blocks[0]
    operands = [
        Operand(value, _places(each), argument)
        for value, each, argument in zip(op.operands, maps.data, block.args, strict=True)
    ]
    sizes = _sizes(len(words), operands)
    reduced = tuple(loop for loop, word in enumerate(words) if "reduction" in word)
    return Generic(op, tuple(operands[:-1]), operands[-1], sizes, reduced)


def _places(attribute: object) -> tuple[Place, ...]:
    assert isinstance(attribute, AffineMapAttr)
    return tuple(_place(expression) for expression in attribute.data.results)


def _place(expression: AffineExpr) -> Place:
    factors, offset = _linear(expression)
    return Place(tuple(sorted((loop, by) for loop, by in factors.items() if by)), offset)


def _linear(expression: AffineExpr) -> tuple[dict[int, int], int]:
    """Factors of loops' counters, and a constant."""
    if isinstance(expression, AffineDimExpr):
        return {expression.position: 1}, 0
    if isinstance(expression, AffineConstantExpr):
        return {}, expression.value
    if isinstance(expression, AffineBinaryOpExpr):
        (left, first), (right, second) = _linear(expression.lhs), _linear(expression.rhs)
        if expression.kind is AffineBinaryOpKind.Add:
            loops = left.keys() | right.keys()
            return {n: left.get(n, 0) + right.get(n, 0) for n in loops}, first + second
        if expression.kind is AffineBinaryOpKind.Mul and not (left and right):
            factors, by = (left, second) if left else (right, first)
            return {n: factor * by for n, factor in factors.items()}, first * second
    raise NotUnderstood(f"a map with {expression}: sums of loops are understood")


def _sizes(count: int, operands: Sequence[Operand]) -> tuple[int, ...]:
    """How often each loop runs."""
    sizes: dict[int, int] = {}
    for operand in operands:
        if operand.is_tensor:
            for size, place in zip(ops.shape(operand.value), operand.places, strict=True):
                if place.loop is not None and size >= 1:
                    sizes.setdefault(place.loop, size)
    missing = [loop for loop in range(count) if loop not in sizes]
    if missing:
        raise NotUnderstood(f"no operand's shape says how often loop {missing[0]} runs")
    return tuple(sizes[loop] for loop in range(count))
