"""Reductions along an axis of rows: what lies behind the axis is the vector."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..operators.quantisation import FloatRange
from ..operators.reductions import REDUCTIONS, Reduce
from ..operators.tensors import Layout, Region
from ..slice.counts import steps_refusal
from ..slice.derive import ACT_WORDS
from ..slice.formats import bypass_lanes, is_float, limits
from ..slice.kernel import SliceKernel
from ..slice.loops import FLAT
from .alike import VECTOR_BYTES
from .kernel import InputRegion, Kernel, Places, TileDim
from .strided import at, start

_INDEXES = ("AMAX", "AMIN")
_OF_FLOATS = ("ACC", "MUL", "MAX", "MIN")
_OF_FLOATS_ONLY = ("MUL",)
_INDEX_SHIFT = 16
_MOST_INDICES = 1 << 15


class ReduceKernel(Kernel[Reduce]):
    """Rows; tiles are along what lies before the axis, of three axes also behind the middle one."""

    name = "reduce"

    def accepts(self, op: Reduce) -> str | None:
        """None, or why it cannot run the operator."""
        operation = REDUCTIONS.get(op.kind)
        if operation is None:
            return f"no {op.kind}; there are {', '.join(REDUCTIONS)}"
        types = _types_refused(op, operation)
        if types is not None:
            return types
        if op.x.layout is not Layout.ROWS or op.y.layout is not Layout.ROWS:
            return f"{op.x.layout.value} to {op.y.layout.value}; rows are needed"
        shape = op.x.shape
        before, behind = shape[: op.axis], shape[op.axis + 1 :]
        if op.y.shape not in ((*before, *behind), (*before, 1, *behind)):
            return f"{shape} along {op.axis} to {op.y.shape}"
        if operation in _INDEXES and shape[op.axis] > _MOST_INDICES:
            return f"{shape[op.axis]} steps; {_MOST_INDICES} are possible"
        return steps_refusal(shape[op.axis])

    def tile_dims(self, op: Reduce) -> tuple[TileDim, ...]:
        """The outermost axis of y; the innermost one of three."""
        if _is_plain(op):
            return (TileDim(axis=0), TileDim(axis=2, best=VECTOR_BYTES // op.x.element))
        return (TileDim(axis=0),) if op.y.shape and op.axis > 0 else ()

    def input_regions(self, op: Reduce, out: Region) -> tuple[InputRegion, ...]:
        """All steps of the axis."""
        kept = len(op.y.shape) == len(op.x.shape)
        behind = op.axis + 1 if kept else op.axis
        region = Region(
            starts=(*out.starts[: op.axis], 0, *out.starts[behind:]),
            sizes=(*out.sizes[: op.axis], op.x.shape[op.axis], *out.sizes[behind:]),
        )
        return (InputRegion(operand="x", region=region),)

    def nests(self, op: Reduce, out: Region, places: Places) -> Sequence[SliceKernel]:
        """One step of the axis after the other."""
        x, y = places["x"], places["y"]
        operation = REDUCTIONS[op.kind]
        count, inner = x.shape[op.axis], math.prod(x.shape[op.axis + 1 :])
        lanes = bypass_lanes(x.dtype, operation)
        vector = min(VECTOR_BYTES // x.element, 1 << (inner - 1).bit_length())
        width = min(ACT_WORDS // lanes.partials, vector)
        row = inner * x.element
        outer, line = count * row, inner * y.element
        if _is_plain(op):
            outer, row, line = x.strides[0], x.strides[1], y.strides[0]
        k = SliceKernel(op.kind)
        with k.each(math.prod(x.shape[: op.axis])) as o, k.each(-(-inner // vector), FLAT) as v:
            with k.each(count) as step:
                place = o * outer + step * row + v * (vector * x.element)
                k.load_data(at(x, place, vector))
                k.combine(operation)
            with k.each(max(1, vector // width), FLAT):
                if is_float(x.dtype):
                    narrow = operation != "ACC"
                    k.activate_float(width=width, limits=FloatRange(), narrow=narrow)
                else:
                    low, high = limits(y.dtype)
                    shift = _INDEX_SHIFT if operation in _INDEXES else 0
                    k.activate(width=width, shift=shift, low=low, high=high)
                k.append(start(y, o * line), inner)
        return [k]


def _is_plain(op: Reduce) -> bool:
    """Whether the middle one of three axes is reduced, and stays with one step."""
    return op.axis == 1 and len(op.x.shape) == len(op.y.shape) == 3


def _types_refused(op: Reduce, operation: str) -> str | None:
    """Why elements are not of types that are reduced so, or None."""
    if is_float(op.x.dtype):
        kinds = ("bfloat16", "float32") if operation == "ACC" else ("bfloat16",)
        if op.x.dtype != "bfloat16" or op.y.dtype not in kinds or operation not in _OF_FLOATS:
            return f"{op.kind} of {op.x.dtype} as {op.y.dtype}"
        return None
    if is_float(op.y.dtype) or operation in _OF_FLOATS_ONLY:
        return f"{op.kind} of {op.x.dtype} as {op.y.dtype}"
    return None
