"""Constants of sums per channel: factors for a common shift, biases with zero points folded in."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ..operators.quantisation import FloatRange, Rescale
from ..slice.errors import IllegalSliceProgram
from ..slice.scaling import ChannelRun, bias_pairs, channel_runs
from .kernel import ConstantSpec

INT32_BITS = 31
_WIDE_BITS = 47


def bits_of_sums(dtype: str, given: int) -> int:
    """Bits without sign of sums: as told, or what TOSA allows sums over data of a type."""
    return given or (_WIDE_BITS if dtype == "int16" else INT32_BITS)


@lru_cache(maxsize=4096)
def runs(
    rescale: Rescale | FloatRange, first: int, count: int, sum_bits: int
) -> tuple[ChannelRun, ...]:
    """Channels from `first` on, in as few runs as possible; runs are counted from 0.

    Raises IllegalSliceProgram.
    """
    if isinstance(rescale, FloatRange):
        return (ChannelRun(first=0, factors=(1,) * count, shift=0),)
    return tuple(channel_runs(rescale.channels(first, count), count, sum_bits))


def scaling_refusal(rescale: Rescale | FloatRange, channels: int, sum_bits: int) -> str | None:
    """Why the activation unit cannot scale so, or None."""
    if isinstance(rescale, Rescale) and len(rescale.multipliers) not in (1, channels):
        return f"{len(rescale.multipliers)} multipliers for {channels} channels"
    try:
        runs(rescale, 0, channels, sum_bits)
    except IllegalSliceProgram as error:
        return str(error)
    return None


def scale_shape(rescale: Rescale | FloatRange, channels: int) -> ConstantSpec:
    """{bias, factor} of each channel; of floats, the bias alone."""
    if isinstance(rescale, FloatRange):
        return ConstantSpec(name="scales", dtype="float32", shape=(channels,))
    return ConstantSpec(name="scales", dtype="int32", shape=(channels, 2))


def packed_scales(
    rescale: Rescale | FloatRange,
    bias: NDArray[np.generic],
    weights: NDArray[np.generic],
    input_zp: int,
    found: Sequence[ChannelRun],
) -> NDArray[np.generic]:
    """The constant: the zero point's part of the sums is taken off the bias."""
    if isinstance(rescale, FloatRange):
        return bias.astype(np.float32)
    axes = tuple(range(1, weights.ndim))
    folded = bias.astype(np.int64) - input_zp * weights.astype(np.int64).sum(axis=axes)
    factors = [factor for run in found for factor in run.factors]
    return bias_pairs([int(b) for b in folded], factors)
