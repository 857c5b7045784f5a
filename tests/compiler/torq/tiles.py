"""A result made tile by tile: each tile has only what its kernel asks for, amid noise."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
from hypothesis import strategies as st

from assay.compiler.torq.kernels.kernel import Kernel, part
from assay.compiler.torq.operators.operator import Operator
from assay.compiler.torq.operators.tensors import Layout, Region, TensorType
from assay.compiler.torq.slice.tensor import Tensor

from .machine import Array, Machine


def quadrants(x: Array) -> Array:
    """Planes (n, c, h, w) taken apart into even and odd rows and columns."""
    return np.stack([x[:, :, i::2, j::2] for i in (0, 1) for j in (0, 1)], axis=2)


def together(parts: Array) -> Array:
    """Quadrants (n, c, 4, h, w) put together."""
    n, c, _, h, w = parts.shape
    x = np.empty((n, c, 2 * h, 2 * w), parts.dtype)
    for number, (i, j) in enumerate(itertools.product((0, 1), (0, 1))):
        x[:, :, i::2, j::2] = parts[:, :, number]
    return x


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """An operator with a kernel for it, values of operands and constants, and what comes out."""

    op: Operator
    kernel: Kernel[Any]
    operands: Mapping[str, Array]
    expected: Array
    constants: Mapping[str, Array]

    def check(self, cuts: Sequence[Sequence[int]]) -> None:
        """The tiles between `cuts` (along each axis the starts) make the whole."""
        assert self.kernel.accepts(self.op) is None, self.kernel.accepts(self.op)
        found = np.zeros(self.op.y.shape, _numpy(self.op.y.dtype))
        for region in regions(self.op.y.shape, cuts):
            box = tuple(slice(a, b) for a, b in zip(region.starts, region.stops, strict=True))
            found[box] = self._tile(region)
        bits = f"i{found.itemsize}"
        expected = self.expected.astype(found.dtype)
        np.testing.assert_array_equal(found.view(bits), expected.view(bits))

    def _tile(self, out: Region) -> Array:
        machine = Machine(noise=True)
        places: dict[str, Tensor] = {}
        op, kernel = self.op, self.kernel
        for need in kernel.input_regions(op, out):
            own = op.tensors[need.operand]
            assert need.region.is_within(own.shape), f"{need} of {own.shape}"
            box = tuple(
                slice(a, b) for a, b in zip(need.region.starts, need.region.stops, strict=True)
            )
            places[need.operand] = _give(
                machine, need.operand, self.operands[need.operand][box], own
            )
        packed = kernel.pack(op, out, self.constants)
        for constant in kernel.constants(op, out):
            data = packed[constant.name]
            assert (data.shape, str(data.dtype)) == (constant.shape, constant.dtype)
            places[constant.name] = machine.layout.constant(constant.name, data)
        for name, own in kernel.scratch(op, out).items():
            places[name] = _room(machine, name, own)
        places["y"] = _room(machine, "y", op.y.of(out))
        self._compare_footprint(out, places)
        machine.run(kernel.emit(op, out, places))
        assert kernel.cost(op, out) == sum(cycles.total for cycles in machine.cycles)
        values = machine.take(places["y"])
        return together(values) if op.y.layout is Layout.QUADRANTS else values

    def check_within(self, cuts: Sequence[Sequence[int]]) -> None:
        """Tiles that are parts of tensors in LRAM as a whole make the whole.

        Raises IllegalSliceProgram if the kernel does not take them so.
        """
        machine = Machine(noise=True)
        op, kernel = self.op, self.kernel
        held = {
            name: _give(machine, name, x, op.tensors[name]) for name, x in self.operands.items()
        }
        held["y"] = _room(machine, "y", op.y)
        tasks = []
        for number, out in enumerate(regions(op.y.shape, cuts)):
            wanted = {need.operand: need.region for need in kernel.input_regions(op, out)}
            places = {
                name: part(held[name], op.tensors[name], region)
                for name, region in (*wanted.items(), ("y", out))
            }
            packed = kernel.pack(op, out, self.constants)
            for constant in kernel.constants(op, out):
                data = packed[constant.name]
                places[constant.name] = machine.layout.constant(f"{constant.name} {number}", data)
            for name, own in kernel.scratch(op, out).items():
                places[name] = _room(machine, f"{name} {number}", own)
            tasks += kernel.emit(op, out, places)
        machine.run(tasks)
        values = machine.take(held["y"])
        found = together(values) if op.y.layout is Layout.QUADRANTS else values
        expected = self.expected.astype(found.dtype)
        np.testing.assert_array_equal(found, expected)

    def _compare_footprint(self, out: Region, places: Mapping[str, Tensor]) -> None:
        """A footprint has room for each tensor, and less than a vector more."""
        footprint = self.kernel.footprint(self.op, out)
        assert set(footprint) == set(places)
        for name, place in places.items():
            assert place.size <= footprint[name] < place.size + 64


def _give(machine: Machine, name: str, values: Array, own: TensorType) -> Tensor:
    if own.layout is Layout.QUADRANTS:
        values = quadrants(values)
    return machine.give(name, values, planes=own.layout is not Layout.ROWS)


def _room(machine: Machine, name: str, own: TensorType) -> Tensor:
    return machine.room(name, own.dtype, own.stored_shape, planes=own.layout is not Layout.ROWS)


def _numpy(dtype: str) -> np.dtype[Any]:
    return np.dtype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)


def regions(shape: Sequence[int], cuts: Sequence[Sequence[int]]) -> list[Region]:
    """The tiles of a shape between `cuts`."""
    axes = []
    for size, starts in zip(shape, cuts, strict=True):
        ends = [*starts[1:], size]
        axes.append([(a, b - a) for a, b in zip(starts, ends, strict=True)])
    return [
        Region(starts=tuple(a for a, _ in box), sizes=tuple(n for _, n in box))
        for box in itertools.product(*axes)
    ]


@st.composite
def cuts_of(draw: st.DrawFn, op: Operator, kernel: Kernel[Any]) -> list[list[int]]:
    """Where a kernel lets a result be cut, up to three tiles along each axis."""
    cuts = [[0] for _ in op.y.shape]
    for dim in kernel.tile_dims(op):
        steps = -(-op.y.shape[dim.axis] // dim.granularity)
        inner = draw(st.sets(st.integers(0, steps - 1), max_size=2)) | {0}
        cuts[dim.axis] = sorted(step * dim.granularity for step in inner)
    return cuts
