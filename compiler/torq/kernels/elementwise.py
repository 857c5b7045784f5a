"""Operators that go over one or two tensors element by element, dense and of one shape."""

from __future__ import annotations

import math

import numpy as np

from assay.hw.torq.words.commands import SliceTask

from ..slice.derive import ACT_WORDS
from ..slice.errors import IllegalSliceProgram
from ..slice.formats import LIMITS, bypass_lanes, is_float, limits, product_lanes
from ..slice.kernel import SliceKernel
from ..slice.loops import FLAT, Index
from ..slice.lram import Lram
from ..slice.scaling import FloatRange, Rescale, bias_pairs, channel_runs
from ..slice.tensor import Tensor, View

_VECTOR_BYTES = 64
_COMPARISONS = ("GT", "GE", "EQ")
_COMPARISON_SHIFT = 16


def mul(
    lram: Lram, a: Tensor, b: Tensor, output: Tensor, *, rescale: Rescale | None = None
) -> list[SliceTask]:
    """Tasks for output = a times b, scaled if asked for. Raises IllegalSliceProgram."""
    count = _count("mul", a, b, output)
    lanes = product_lanes(a.dtype, b.dtype)
    if lanes is None:
        raise IllegalSliceProgram("formats", f"mul: no product of {a.dtype} and {b.dtype}")
    scaling = rescale or Rescale(low=LIMITS["int32"][0], high=LIMITS["int32"][1])
    (run,) = channel_runs(scaling, 1)
    pair = lram.constant(f"scale of {output.name}", bias_pairs([0], run.factors))
    width = ACT_WORDS // lanes.partials
    k = SliceKernel("mul")
    if not is_float(a.dtype):
        k.load_bias(pair[0])
    with k.each(-(-count // width), FLAT) as v:
        k.load_data(_vector(a, v * (width * a.element), width))
        k.load_weights(_vector(b, v * (width * b.element), width))
        k.multiply(elementwise=True)
        if is_float(a.dtype):
            k.activate_float(width=width, limits=FloatRange())
        else:
            k.activate_scaled(width=width, scaling=scaling, shift=run.shift)
        k.append(_start(output), count)
    return [k.task()]


def add(a: Tensor, b: Tensor, output: Tensor) -> list[SliceTask]:
    """Tasks for output = a + b, saturated to the output's type. Raises IllegalSliceProgram."""
    return _binary("add", "ACC", a, b, output)


def sub(a: Tensor, b: Tensor, output: Tensor) -> list[SliceTask]:
    """Tasks for output = a - b, saturated to the output's type. Raises IllegalSliceProgram."""
    return _binary("sub", "SACC", a, b, output)


def add_scaled(
    lram: Lram,
    a: Tensor,
    b: Tensor,
    output: Tensor,
    *,
    weights: tuple[int, int],
    rescale: Rescale,
    bias: int = 0,
) -> list[SliceTask]:
    """Tasks for output = (a * weights[0] + b * weights[1] + bias) scaled; weights of 16 bits.

    This is how tensors of different quantisation are added in one go. Raises IllegalSliceProgram.
    """
    count = _count("add_scaled", a, b, output)
    lanes = product_lanes(a.dtype, "int16")
    if lanes is None or a.dtype != b.dtype:
        raise IllegalSliceProgram("formats", f"add_scaled: {a.dtype} and {b.dtype} with int16")
    (run,) = channel_runs(rescale, 1)
    pair = lram.constant(f"scale of {output.name}", bias_pairs([bias], run.factors))
    factors = lram.constant(f"weights of {output.name}", np.array(weights, np.int16))
    vector = _VECTOR_BYTES // a.element // lanes.data_repeats
    width = ACT_WORDS // lanes.partials
    k = SliceKernel("add_scaled")
    k.load_bias(pair[0])
    with k.each(-(-count // vector), FLAT) as v:
        with k.each(2) as side:
            k.load_weights(factors[side])
            place = v * (vector * a.element) + side * (b.address - a.address)
            k.load_data(_vector(a, place, vector))
            k.multiply()
        with k.each(vector // width, FLAT):
            k.activate_scaled(width=width, scaling=rescale, shift=run.shift)
            k.append(_start(output), count)
    return [k.task()]


def combine(op: str, a: Tensor, b: Tensor, output: Tensor) -> list[SliceTask]:
    """Tasks for output = a op b: MAX, MIN, GT, GE, EQ, AND, OR, XOR, BAND, BOR, BXOR.

    Comparisons and logic give 0 or 1. Raises IllegalSliceProgram.
    """
    return _binary(op.lower(), op, a, b, output)


def _binary(name: str, op: str, a: Tensor, b: Tensor, output: Tensor) -> list[SliceTask]:
    count = _count(name, a, b, output)
    if a.dtype != b.dtype or a.dtype == "float32":
        raise IllegalSliceProgram("formats", f"{name}: {a.dtype} with {b.dtype}")
    lanes = bypass_lanes(a.dtype, op)
    vector = _VECTOR_BYTES // a.element
    width = ACT_WORDS // lanes.partials
    k = SliceKernel(name)
    with k.each(-(-count // vector), FLAT) as v:
        with k.each(2) as side:
            place = v * (vector * a.element) + side * (b.address - a.address)
            k.load_data(_vector(a, place, vector))
            k.combine(op)
        with k.each(-(-vector // width), FLAT):
            _take(k, op, output.dtype, min(width, vector))
            k.append(_start(output), count)
    return [k.task()]


def _take(k: SliceKernel, op: str, dtype: str, width: int) -> None:
    """The results of a combination as they are."""
    if is_float(dtype):
        k.activate_float(width=width, limits=FloatRange(), narrow=op not in ("ACC", "SACC"))
        return
    low, high = limits(dtype)
    shift = _COMPARISON_SHIFT if op in _COMPARISONS else 0
    k.activate(width=width, shift=shift, low=low, high=high)


def _count(name: str, a: Tensor, b: Tensor, output: Tensor) -> int:
    if not a.shape == b.shape == output.shape:
        raise IllegalSliceProgram(
            "shapes", f"{name}: {a.shape} and {b.shape} to {output.shape} are not alike"
        )
    return math.prod(a.shape)


def _vector(tensor: Tensor, place: Index, count: int) -> View:
    return _start(tensor).at(place).with_block((count, tensor.element))


def _start(tensor: Tensor) -> View:
    return tensor[(0,) * len(tensor.shape)]
