"""Scaling of sums as the activation unit does it: one shift for a task, one factor per channel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..operators.quantisation import Rescale
from .errors import IllegalSliceProgram
from .formats import limits

MOST_SHIFT = 63
_FACTOR_BITS = 31
_PRODUCT_BITS = 62
"""Of a sum times a factor, so that what is added for rounding still fits 63 bits and a sign."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelRun:
    """Neighbouring channels whose scaling one task can do: factors for the common `shift`."""

    first: int
    factors: tuple[int, ...]
    shift: int

    @property
    def count(self) -> int:
        """Channels."""
        return len(self.factors)

    def part(self, start: int, end: int) -> ChannelRun:
        """Those of its channels from number `start` up to `end`."""
        return ChannelRun(
            first=self.first + start, factors=self.factors[start:end], shift=self.shift
        )


def channel_runs(rescale: Rescale, channels: int, sum_bits: int = 31) -> list[ChannelRun]:
    """The channels in as few runs as possible, each scaled exactly as TOSA says.

    Sums are less than 2**sum_bits: the larger they are, the smaller are the factors that channels
    get for a common shift. A multiplier that is larger itself stays as it is.

    Raises IllegalSliceProgram for a multiplier or shift that the activation unit cannot do.
    """
    runs: list[ChannelRun] = []
    first, least, most = 0, 0, MOST_SHIFT
    for channel in range(channels):
        low, high = _range(rescale, channel, sum_bits)
        if max(low, least) > min(high, most):
            runs.append(_run(rescale, first, channel, least))
            first, least, most = channel, low, high
        least, most = max(low, least), min(high, most)
    runs.append(_run(rescale, first, channels, least))
    return runs


def shift_classes(rescale: Rescale, channels: int, sum_bits: int = 31) -> list[int]:
    """A number for each channel: those of one number, side by side, are one run.

    There are as few numbers as possible. Raises IllegalSliceProgram as `channel_runs` does.
    """
    ranges = [_range(rescale, channel, sum_bits) for channel in range(channels)]
    found = [0] * channels
    number, common = -1, -1
    for channel in sorted(range(channels), key=lambda channel: ranges[channel][1]):
        low, high = ranges[channel]
        if low > common:
            number, common = number + 1, high
        found[channel] = number
    return found


def _range(rescale: Rescale, channel: int, sum_bits: int) -> tuple[int, int]:
    """The shifts (from, to) with which a channel can be scaled exactly."""
    multiplier, shift = rescale.of(channel)
    low, high = _shifts(multiplier, shift, _PRODUCT_BITS - sum_bits)
    return _rounding_twice(shift, low, high) if rescale.double_round else (low, high)


def _run(rescale: Rescale, first: int, end: int, shift: int) -> ChannelRun:
    factors = []
    for channel in range(first, end):
        multiplier, own = rescale.of(channel)
        factors.append(multiplier << (shift - own) if shift >= own else multiplier >> (own - shift))
    return ChannelRun(first=first, factors=tuple(factors), shift=shift)


def sum_bits(weights: NDArray[np.generic], bias: NDArray[np.int64], dtype: str) -> int:
    """Bits without sign of any output's sum over data of a type: weights (o, ...), bias (o,).

    Raises IllegalSliceProgram for a type that is no integer.
    """
    most = np.abs(weights.astype(np.int64)).reshape(len(weights), -1).sum(axis=1)
    low, high = limits(dtype)
    return int((most * max(-low, high) + np.abs(bias)).max()).bit_length()


def _shifts(multiplier: int, shift: int, factor_bits: int) -> tuple[int, int]:
    """The shifts (from, to) with which a factor stands for exactly this multiplier and shift."""
    if not 0 <= multiplier < 1 << _FACTOR_BITS or not 0 <= shift <= MOST_SHIFT:
        raise IllegalSliceProgram(
            "scaling",
            f"multiplier {multiplier} with shift {shift} does not fit the activation unit",
        )
    if multiplier == 0:
        return 0, MOST_SHIFT
    zeros = (multiplier & -multiplier).bit_length() - 1
    # A sum that is not shifted is not rounded, and one that is shifted is: shift 0 stays 0.
    low = max(shift - zeros, min(shift, 1))
    spare = max(0, min(factor_bits, _FACTOR_BITS) - multiplier.bit_length())
    return low, min(shift + spare, MOST_SHIFT) if shift else 0


def _rounding_twice(shift: int, low: int, high: int) -> tuple[int, int]:
    """Of these shifts those that round as this one: beyond 31, what is added first is fixed."""
    return (shift, shift) if shift > _FACTOR_BITS else (low, min(high, _FACTOR_BITS))


def bias_pairs(bias: Sequence[int], factors: Sequence[int]) -> NDArray[np.int32]:
    """{bias, factor} of each channel as DEBR reads them, shape (channels, 2)."""
    wide = np.array([bias, factors], np.int64).T
    if wide.size and (wide.min() < -(1 << 31) or wide.max() >= 1 << 31):
        raise IllegalSliceProgram("scaling", "a bias does not fit 32 bits")
    return wide.astype(np.int32)
