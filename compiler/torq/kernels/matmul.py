"""Products of matrices: rows of b are the data, elements of a give the weights."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack

import numpy as np
from numpy.typing import NDArray

from ..operators.products import MatMul
from ..operators.quantisation import FloatRange, Rescale
from ..operators.tensors import Layout, Region
from ..slice.counts import steps_refusal
from ..slice.derive import ACT_WORDS
from ..slice.formats import LIMITS, Lanes, is_float, product_lanes
from ..slice.kernel import SliceKernel
from ..slice.loops import FLAT
from .alike import SCALE, VECTOR_BYTES, packed_scale, scale_refusal, single_scale
from .kernel import ConstantSpec, InputRegion, Kernel, Places, TileDim, Values


class MatMulKernel(Kernel[MatMul]):
    """`group` rows of the result at a time; more than one needs a with its rows innermost."""

    def __init__(self, group: int) -> None:
        self.group = group
        self.name = f"matmul, {group} rows at a time"

    def accepts(self, op: MatMul) -> str | None:
        """None, or why it cannot run the operator."""
        if any(kind.layout is not Layout.ROWS for kind in op.tensors.values()):
            return "operands and result are in rows"
        if product_lanes(op.b.dtype, op.a.dtype) is None:
            return f"no product of {op.a.dtype} and {op.b.dtype}"
        if not len(op.a.shape) == len(op.b.shape) == len(op.y.shape) == 3:
            return f"{op.a.shape} times {op.b.shape} to {op.y.shape}"
        n, h, c = _sizes(op)
        if op.b.shape[:2] != (n, c) or op.y.shape != (n, h, op.b.shape[2]):
            return f"{op.a.shape} times {op.b.shape} to {op.y.shape}"
        floating = is_float(op.a.dtype)
        odd = Rescale if floating else FloatRange
        if floating != is_float(op.y.dtype) or isinstance(op.rescale, odd):
            return f"{op.a.dtype} to {op.y.dtype} with {type(op.rescale).__name__}"
        if self.group > 1 and (not op.a_turned or h % self.group):
            return f"{h} rows that are {'not ' if not op.a_turned else ''}innermost in a"
        if self.group > 1 and floating and self.group > 8:
            return f"{self.group} rows at a time of {op.a.dtype}"
        return steps_refusal(c) or scale_refusal(_scaling(op))

    def tile_dims(self, op: MatMul) -> tuple[TileDim, ...]:
        """Batches, rows, columns."""
        return (
            TileDim(axis=0),
            TileDim(axis=1, granularity=self.group),
            TileDim(axis=2, best=_vector(op, self.group)),
        )

    def input_regions(self, op: MatMul, out: Region) -> tuple[InputRegion, ...]:
        """Rows of a, columns of b."""
        (n, h, w), (batches, rows, columns) = out.starts, out.sizes
        depth = op.b.shape[1]
        of_a = Region(starts=(n, h, 0), sizes=(batches, rows, depth))
        if op.a_turned:
            of_a = Region(starts=(n, 0, h), sizes=(batches, depth, rows))
        return (
            InputRegion(operand="a", region=of_a),
            InputRegion(
                operand="b", region=Region(starts=(n, 0, w), sizes=(batches, depth, columns))
            ),
        )

    def constants(self, op: MatMul, out: Region) -> tuple[ConstantSpec, ...]:
        """A factor, of integers."""
        return () if is_float(op.a.dtype) else (SCALE,)

    def pack(self, op: MatMul, out: Region, values: Values) -> dict[str, NDArray[np.generic]]:
        """From the operator itself."""
        return {} if is_float(op.a.dtype) else {"scales": packed_scale(_scaling(op))}

    def nests(self, op: MatMul, out: Region, places: Places) -> Sequence[SliceKernel]:
        """One."""
        return [self._nest(op, out, places)]

    def _nest(self, op: MatMul, out: Region, places: Places) -> SliceKernel:
        a, b, y = places["a"], places["b"], places["y"]
        lanes, vector = _lanes(op), _vector(op, self.group)
        width = ACT_WORDS // lanes.partials
        batches, rows, columns = out.sizes
        k = SliceKernel("matmul")
        with ExitStack() as nest:
            n = nest.enter_context(k.each(batches))
            m = nest.enter_context(k.each(rows // self.group))
            v = nest.enter_context(k.each(-(-columns // vector), FLAT))
            with k.each(b.shape[1]) as c:
                if op.a_turned:
                    weights = a[n, c, m * self.group].with_block((self.group, a.element))
                else:
                    weights = a[n, m, c]
                k.load_weights(weights)
                k.load_data(b[n, c].at(v * (vector * b.element)).with_block((vector, b.element)))
                k.multiply()
            if not is_float(op.a.dtype):
                k.load_bias(places["scales"][0])
            row = nest.enter_context(k.each(self.group)) if self.group > 1 else None
            with k.each(vector // width, FLAT):
                _activate(k, op, width)
                line = m * self.group + row if row is not None else m * self.group
                k.append(y[n, line], columns)
        return k


def _activate(k: SliceKernel, op: MatMul, width: int) -> None:
    if is_float(op.a.dtype):
        within = op.rescale if isinstance(op.rescale, FloatRange) else FloatRange()
        k.activate_float(width=width, limits=within)
        return
    scaling = _scaling(op)
    k.activate_scaled(width=width, scaling=scaling, shift=single_scale(scaling).shift)


def _scaling(op: MatMul) -> Rescale:
    if isinstance(op.rescale, Rescale):
        return op.rescale
    low, high = LIMITS.get(op.y.dtype, LIMITS["int32"])
    return Rescale(low=low, high=high)


def _lanes(op: MatMul) -> Lanes:
    lanes = product_lanes(op.b.dtype, op.a.dtype)
    assert lanes is not None
    return lanes


def _vector(op: MatMul, group: int) -> int:
    """Columns that meet a group of rows."""
    lanes = _lanes(op)
    own = VECTOR_BYTES // op.b.element // lanes.data_repeats
    return own // max(1, group // 4)


def _sizes(op: MatMul) -> tuple[int, int, int]:
    n, h, c = op.a.shape
    return (n, c, h) if op.a_turned else (n, h, c)
