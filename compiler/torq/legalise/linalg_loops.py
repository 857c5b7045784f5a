"""Operands of a loop nest as tensors with one axis per loop."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from ...graph.linalg.generic import Generic, Operand, Place
from ..hl.moves import Concat, Slice, Transpose
from ..hl.types import tensor_of
from .builder import Builder, NotForNpu


def by_loops(
    b: Builder, nest: Generic, operand: Operand, x: SSAValue
) -> tuple[SSAValue, list[int]]:
    """A tensor whose axes are loops, and which ones: each once, none where it has one step."""
    axes: list[int | None] = []
    for place in operand.places:
        at = len(axes)
        if not place.factors:
            x = _cut(b, x, at, place.offset, 1, 1)
            axes.append(None)
        else:
            x, loops = _windows(b, nest, x, at, place)
            axes += loops
    kept = [(axis, loop) for axis, loop in enumerate(axes) if loop is not None]
    found = [loop for _, loop in kept]
    if len(set(found)) != len(found):
        raise NotForNpu("an operand that is read along a diagonal")
    return b.view(x, [tensor_of(x).shape[axis] for axis, _ in kept]), found


def _windows(
    b: Builder, nest: Generic, x: SSAValue, axis: int, place: Place
) -> tuple[SSAValue, list[int | None]]:
    """One axis as an axis for each loop that it is counted by: all but one are put side by side."""
    (loop, step), *others = sorted(place.factors, key=lambda each: -nest.sizes[each[0]])
    if any(factor < 1 for _, factor in place.factors):
        raise NotForNpu("an operand that is read backwards")
    size = nest.sizes[loop]
    if not others:
        return _cut(b, x, axis, place.offset, size, step), [loop]
    if len(others) > 1:
        raise NotForNpu("an axis that is counted by more than two loops")
    other, dilation = others[0]
    parts = []
    for number in range(nest.sizes[other]):
        part = _cut(b, x, axis, place.offset + number * dilation, size, step)
        shape = tensor_of(part).shape
        parts.append(b.view(part, (*shape[:axis], 1, *shape[axis:])))
    if len(parts) == 1:
        return parts[0], [other, loop]
    kind = tensor_of(parts[0])
    shape = (*kind.shape[:axis], len(parts), *kind.shape[axis + 1 :])
    return b.emit(Concat, parts, kind.like(shape=shape), axis=axis), [other, loop]


def _cut(b: Builder, x: SSAValue, axis: int, start: int, size: int, step: int) -> SSAValue:
    """Every `step`-th element of an axis."""
    kind = tensor_of(x)
    if (start, size, step) == (0, kind.shape[axis], 1):
        return x
    shape, starts, steps = list(kind.shape), [0] * len(kind.shape), [1] * len(kind.shape)
    shape[axis], starts[axis], steps[axis] = size, start, step
    every = tuple(steps) if step != 1 else None
    return b.emit(Slice, [x], kind.like(shape=tuple(shape)), starts=tuple(starts), steps=every)


def turned(b: Builder, x: SSAValue, order: Sequence[int]) -> SSAValue:
    """Axis i of the result is axis order[i] of x."""
    if list(order) == list(range(len(order))):
        return x
    kind = tensor_of(x)
    shape = tuple(kind.shape[axis] for axis in order)
    moved = [axis for axis in order if kind.shape[axis] > 1]
    if moved == sorted(moved):
        return b.view(x, shape)
    return b.emit(Transpose, [x], kind.like(shape=shape), order=tuple(order))


def over_loops(b: Builder, nest: Generic, operand: Operand, x: SSAValue) -> SSAValue:
    """A tensor with an axis for each loop, of one step where it does not know the loop."""
    x, loops = by_loops(b, nest, operand, x)
    x = turned(b, x, sorted(range(len(loops)), key=lambda axis: loops[axis]))
    return b.view(x, [size if n in loops else 1 for n, size in enumerate(nest.sizes)] or [1])
