"""How much larger assumed buffers become while a kernel reaches beyond them."""

from __future__ import annotations

from .plan import LARGEST_ASSUMED, Plan

_STEP = 16
_MOST = 4096


def next_growth(plan: Plan, growth: int, error: Exception | None) -> int | None:
    """The factor to plan with instead of `growth`, or None if `error` has another reason."""
    from assay.sim.simt import KernelFault

    if not isinstance(error, KernelFault) or error.at_any_size or not plan.can_grow(error.buffer):
        return None
    if error.offset >= LARGEST_ASSUMED:
        return None  # no size that is assumed would do
    return growth * _STEP if growth < _MOST else None
