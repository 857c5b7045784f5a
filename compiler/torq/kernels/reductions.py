"""Reductions of a dense tensor along one axis."""

from __future__ import annotations

import math

from assay.hw.torq.words.commands import SliceTask

from ..slice.derive import ACT_WORDS
from ..slice.errors import IllegalSliceProgram
from ..slice.formats import bypass_lanes, is_float, limits
from ..slice.kernel import SliceKernel
from ..slice.loops import FLAT
from ..slice.tensor import Tensor

OPERATIONS = {
    "sum": "ACC",
    "max": "MAX",
    "min": "MIN",
    "all": "AND",
    "any": "OR",
    "argmax": "AMAX",
    "argmin": "AMIN",
}
_VECTOR_BYTES = 64
_INDEX_SHIFT = 16
_MOST_INDICES = 1 << 15


def reduce(name: str, x: Tensor, output: Tensor, axis: int) -> list[SliceTask]:
    """Tasks for a reduction: sum, max, min, all, any, argmax or argmin.

    The output has one step along the axis, or lacks it. Raises IllegalSliceProgram.
    """
    op = OPERATIONS.get(name)
    if op is None:
        raise IllegalSliceProgram("reduction", f"no {name}; there are {', '.join(OPERATIONS)}")
    if is_float(x.dtype):
        raise IllegalSliceProgram("formats", f"{name}: {x.dtype} is no integer")
    outer, count, inner = (
        math.prod(x.shape[:axis]),
        x.shape[axis],
        math.prod(x.shape[axis + 1 :]),
    )
    if math.prod(output.shape) != outer * inner:
        raise IllegalSliceProgram("shapes", f"{name}: {x.shape} along {axis} to {output.shape}")
    indexes = op in ("AMAX", "AMIN")
    if indexes and count > _MOST_INDICES:
        raise IllegalSliceProgram(
            "reduction", f"{name}: {count} steps; {_MOST_INDICES} are possible"
        )
    lanes = bypass_lanes(x.dtype, op)
    vector = min(_VECTOR_BYTES // x.element, _power(inner))
    width = min(ACT_WORDS // lanes.partials, vector)
    low, high = limits(output.dtype)
    row = inner * x.element
    k = SliceKernel(name)
    with k.each(outer) as o, k.each(-(-inner // vector), FLAT) as v:
        with k.each(count) as step:
            block = x[(0,) * len(x.shape)].at(
                o * (count * row) + step * row + v * (vector * x.element)
            )
            k.load_data(block.with_block((vector, x.element)))
            k.combine(op)
        with k.each(max(1, vector // width), FLAT):
            k.activate(width=width, shift=_INDEX_SHIFT if indexes else 0, low=low, high=high)
            start = output[(0,) * len(output.shape)].at(o * (inner * output.element))
            k.append(start, inner)
    return [k.task()]


def _power(count: int) -> int:
    """The smallest power of two that is not less."""
    return 1 << (count - 1).bit_length()
