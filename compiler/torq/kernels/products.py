"""Products of matrices: the wide operand is the data, the other gives one weight at a time."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from assay.hw.torq.words.commands import SliceTask

from ..slice.derive import ACT_WORDS
from ..slice.errors import IllegalSliceProgram
from ..slice.formats import LIMITS, Lanes, is_float, product_lanes
from ..slice.kernel import SliceKernel
from ..slice.loops import FLAT
from ..slice.lram import Lram
from ..slice.scaling import ChannelRun, FloatRange, Rescale, bias_pairs, channel_runs, sum_bits
from ..slice.tensor import Tensor

_VECTOR_BYTES = 64
BIASES_AT_A_TIME = 4
Number = TypeVar("Number", bound=np.generic)


def fully_connected(
    lram: Lram,
    x: Tensor,
    weights: NDArray[np.int8],
    bias: NDArray[np.int32],
    output: Tensor,
    *,
    rescale: Rescale,
    input_zp: int = 0,
) -> list[SliceTask]:
    """Tasks for output (n, o) = x (n, i) times the transposed weights (o, i), plus bias.

    Raises IllegalSliceProgram.
    """
    folded = bias.astype(np.int64) - input_zp * weights.astype(np.int64).sum(axis=1)
    bits = sum_bits(weights, folded, x.dtype)
    return [
        _fully_connected(lram, x, weights, folded, output, rescale, run)
        for run in channel_runs(rescale, len(weights), bits)
    ]


def _fully_connected(
    lram: Lram,
    x: Tensor,
    weights: NDArray[np.int8],
    bias: NDArray[np.int64],
    output: Tensor,
    rescale: Rescale,
    run: ChannelRun,
) -> SliceTask:
    lanes = _lanes("fully_connected", str(weights.dtype), x.dtype)
    vector = _VECTOR_BYTES // weights.itemsize // lanes.data_repeats
    vectors = -(-run.count // vector)
    chosen = slice(run.first, run.first + run.count)
    packed = lram.constant(f"weights of {output.name}", _columns(weights[chosen], vector))
    pairs = bias_pairs([int(b) for b in bias[chosen]], run.factors)
    biases = lram.constant(f"scales of {output.name}", _filled(pairs, vectors * vector))
    quads = vector // BIASES_AT_A_TIME
    k = SliceKernel("fully_connected")
    with k.each(x.shape[0]) as n, k.each(vectors, FLAT) as v:
        with k.each(x.shape[1]) as i:
            k.load_weights(x[n, i])
            k.load_data(packed[v, i])
            k.multiply()
        with k.each(quads, FLAT) as q:
            pair_bytes = biases.strides[0]
            place = v * (vector * pair_bytes) + q * (BIASES_AT_A_TIME * pair_bytes)
            k.load_bias(biases[0].at(place).with_block((BIASES_AT_A_TIME * 2, 4)))
            k.activate_scaled(width=BIASES_AT_A_TIME, scaling=rescale, shift=run.shift)
            k.append(output[n, run.first], run.count)
    return k.task()


def matmul(
    lram: Lram, a: Tensor, b: Tensor, output: Tensor, *, rescale: Rescale | None = None
) -> list[SliceTask]:
    """Tasks for output (n, h, w) = a (n, h, c) times b (n, c, w), both without zero point.

    Raises IllegalSliceProgram.
    """
    lanes = _lanes("matmul", b.dtype, a.dtype)
    scaling = rescale or Rescale(low=LIMITS["int32"][0], high=LIMITS["int32"][1])
    (run,) = channel_runs(scaling, 1)
    pair = lram.constant(f"scale of {output.name}", bias_pairs([0], run.factors))
    floating = is_float(a.dtype)
    vector = _VECTOR_BYTES // b.element // lanes.data_repeats
    width = ACT_WORDS // lanes.partials
    batches, rows, depth = a.shape
    columns = b.shape[2]
    k = SliceKernel("matmul")
    with (
        k.each(batches) as n,
        k.each(rows) as m,
        k.each(-(-columns // vector), FLAT) as v,
    ):
        with k.each(depth) as c:
            k.load_weights(a[n, m, c])
            row = b[n, c].at(v * (vector * b.element))
            k.load_data(row.with_block((vector, b.element)))
            k.multiply()
        if not floating:
            k.load_bias(pair[0])
        with k.each(vector // width, FLAT):
            if floating:
                k.activate_float(width=width, limits=FloatRange())
            else:
                k.activate_scaled(width=width, scaling=scaling, shift=run.shift)
            k.append(output[n, m], columns)
    return [k.task()]


def _lanes(name: str, data: str, weights: str) -> Lanes:
    lanes = product_lanes(data, weights)
    if lanes is None:
        raise IllegalSliceProgram("formats", f"{name}: no product of {data} and {weights}")
    return lanes


def _columns(weights: NDArray[np.int8], vector: int) -> NDArray[np.int8]:
    """(o, i) as (o / vector, i, vector), with zeros behind the last output."""
    padded = _filled(weights, -(-len(weights) // vector) * vector)
    return padded.reshape(-1, vector, weights.shape[1]).transpose(0, 2, 1)


def _filled(rows: NDArray[Number], count: int) -> NDArray[Number]:
    """`rows` with rows of zeros behind them."""
    padded = np.zeros((count, *rows.shape[1:]), rows.dtype)
    padded[: len(rows)] = rows
    return padded
