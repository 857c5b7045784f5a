"""The strict memory model: nothing but barriers orders lanes of a simdgroup.

To two threads of one simdgroup its barriers are what those of the threadgroup are to all threads.
So the same questions are asked once more, about two such threads, of a kernel in which barriers of
the simdgroup count as barriers.

Where lock step counts, some of it is asked as well: compilers know nothing of lock step, and so
neither keep the order of what different lanes do nor see to it that lanes which read one place
find the same while another lane writes there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property

from assay.sim.simt.ir.operations.synchronisation import SIMDGROUP_BARRIER
from assay.sim.site import Site

from .answers import Answer, Obstacle, merged
from .barriers import ABOUT as BARRIERS
from .barriers import uniform_barriers
from .kernel import Kernel, read_by_all
from .races import (
    BUFFERS,
    THREADGROUP,
    Which,
    may_meet,
    of_reads,
    of_stores,
    one_writes,
    races_within,
    threadgroup_races,
)
from .ranges import Lemmas
from .study import Assumed, Effort, Study


class Strict:
    """What is asked of two lanes of a simdgroup besides what is asked of any two threads.

    Args:
        kernel: as it is read for threads of a threadgroup.
        prepare: the kernel, made ready for threads of one simdgroup.
        assumed: what is assumed of launches.
        effort: how much is done.
        is_meant: whether the strict model counts; without it, no more is asked than whether there
            is a barrier between stores that only lock step keeps apart, and between writes and
            what is taken to be read together; and whether lanes come to the same barriers.
    """

    def __init__(
        self,
        kernel: Kernel,
        prepare: Callable[[], Kernel],
        assumed: Callable[[Kernel], Assumed],
        effort: Effort | None = None,
        *,
        is_meant: bool,
    ) -> None:
        self._of_threads = kernel
        self._prepare = prepare
        self._assumed = assumed
        self._effort = effort or Effort()
        self._is_meant = is_meant
        self._lemmas = Lemmas()

    def barriers(self, found: Answer) -> Answer:
        """With: lanes of a simdgroup come to the same barriers of it."""
        if not self._is_meant and not self._has_barriers:
            return found
        return merged(found, self._uniform)

    def threadgroup(self, study: Study) -> Answer:
        """Whether two threads of a study race for threadgroup memory, with: two lanes do not, or
        their stores do not, nor does one write what others are taken to read together.
        """
        found = threadgroup_races(study)
        if self._is_asked(found):
            lanes = threadgroup_races(self._study(THREADGROUP), self._which(found))
            found = merged(found, self._resting(lanes))
        return self._together(found, study)

    def _together(self, found: Answer, study: Study) -> Answer:
        """A proof, if no lane writes what others of its simdgroup are taken to read together."""
        if self._is_meant or found.verdict != "proved":
            return found
        sites = {each.site for each in read_by_all(self._of_threads)} | study.read_together
        if not sites or not may_meet(study, of_reads(sites)):
            return found
        lanes = self._read_together(sites)
        if lanes.verdict == "proved":
            return found
        why = "lanes read together what another lane of their simdgroup may write meanwhile"
        places = [*(each.actors[0].site for each in lanes.counterexamples if each.actors)]
        places += [each.site for each in lanes.obstacles]
        return replace(
            found, verdict="undecided", obstacles=(Obstacle(why=why, site=(places or [Site()])[0]),)
        )

    def _read_together(self, sites: set[Site]) -> Answer:
        """Whether lanes race by reads at some places, and by those that this rests on in turn."""
        while True:
            study = self._study(THREADGROUP)
            found = self._resting(threadgroup_races(study, of_reads(sites)))
            if found.verdict != "proved" or study.read_together <= sites:
                return found
            sites |= study.read_together

    def buffers(self, found: Answer) -> Answer:
        """With: two lanes do not race for buffers, or their stores do not."""
        if not self._is_asked(found):
            return found
        study = self._study(BUFFERS, lenient=True)
        lanes = self._resting(races_within(study, self._which(found)))
        return merged(found, replace(lanes, rests_on=tuple(study.ranges.rests_on())))

    def _which(self, found: Answer) -> Which:
        return one_writes if self._is_meant else of_stores(found.in_order)

    @property
    def _has_barriers(self) -> bool:
        instructions = self._of_threads.function.instructions()
        return any(each.operation is SIMDGROUP_BARRIER for each in instructions)

    def _is_asked(self, found: Answer) -> bool:
        return self._is_meant or (bool(found.in_order) and found.verdict == "proved")

    def _resting(self, found: Answer) -> Answer:
        """What is found, if lanes come to the same barriers of the simdgroup; elsewhere in the
        strict model that is asked for itself.
        """
        if self._is_meant or found.verdict != "proved" or self._uniform.verdict == "proved":
            return found
        why = "only lock step orders accesses, and lanes may come to different barriers"
        return replace(found, verdict="undecided", obstacles=(Obstacle(why=why),))

    @cached_property
    def _uniform(self) -> Answer:
        """Whether lanes come to the same barriers of the simdgroup."""
        return uniform_barriers(self._study(BARRIERS))

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
