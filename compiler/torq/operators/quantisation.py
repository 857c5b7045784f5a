"""How sums become results."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np


@dataclass(frozen=True, kw_only=True)
class Rescale:
    """TOSA's scaling of sums: multipliers and shifts, one or one per channel.

    Attributes:
        multipliers, shifts: result = (sum * multiplier + half) >> shift.
        zero_point: added to the result.
        low, high: limits of the result, after the zero point.
        double_round: shifts above 31 round as if 31 bits were rounded away first, away from zero.
    """

    multipliers: tuple[int, ...] = (1,)
    shifts: tuple[int, ...] = (0,)
    zero_point: int = 0
    low: int = -128
    high: int = 127
    double_round: bool = False

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        """Of many multipliers, counted once."""
        fields = (self.multipliers, self.shifts, self.zero_point, self.low, self.high)
        return hash((*fields, self.double_round))

    def of(self, channel: int) -> tuple[int, int]:
        """(multiplier, shift) of a channel."""
        if len(self.multipliers) == 1:
            return self.multipliers[0], self.shifts[0]
        return self.multipliers[channel], self.shifts[channel]

    def channels(self, first: int, count: int) -> Rescale:
        """The scaling of a range of channels by itself."""
        if len(self.multipliers) == 1:
            return self
        return Rescale(
            multipliers=self.multipliers[first : first + count],
            shifts=self.shifts[first : first + count],
            zero_point=self.zero_point,
            low=self.low,
            high=self.high,
            double_round=self.double_round,
        )


@dataclass(frozen=True, slots=True)
class FloatRange:
    """Limits of floating-point results, which are not scaled."""

    low: float = -math.inf
    high: float = math.inf

    @property
    def bits(self) -> tuple[int, int]:
        """Both limits as bits of float32, signed as registers have them."""
        low, high = np.array([self.low, self.high], np.float32).view(np.int32)
        return int(low), int(high)
