"""Operators with an operand that says what to do with another: select, shifts."""

from __future__ import annotations

import math
from dataclasses import replace

from assay.hw.torq.words.commands import SliceTask

from ..slice.derive import ACT_WORDS
from ..slice.errors import IllegalSliceProgram
from ..slice.formats import limits, product_lanes
from ..slice.kernel import SliceKernel
from ..slice.loops import FLAT
from ..slice.tensor import Tensor

SHIFTS = {"left": "LSL", "right_logical": "LSR", "right_arithmetic": "ASR"}
_GROUP_BYTES = 32


def select(condition: Tensor, a: Tensor, b: Tensor, output: Tensor) -> list[SliceTask]:
    """Tasks for output = a where the condition (int8, 0 or 1) is 1, else b.

    Raises IllegalSliceProgram.
    """
    if not condition.shape == a.shape == b.shape == output.shape:
        raise IllegalSliceProgram("shapes", f"select: {a.shape} and {b.shape} to {output.shape}")
    lanes = product_lanes(a.dtype, "int8")
    if lanes is None or a.dtype != b.dtype:
        raise IllegalSliceProgram("formats", f"select: {a.dtype} or {b.dtype}")
    count = math.prod(output.shape)
    width = ACT_WORDS // lanes.partials
    low, high = limits(output.dtype)
    k = SliceKernel("select")
    zero = (0,) * len(a.shape)
    with k.each(-(-count // width), FLAT) as v:
        k.load_weights(condition[zero].at(v * width).with_block((width, 1)))
        with k.each(2) as side:
            place = v * (width * a.element) + side * (b.address - a.address)
            k.load_data(a[zero].at(place).with_block((width, a.element)))
            k.multiply("SEL", elementwise=True)
        k.activate(width=width, low=low, high=high)
        k.append(output[zero], count)
    return [k.task()]


def shift(
    direction: str, a: Tensor, b: Tensor, output: Tensor, *, rounding: bool = False
) -> list[SliceTask]:
    """Tasks for output = a shifted by b: `left`, `right_logical` or `right_arithmetic`.

    `rounding` adds the last bit that is shifted out. Raises IllegalSliceProgram.
    """
    if not a.shape == b.shape == output.shape or not a.dtype == b.dtype == output.dtype:
        raise IllegalSliceProgram("shapes", f"shift: {a.shape} and {b.shape} to {output.shape}")
    count = math.prod(a.shape)
    width = min(ACT_WORDS, _GROUP_BYTES // a.element)
    low, high = limits(a.dtype)
    # Values and amounts come as words of 32 bits; the activation unit takes elements out of them.
    words = replace(a, dtype="int32")
    k = SliceKernel("shift")
    with k.each(-(-count // width), FLAT) as v:
        block = words[(0,) * len(a.shape)].at(v * (width * a.element))
        k.load_data(
            block.with_block((2, b.address - a.address), (width * a.element // 4, 4)), parts=2
        )
        k.combine("BOR")
        k.activate(
            width=width,
            low=low,
            high=high,
            mode=SHIFTS[direction],
            rounding="NTP" if rounding else "OFF",
            sum_bits=8 * a.element,
        )
        k.append(output[(0,) * len(a.shape)], count)
    return [k.task()]
