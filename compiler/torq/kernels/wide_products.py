"""Products of 32 bits by 32 bits: the ALU has none, but the activation unit scales by 32 bits.

Each result may have a scale of its own, so one factor goes through the ALU as it is, and the other
one is laid out as scales, each behind a bias of 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace

from ..operators.elementwise import Mul
from ..operators.quantisation import Rescale
from ..operators.tensors import Region, TensorType
from ..slice.kernel import SliceKernel
from ..slice.loops import FLAT
from ..slice.tensor import Tensor, dense
from .alike import VECTOR_BYTES, Alike, unlike
from .fully_connected import BIAS_BYTES
from .kernel import Nest, Places
from .moving.fills import filling
from .moving.movement import movement, nests
from .strided import at, start, vectors, walks

_PAIR = 8
"""Bytes of a bias and its scale."""
_AT_A_TIME = BIAS_BYTES // _PAIR
_VECTOR = VECTOR_BYTES // 4
_MOST_SHIFT = 63


class WideMulKernel(Alike[Mul]):
    """Products of int32, shifted right and rounded; either side may have one step along axes but
    the last."""

    name = "mul of 32 bits"

    def accepts(self, op: Mul) -> str | None:
        """None, or why it cannot run the operator."""
        if {op.a.dtype, op.b.dtype, op.y.dtype} != {"int32"}:
            return f"{op.a.dtype} times {op.b.dtype} to {op.y.dtype}"
        scaling = op.rescale
        if not isinstance(scaling, Rescale) or scaling.multipliers != (1,):
            return "a product of 32 bits is only shifted"
        if len(scaling.shifts) != 1 or not 0 <= scaling.shifts[0] <= _MOST_SHIFT:
            return f"shifts {scaling.shifts}"
        return unlike(op, repeated=("a", "b"))

    def scratch(self, op: Mul, out: Region) -> dict[str, TensorType]:
        """A bias and a scale for each element, and for those behind that are computed with it."""
        count = vectors(out.count, _VECTOR) * _VECTOR
        return {"pairs": TensorType(dtype="int32", shape=(count, 2))}

    def nests(self, op: Mul, out: Region, places: Places) -> Sequence[Nest]:
        """Zeros, the scales between them, the products."""
        assert isinstance(op.rescale, Rescale)
        pairs = places["pairs"]
        halves = dense(pairs.name, pairs.address, "int16", (math.prod(pairs.shape) * 2,))
        b, y = places["b"], places["y"]
        spread = _spread(pairs, y.shape)
        axes = [
            (count, (b.strides[axis] if b.shape[axis] > 1 else 0, spread.strides[axis]))
            for axis, count in enumerate(y.shape)
        ]
        return [
            *filling(halves, Region.whole(halves.shape), 0),
            *nests(movement("scales", b, spread, axes, (0, _PAIR // 2))),
            *_products(op.rescale, places["a"], spread, y),
        ]


def _spread(pairs: Tensor, shape: tuple[int, ...]) -> Tensor:
    """The first numbers of the pairs, in the shape of the result."""
    strides = dense(pairs.name, 0, "int32", shape).strides
    return replace(pairs, shape=shape, strides=tuple(stride * 2 for stride in strides))


def _products(scaling: Rescale, a: Tensor, pairs: Tensor, y: Tensor) -> list[SliceKernel]:
    found = []
    for walk in walks((a, pairs, y), y.shape, units=(a.element, _PAIR, y.element)):
        k = SliceKernel("mul")
        with ExitStack() as nest:
            read, scales, write = walk.enter(k, nest)
            v = nest.enter_context(k.each(vectors(walk.run, _VECTOR), FLAT))
            k.load_data(at(a, read + v * VECTOR_BYTES, _VECTOR))
            k.combine("BOR")
            with k.each(_VECTOR // _AT_A_TIME, FLAT) as q:
                place = scales + v * (_VECTOR * _PAIR) + q * BIAS_BYTES
                k.load_bias(start(pairs, place).with_block((BIAS_BYTES // 4, 4)))
                k.activate_scaled(width=_AT_A_TIME, scaling=scaling, shift=scaling.shifts[0])
                k.append(start(y, write), walk.run)
        found.append(k)
    return found
