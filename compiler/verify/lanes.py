"""The strict memory model: nothing but barriers orders lanes of a simdgroup.

To two threads of one simdgroup its barriers are what those of the threadgroup are to all threads.
So the same questions are asked once more, about two such threads, of a kernel in which barriers of
the simdgroup count as barriers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property

from .answers import Answer, Obstacle, merged
from .barriers import ABOUT as BARRIERS
from .barriers import uniform_barriers
from .kernel import Kernel
from .races import BUFFERS, THREADGROUP, races_within, threadgroup_races
from .ranges import Lemmas
from .study import Assumed, Effort, Study


class Strict:
    """What is asked of two lanes of a simdgroup besides what is asked of any two threads.

    Args:
        prepare: the kernel, made ready for threads of one simdgroup.
        assumed: what is assumed of launches.
        effort: how much is done.
        is_meant: whether the strict model counts; without it, no more is asked than whether
            stores that only lock step keeps apart have a barrier between them.
    """

    def __init__(
        self,
        prepare: Callable[[], Kernel],
        assumed: Callable[[Kernel], Assumed],
        effort: Effort | None = None,
        *,
        is_meant: bool,
    ) -> None:
        self._prepare = prepare
        self._assumed = assumed
        self._effort = effort or Effort()
        self._is_meant = is_meant
        self._lemmas = Lemmas()

    def barriers(self, found: Answer) -> Answer:
        """With: lanes of a simdgroup come to the same barriers of it."""
        return merged(found, uniform_barriers(self._study(BARRIERS))) if self._is_meant else found

    def threadgroup(self, found: Answer) -> Answer:
        """With: two lanes do not race for threadgroup memory, or their stores do not."""
        if not self._is_asked(found):
            return found
        study = self._study(THREADGROUP)
        lanes = threadgroup_races(study, of_stores=not self._is_meant)
        return merged(found, self._resting(lanes))

    def buffers(self, found: Answer) -> Answer:
        """With: two lanes do not race for buffers, or their stores do not."""
        if not self._is_asked(found):
            return found
        study = self._study(BUFFERS, lenient=True)
        lanes = self._resting(races_within(study, of_stores=not self._is_meant))
        offered = found.holds_if if lanes.verdict == "proved" else ""
        lanes = replace(lanes, rests_on=tuple(study.ranges.rests_on()))
        return replace(merged(found, lanes), holds_if=offered)

    def _is_asked(self, found: Answer) -> bool:
        return self._is_meant or (found.in_order and found.verdict == "proved")

    def _resting(self, found: Answer) -> Answer:
        """What is found, if lanes come to the same barriers of the simdgroup; elsewhere in the
        strict model that is asked for itself.
        """
        if self._is_meant or found.verdict != "proved" or self._are_uniform:
            return found
        why = "only lock step orders stores, and lanes may come to different barriers"
        return replace(found, verdict="undecided", obstacles=(Obstacle(why=why),))

    @cached_property
    def _are_uniform(self) -> bool:
        return uniform_barriers(self._study(BARRIERS)).verdict == "proved"

    @cached_property
    def _kernel(self) -> Kernel:
        return self._prepare()

    def _study(self, about: str, *, lenient: bool = False) -> Study:
        holds = self._assumed(self._kernel)
        return Study(
            self._kernel,
            holds,
            together=True,
            lenient=lenient,
            effort=self._effort.of(about),
            lemmas=self._lemmas,
        )
