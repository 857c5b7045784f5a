"""Steps one after the other: what a schedule without double buffering does."""

from __future__ import annotations

from collections.abc import Sequence

from .steps import RunSlice, Start, Step, Wait


def in_turn(starts: Sequence[Start]) -> list[Step]:
    """Each step with a wait behind it; runs of the two slices that follow each other together."""
    steps: list[Step] = []
    number = 0
    while number < len(starts):
        one, *rest = starts[number : number + 2]
        both = isinstance(one, RunSlice) and any(
            isinstance(other, RunSlice) and other.slice_ != one.slice_ for other in rest
        )
        group = starts[number : number + 1 + both]
        steps += group
        steps += [Wait(token=step) for step in group]
        number += len(group)
    return steps
