"""Additions of tensors of different quantisation become one operation, if that is exact."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import replace as changed
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from xdsl.ir import Block, SSAValue

from ...graph.elements import Array
from ..hl.elementwise import Add, Elementwise, Scale
from ..hl.interpret import MEANINGS
from ..hl.meaning_sums import rescaled
from ..hl.types import Tensor, tensor_of
from ..operators.quantisation import Rescale
from .base import HlPass, insert, producer, replace, used_once

_ALL = np.arange(-128, 128, dtype=np.int8)
_MOST_WEIGHT = (1 << 15) - 1
_MULTIPLIER_BITS = 31
_NEAR = 3
"""Multipliers to each side of the nearest that are tried."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sum:
    """Fields of an addition."""

    weights: tuple[int, int]
    bias: int
    rescale: Rescale


class FoldAdds(HlPass):
    """Adds two tensors of 8 bits and different scales with two weights of 16 bits and one scaling.

    TFLite scales both to 32 bits, adds, and scales back. Weights and a multiplier are searched
    that give the same for each of the 65,536 pairs; if there are none, all stays as it is.

    Before:
        %0 = torq_hl.scale %a
            {input_zp = 2 : i64, rescale = #torq_hl.rescale<[1073741824], [11], zp 0,
            range -2147483648 to 2147483647>}
            : (tensor<8xi8>) -> tensor<8xi32>
        %1 = torq_hl.scale %b
            {rescale = #torq_hl.rescale<[1361612736], [12], zp 0, range -2147483648 to 2147483647>}
            : (tensor<8xi8>) -> tensor<8xi32>
        %2 = torq_hl.elementwise %0, %1 {kind = "ADD"}
            : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
        %3 = torq_hl.scale %2
            {rescale = #torq_hl.rescale<[1431655766], [50], zp 3, range -128 to 127, double>}
            : (tensor<8xi32>) -> tensor<8xi8, zp 3>
    After:
        %0 = torq_hl.add %a, %b
            {weights_ab = array<i64: 28963, 18364>, bias = -57926 : i64,
            rescale = #torq_hl.rescale<[1619738844], [46], zp 3, range -128 to 127, double>}
            : (tensor<8xi8>, tensor<8xi8>) -> tensor<8xi8, zp 3>
    """

    name: ClassVar[str] = "fold-adds"

    def run(self, block: Block) -> None:
        """One look at each scaling behind a sum; equal sums are searched once."""
        found: dict[object, Sum | None] = {}
        for op in list(block.ops):
            if isinstance(op, Scale):
                _fold(op, found)


def _fold(op: Scale, found: dict[object, Sum | None]) -> None:
    total = producer(op.x)
    if not isinstance(total, Elementwise) or not used_once(op.x) or op.type.dtype != "int8":
        return
    sign = {"ADD": 1, "SUB": -1}.get(total.field("kind"))
    if sign is None or total.type.dtype != "int32" or op.field("input_zp"):
        return
    sides = [_side(total.a), _side(total.b)]
    if sides[0] is None or sides[1] is None:
        return
    (a, first), (b, second) = sides[0], sides[1]
    key = (tuple(_key(s) for s in first), tuple(_key(s) for s in second), sign, _key(op))
    if key not in found:
        found[key] = search(first, second, sign, op)
    fitting = found[key]
    if fitting is None:
        return
    fields: dict[str, Any] = {
        "weights_ab": fitting.weights,
        "bias": fitting.bias,
        "rescale": fitting.rescale,
    }
    replace(op, insert(op, Add, [a, b], op.type, **fields))


def _key(op: Scale) -> tuple[object, ...]:
    return op.field("input_zp"), op.field("rescale"), op.type.dtype


def _side(value: SSAValue) -> tuple[SSAValue, list[Scale]] | None:
    """The tensor of 8 bits that scalings start from, and these, the first one first."""
    chain: list[Scale] = []
    while tensor_of(value).dtype != "int8":
        op = producer(value)
        if not isinstance(op, Scale) or len(op.field("rescale").multipliers) != 1:
            return None
        chain.insert(0, op)
        value = op.x
    return (value, chain) if chain else None


def _run(chain: list[Scale]) -> Array:
    """What scalings make of each number of 8 bits."""
    values: Array = _ALL
    for op in chain:
        values = MEANINGS[Scale](op, [values])
    return values.astype(np.int64)


def search(first: list[Scale], second: list[Scale], sign: int, last: Scale) -> Sum | None:
    """An addition that equals the chain for all pairs; None if none was found."""
    sums = _run(first)[:, None] + sign * _run(second)[None, :]
    y = Tensor(dtype="int8", shape=sums.shape)
    expected = rescaled(sums, last.field("rescale"), y)
    slopes = _slope(first), sign * _slope(second)
    zeros = first[0].field("input_zp"), second[0].field("input_zp")
    final: Rescale = last.field("rescale")
    step = Fraction(final.multipliers[0], 1 << final.shifts[0])
    grid = _ALL.astype(np.int64)
    for weights in _weights(slopes):
        bias = -(weights[0] * zeros[0] + weights[1] * zeros[1])
        total = grid[:, None] * weights[0] + grid[None, :] * weights[1] + bias
        big = 0 if abs(slopes[0]) >= abs(slopes[1]) else 1
        for scaling in _scalings(slopes[big] * step / weights[big], final):
            if np.array_equal(rescaled(total, scaling, y), expected):
                return Sum(weights=weights, bias=bias, rescale=scaling)
    return None


def _slope(chain: list[Scale]) -> Fraction:
    slope = Fraction(1)
    for op in chain:
        scaling = op.field("rescale")
        slope *= Fraction(scaling.multipliers[0], 1 << scaling.shifts[0])
    return slope


def _weights(slopes: tuple[Fraction, Fraction]) -> Iterator[tuple[int, int]]:
    """Pairs of 16 bits whose ratio is nearest that of the slopes, large ones first."""
    big, small = sorted((abs(s) for s in slopes), reverse=True)
    if not big:
        return
    swapped = abs(slopes[1]) > abs(slopes[0])
    seen = set()
    for most in (_MOST_WEIGHT, _MOST_WEIGHT // 2, 1 << 12, 1 << 8):
        ratio = (small / big).limit_denominator(most)
        factor = _MOST_WEIGHT // ratio.denominator
        for times in (1 << (factor.bit_length() - 1), factor):
            pair = (ratio.denominator * times, ratio.numerator * times)
            pair = pair[::-1] if swapped else pair
            signed = tuple(w if s >= 0 else -w for w, s in zip(pair, slopes, strict=True))
            if signed not in seen:
                seen.add(signed)
                yield signed[0], signed[1]


def _scalings(factor: Fraction, final: Rescale) -> Iterator[Rescale]:
    """Scalings by about a factor, the nearest first, with either way to round."""
    if factor <= 0:
        return
    shift = _MULTIPLIER_BITS - 1 - math.floor(math.log2(float(factor)))
    if not 0 < shift <= 62:
        return
    nearest = round(factor * (1 << shift))
    for offset in sorted(range(-_NEAR, _NEAR + 1), key=abs):
        multiplier = nearest + offset
        if 0 < multiplier < 1 << _MULTIPLIER_BITS:
            for double in (final.double_round, not final.double_round):
                yield changed(
                    final,
                    multipliers=(multiplier,),
                    shifts=(shift,),
                    double_round=double and shift > _MULTIPLIER_BITS,
                )
