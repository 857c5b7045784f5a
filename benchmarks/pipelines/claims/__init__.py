"""What the note states as numbers: each once, with what it comes to, and what the model says."""

from __future__ import annotations

from . import budgets, design, modes, phases
from .claim import Claim

_SECTIONS = (
    design.current,
    design.why_three,
    budgets.largest,
    budgets.smaller,
    phases.load,
    phases.compute,
    phases.balance,
    budgets.tiles,
    budgets.short,
    modes.decode,
    modes.hybrid,
)


def claims() -> list[Claim]:
    """All of them, in the note's order."""
    return [claim for section in _SECTIONS for claim in section()]


__all__ = ["Claim", "claims"]
