"""Results of slices that hang on bytes nobody wrote; through sums that stay in PRAM, too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..datapath.plan import SlicePlan
from .matter import Words, keeps_sums, matters, takes_sums, unsure_sums
from .ranges import Ranges, ordered
from .touch import Touch

Lacking = tuple[Touch, Ranges]
"""Who reads bytes that nobody wrote, and which."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Unsure:
    """Sums in PRAM that hang on such bytes, and who was the first to read some."""

    words: Words
    first: Lacking


class Unwritten:
    """Follows one program's slices task by task.

    Lanes without a pixel sum up whatever lies behind a tensor. A task that keeps its sums for the
    next one is not to blame for these: the one that makes results of them is asked.
    """

    def __init__(self) -> None:
        self._kept: dict[str, _Unsure] = {}
        """By slice, of the sums that its last task has kept."""

    def told(
        self, unit: str, plan: SlicePlan, before: NDArray[np.uint8], lacking: Sequence[Lacking]
    ) -> list[Lacking]:
        """Of those who read such bytes in a slice's task, who takes them into results.

        `before` is LRAM at the task's start.
        """
        unsure = self._kept.pop(unit, None) if takes_sums(plan) else None
        self._kept.pop(unit, None)
        first = unsure.first if unsure is not None else next(iter(lacking), None)
        if first is None:
            return []
        sums = unsure.words if unsure is not None else None
        if keeps_sums(plan):
            ranges = ordered(piece for _, ranges in lacking for piece in ranges)
            words = unsure_sums(plan, before, ranges, sums)
            if words.any():
                self._kept[unit] = _Unsure(words=words, first=first)
            return []
        told = [(touch, ranges) for touch, ranges in lacking if matters(plan, before, ranges)]
        if unsure is not None and not told and matters(plan, before, (), sums):
            return [first]
        return told
