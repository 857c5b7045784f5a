"""Operators that put elements elsewhere: copies, transposes, parts, repetitions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TypeVar

from ...operators.moves import Broadcast, Concat, Copy, Repeat, Slice, Transpose
from ...operators.operator import Operator
from ...operators.tensors import Layout, Region
from ...slice.kernel import SliceKernel
from ..kernel import InputRegion, Kernel, Places, TileDim
from ..strided import Axis
from .movement import Movement, movement, nests

Op = TypeVar("Op", bound=Operator)


class MoveKernel(Kernel[Op]):
    """A kernel whose result is movements of its operands."""

    def tile_dims(self, op: Op) -> tuple[TileDim, ...]:
        """Any axis."""
        return tuple(TileDim(axis=axis) for axis in range(len(op.y.shape)))

    @abstractmethod
    def movements(self, op: Op, out: Region, places: Places) -> list[Movement]:
        """What goes where, from the tensors of a region."""

    def nests(self, op: Op, out: Region, places: Places) -> Sequence[SliceKernel]:
        """Each movement in its cheapest way."""
        return [k for moved in self.movements(op, out, places) for k in nests(moved)]


def types_differ(op: Operator) -> str | None:
    """Why elements cannot be what they were, or None."""
    for name, kind in op.operands.items():
        if kind.dtype != op.y.dtype:
            return f"{name} of {kind.dtype} to {op.y.dtype}"
        if Layout.QUADRANTS in (kind.layout, op.y.layout):
            return f"{name} in {kind.layout.value} to {op.y.layout.value}"
    return None


class CopyKernel(MoveKernel[Copy]):
    """The same in another layout, or elsewhere."""

    name = "copy"

    def accepts(self, op: Copy) -> str | None:
        """None, or why it cannot run the operator."""
        if op.x.shape != op.y.shape:
            return f"{op.x.shape} to {op.y.shape}"
        if op.x.layout is op.y.layout is Layout.QUADRANTS and op.x.dtype == op.y.dtype:
            return None
        return types_differ(op)

    def tile_dims(self, op: Copy) -> tuple[TileDim, ...]:
        """Any axis; of quadrants, rows and columns in pairs."""
        step = 2 if op.y.layout is Layout.QUADRANTS else 1
        return tuple(
            TileDim(axis=axis, granularity=step if axis >= 2 else 1)
            for axis in range(len(op.y.shape))
        )

    def input_regions(self, op: Copy, out: Region) -> tuple[InputRegion, ...]:
        """The same elements."""
        return (InputRegion(operand="x", region=out),)

    def movements(self, op: Copy, out: Region, places: Places) -> list[Movement]:
        """One."""
        x, y = places["x"], places["y"]
        axes = zip(y.shape, zip(x.strides, y.strides, strict=True), strict=True)
        return [movement("copy", x, y, list(axes))]


class TransposeKernel(MoveKernel[Transpose]):
    """Any order of dimensions, from and to rows and planes."""

    name = "transpose"

    def accepts(self, op: Transpose) -> str | None:
        """None, or why it cannot run the operator."""
        if sorted(op.order) != list(range(len(op.x.shape))):
            return f"{op.order} is no order of {op.x.shape}"
        if op.y.shape != tuple(op.x.shape[axis] for axis in op.order):
            return f"{op.x.shape} in the order {op.order} to {op.y.shape}"
        return types_differ(op)

    def input_regions(self, op: Transpose, out: Region) -> tuple[InputRegion, ...]:
        """The same elements."""
        from_ = [op.order.index(axis) for axis in range(len(op.order))]
        region = Region(
            starts=tuple(out.starts[axis] for axis in from_),
            sizes=tuple(out.sizes[axis] for axis in from_),
        )
        return (InputRegion(operand="x", region=region),)

    def movements(self, op: Transpose, out: Region, places: Places) -> list[Movement]:
        """One."""
        x, y = places["x"], places["y"]
        strides = [x.strides[axis] for axis in op.order]
        axes = zip(y.shape, zip(strides, y.strides, strict=True), strict=True)
        return [movement("transpose", x, y, list(axes))]


class SliceKernelOf(MoveKernel[Slice]):
    """A part, or every so many-th element."""

    name = "slice"

    def accepts(self, op: Slice) -> str | None:
        """None, or why it cannot run the operator."""
        if not len(op.x.shape) == len(op.y.shape) == len(op.starts) == len(op.steps):
            return f"{op.x.shape} from {op.starts} to {op.y.shape}"
        for size, count, first, step in zip(
            op.x.shape, op.y.shape, op.starts, op.steps, strict=True
        ):
            if first < 0 or step < 1 or first + (count - 1) * step >= size:
                return f"{op.x.shape} from {op.starts} in steps of {op.steps} to {op.y.shape}"
        return types_differ(op)

    def input_regions(self, op: Slice, out: Region) -> tuple[InputRegion, ...]:
        """From the first to the last element that is taken."""
        several = list(zip(op.starts, op.steps, out.starts, out.sizes, strict=True))
        region = Region(
            starts=tuple(first + step * start for first, step, start, _ in several),
            sizes=tuple((size - 1) * step + 1 for _, step, _, size in several),
        )
        return (InputRegion(operand="x", region=region),)

    def movements(self, op: Slice, out: Region, places: Places) -> list[Movement]:
        """One."""
        x, y = places["x"], places["y"]
        strides = [stride * step for stride, step in zip(x.strides, op.steps, strict=True)]
        axes = zip(y.shape, zip(strides, y.strides, strict=True), strict=True)
        return [movement("slice", x, y, list(axes))]


class BroadcastKernel(MoveKernel[Broadcast]):
    """Repetition along dimensions of one step."""

    name = "broadcast"

    def accepts(self, op: Broadcast) -> str | None:
        """None, or why it cannot run the operator."""
        if len(op.x.shape) != len(op.y.shape) or any(
            mine not in (1, its) for mine, its in zip(op.x.shape, op.y.shape, strict=True)
        ):
            return f"{op.x.shape} to {op.y.shape}"
        return types_differ(op)

    def input_regions(self, op: Broadcast, out: Region) -> tuple[InputRegion, ...]:
        """The same elements, where there are several."""
        region = out
        for axis, size in enumerate(op.x.shape):
            if size == 1:
                region = region.along(axis, 0, 1)
        return (InputRegion(operand="x", region=region),)

    def movements(self, op: Broadcast, out: Region, places: Places) -> list[Movement]:
        """One."""
        x, y = places["x"], places["y"]
        strides = [
            0 if size == 1 else stride for size, stride in zip(x.shape, x.strides, strict=True)
        ]
        axes = zip(y.shape, zip(strides, y.strides, strict=True), strict=True)
        return [movement("broadcast", x, y, list(axes))]


class RepeatKernel(MoveKernel[Repeat]):
    """Each element several times in a row; tiles are whole elements of x."""

    name = "repeat"

    def accepts(self, op: Repeat) -> str | None:
        """None, or why it cannot run the operator."""
        if op.y.shape != tuple(n * f for n, f in zip(op.x.shape, op.factors, strict=False)):
            return f"{op.x.shape} times {op.factors} to {op.y.shape}"
        return types_differ(op)

    def tile_dims(self, op: Repeat) -> tuple[TileDim, ...]:
        """Any axis, in steps of its factor."""
        return tuple(
            TileDim(axis=axis, granularity=factor) for axis, factor in enumerate(op.factors)
        )

    def input_regions(self, op: Repeat, out: Region) -> tuple[InputRegion, ...]:
        """What is repeated."""
        region = Region(
            starts=tuple(n // f for n, f in zip(out.starts, op.factors, strict=True)),
            sizes=tuple(n // f for n, f in zip(out.sizes, op.factors, strict=True)),
        )
        return (InputRegion(operand="x", region=region),)

    def movements(self, op: Repeat, out: Region, places: Places) -> list[Movement]:
        """One."""
        x, y = places["x"], places["y"]
        axes: list[Axis] = []
        for size, factor, read, write in zip(
            x.shape, op.factors, x.strides, y.strides, strict=True
        ):
            axes += [(size, (read, factor * write)), (factor, (0, write))]
        return [movement("resize", x, y, axes)]


class ConcatKernel(MoveKernel[Concat]):
    """Parts one behind the other: those that a region of the result meets."""

    name = "concat"

    def accepts(self, op: Concat) -> str | None:
        """None, or why it cannot run the operator."""
        shapes = [part.shape for part in op.parts]
        rank = len(op.y.shape)
        if not 0 <= op.axis < rank or any(len(shape) != rank for shape in shapes):
            return f"{shapes} along {op.axis} to {op.y.shape}"
        others = {(*shape[: op.axis], *shape[op.axis + 1 :]) for shape in (*shapes, op.y.shape)}
        if len(others) != 1 or sum(shape[op.axis] for shape in shapes) != op.y.shape[op.axis]:
            return f"{shapes} along {op.axis} to {op.y.shape}"
        return types_differ(op)

    def input_regions(self, op: Concat, out: Region) -> tuple[InputRegion, ...]:
        """Of each part what lies in the region."""
        return tuple(InputRegion(operand=name, region=region) for name, region, _ in _met(op, out))

    def movements(self, op: Concat, out: Region, places: Places) -> list[Movement]:
        """One for each part."""
        y = places["y"]
        found = []
        for name, region, start in _met(op, out):
            x = places[name]
            axes = zip(region.sizes, zip(x.strides, y.strides, strict=True), strict=True)
            offsets = 0, start * y.strides[op.axis]
            found.append(movement("concat", x, y, list(axes), offsets))
        return found


def _met(op: Concat, out: Region) -> list[tuple[str, Region, int]]:
    """Name and region of each part that a region meets, and where in the region it starts."""
    found = []
    first = 0
    for name, kind in op.operands.items():
        size = kind.shape[op.axis]
        low = max(out.starts[op.axis], first)
        high = min(out.stops[op.axis], first + size)
        if low < high:
            region = out.along(op.axis, low - first, high - low)
            found.append((name, region, low - out.starts[op.axis]))
        first += size
    return found
