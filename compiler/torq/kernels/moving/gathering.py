"""Rows of a tensor at places that another says."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...operators.moves import MOST_OFFSET, Gather
from ...operators.quantisation import Rescale
from ...operators.tensors import Layout, Region, TensorType
from ...slice.derive import ACT_WORDS
from ...slice.formats import bypass_lanes, limits
from ...slice.kernel import SliceKernel
from ...slice.loops import FLAT
from ..alike import SCALE, VECTOR_BYTES, packed_scale
from ..kernel import ConstantSpec, InputRegion, Kernel, Places, TileDim, Values
from ..strided import at, start


class GatherKernel(Kernel[Gather]):
    """Indices times the bytes of a row are offsets of 16 bits."""

    name = "gather"

    def accepts(self, op: Gather) -> str | None:
        """None, or why it cannot run the operator."""
        if any(kind.layout is not Layout.ROWS for kind in op.tensors.values()):
            return "all tensors are in rows"
        if not len(op.x.shape) == len(op.y.shape) == 3 or len(op.indices.shape) != 2:
            return f"{op.x.shape} at {op.indices.shape} to {op.y.shape}"
        n, _, c = op.x.shape
        if op.indices.shape[0] != n or op.y.shape != (*op.indices.shape, c):
            return f"{op.x.shape} at {op.indices.shape} to {op.y.shape}"
        if op.x.dtype != op.y.dtype or op.indices.dtype != "int32":
            return f"{op.x.dtype} at {op.indices.dtype} to {op.y.dtype}"
        reach = (op.x.shape[1] - 1) * c * op.x.element
        return f"offsets up to {reach}; 16 bits are there" if reach > MOST_OFFSET else None

    def tile_dims(self, op: Gather) -> tuple[TileDim, ...]:
        """Batches and rows: offsets are of rows that are whole, wherever x lies."""
        return tuple(TileDim(axis=axis) for axis in range(2))

    def input_regions(self, op: Gather, out: Region) -> tuple[InputRegion, ...]:
        """All rows that there are, and the indices."""
        (n, w, c), (batches, rows, columns) = out.starts, out.sizes
        return (
            InputRegion(
                operand="x",
                region=Region(starts=(n, 0, c), sizes=(batches, op.x.shape[1], columns)),
            ),
            InputRegion(operand="indices", region=Region(starts=(n, w), sizes=(batches, rows))),
        )

    def constants(self, op: Gather, out: Region) -> tuple[ConstantSpec, ...]:
        """The bytes of a row, as a factor."""
        return (SCALE,)

    def scratch(self, op: Gather, out: Region) -> dict[str, TensorType]:
        """The offsets."""
        return {"offsets": TensorType(dtype="int16", shape=(out.sizes[0] * out.sizes[1],))}

    def pack(self, op: Gather, out: Region, values: Values) -> dict[str, NDArray[np.generic]]:
        """For rows of x by themselves, as those of a region are."""
        return {"scales": packed_scale(_scaling(out.sizes[2] * op.x.element))}

    def nests(self, op: Gather, out: Region, places: Places) -> Sequence[SliceKernel]:
        """Offsets first, then a gather for each batch."""
        x, y, offsets = places["x"].bits, places["y"].bits, places["offsets"]
        batches, rows, columns = out.sizes
        low, high = limits(x.dtype)
        vector = min(VECTOR_BYTES // x.element, ACT_WORDS)
        found = [_offsets(op, out, places)]
        for batch in range(batches):
            k = SliceKernel("gather")
            with k.each(rows) as w:
                k.load_indices(at(offsets, w * 2 + batch * rows * 2, 1))
                with k.each(-(-columns // vector), FLAT) as v:
                    place = v * (vector * x.element) + batch * x.strides[0]
                    k.load_data(at(x, place, vector))
                    k.combine("BOR")
                    k.activate(width=vector, low=low, high=high)
                    k.append(start(y, w * y.strides[1] + batch * y.strides[0]), columns)
            found.append(k)
        return found


def _scaling(row: int) -> Rescale:
    return Rescale(multipliers=(row,), low=0, high=MOST_OFFSET)


def _offsets(op: Gather, out: Region, places: Places) -> SliceKernel:
    """Indices times the bytes of a row. Those of a batch may lie apart from those of the next."""
    indices, offsets = places["indices"], places["offsets"]
    batches, rows, _ = out.sizes
    width = ACT_WORDS // bypass_lanes("int32", "ACC").partials
    vector = VECTOR_BYTES // indices.element
    k = SliceKernel("offsets")
    k.load_bias(places["scales"][0])
    with k.each(batches) as n, k.each(-(-rows // vector), FLAT) as v:
        k.load_data(at(indices, n * indices.strides[0] + v * VECTOR_BYTES, vector))
        k.combine("ACC")
        with k.each(vector // width, FLAT):
            k.activate_scaled(width=width, scaling=_scaling(places["x"].strides[1]))
            k.append(start(offsets, n * (rows * offsets.element)), rows)
    return k
