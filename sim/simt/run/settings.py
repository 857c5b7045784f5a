"""What a dispatch uses if it is not told: the environment's settings or the defaults."""

from __future__ import annotations

import os

from .boxes import DispatchError

DEFAULT_FUEL = 1 << 34  # IR instructions of one simdgroup; some ten seconds at the least


def chosen_fuel(fuel: int | None) -> int:
    """IR instructions that a simdgroup may run."""
    if fuel is None:
        return _number("ASSAY_FUEL") or DEFAULT_FUEL
    return fuel


def default_workers() -> int:
    """Threads that a dispatch uses if not told."""
    chosen = _number("ASSAY_WORKERS")
    if chosen is not None:
        return max(1, chosen)
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1


def _number(variable: str) -> int | None:
    """The number in an environment variable; None if it is not set or empty."""
    text = os.environ.get(variable, "")
    if not text:
        return None
    try:
        return int(text)
    except ValueError:
        raise DispatchError(f"{variable} is {text!r}; expected a whole number") from None
