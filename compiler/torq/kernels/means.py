"""How what a window covers becomes one number."""

from __future__ import annotations

from ..operators.quantisation import Rescale
from ..operators.reductions import Pool
from ..slice.formats import limits

OPERATIONS = {"max": "MAX", "mean": "ACC"}
"""Of the ALU, by the kind of pooling."""
_RECIPROCAL_BITS = 30


def window_scale(op: Pool, count: int) -> Rescale:
    """The scaling of windows of `count` cells."""
    low, high = limits(op.y.dtype)
    if op.kind == "max":
        return Rescale(low=low, high=high)
    multiplier, shift = reciprocal(count)
    return Rescale(
        multipliers=(multiplier,), shifts=(shift,), zero_point=op.output_zp, low=low, high=high
    )


def reciprocal(value: int) -> tuple[int, int]:
    """TOSA's multiplier and shift that stand for 1 / value."""
    k = (value - 1).bit_length()
    return (((1 << _RECIPROCAL_BITS) + 1) << k) // value, _RECIPROCAL_BITS + k
