"""Which barriers of a kernel are needed: without one that is not, all is proved as before."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from assay.sim.simt.run.program import Program
from assay.sim.site import Site

from ..answers import Answer
from ..assumed.contents import Contents
from ..barriers import share_loops, uniform_barriers
from ..initial import initialised
from ..kernel import Kernel, Size, barrier_of, prepared
from ..lanes import Strict
from ..memory.pointers import Pointers
from ..races import buffer_races, races_within, unknown_buffers
from ..ranges import Lemmas
from ..solver import own_terms
from ..study import Assumed, Effort, Study
from ..walks.parts import made_by_part
from .ordered import atomics_meet
from .together import companies

_QUICK: Final = Effort(is_for_proofs=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """Whether a barrier is needed.

    Attributes:
        site: the barrier.
        is_redundant: whether all is proved without it.
        together: barriers that are redundant, too, all of them at once with this one; with others
            that was not tried, or it is said below.
        not_with: barriers that are redundant, too, but not together with this one.
        not_with_all: the same of all of these at once, though maybe not of some.
        rests_on: where something is computed that must not wrap for that.
    """

    site: Site
    is_redundant: bool
    together: tuple[Site, ...] = ()
    not_with: tuple[Site, ...] = ()
    not_with_all: tuple[Site, ...] = ()
    rests_on: tuple[Site, ...] = ()


@own_terms()
def needs_of(
    program: Program,
    size: Size,
    assumed: Callable[[Kernel], Assumed],
    *,
    lanes: bool = False,
    pointers: Pointers | None = None,
    contents: Contents | None = None,
) -> list[Need]:
    """Of each barrier, whether it is needed; empty if threads may race, come to different barriers,
    or read what is not written with all of them.

    Args:
        program: the kernel.
        size: threads of a threadgroup.
        assumed: what is assumed of launches.
        lanes: whether nothing but barriers orders lanes of a simdgroup.
        pointers: where pointers in arguments lead to.
        contents: what is assumed of numbers in buffers.
    """
    proofs = _Proofs(program, size, assumed, lanes, pointers, contents or Contents())
    every = proofs.every
    if every.lacks or any(made_by_part(Study(every, assumed(every), together=True))):
        return []
    if (always := proofs.whole()) is None:
        return []
    places = _places(every)
    rests: dict[frozenset[Site], tuple[Site, ...]] = {}

    def can_go(some: Sequence[Site]) -> bool:
        found = proofs.without(*(number for site in some for number in places[site]))
        if found is not None:
            rests[frozenset(some)] = found
        return found is not None

    alone = [site for site in places if can_go([site])]
    found = companies(alone, can_go)

    def need(site: Site) -> Need:
        if site not in found:
            return Need(site=site, is_redundant=False)
        company = found[site]
        proved = rests[frozenset([site])], rests[frozenset([site, *company.together])]
        return Need(
            site=site,
            is_redundant=True,
            together=company.together,
            not_with=company.not_with,
            not_with_all=company.not_with_all,
            rests_on=tuple(dict.fromkeys(itertools.chain(always, *proved))),
        )

    return [need(site) for site in places]


def _places(kernel: Kernel) -> dict[Site, list[int]]:
    """The numbers of all barriers that stand in one place of the source: what is left out there is
    left out of each call of its function.
    """
    sites = [barrier.site for block in kernel.barriers if (barrier := barrier_of(block))]
    copies: dict[tuple[str, int, int], list[int]] = {}
    for number, site in enumerate(sites):
        copies.setdefault((site.file, site.line, site.column), []).append(number)
    return {sites[numbers[0]]: numbers for numbers in copies.values()}


@dataclass(frozen=True)
class _Proofs:
    """What is proved of a kernel with its barriers, and without some; arguments are as above."""

    program: Program
    size: Size
    assumed: Callable[[Kernel], Assumed]
    lanes: bool
    pointers: Pointers | None
    contents: Contents

    @cached_property
    def every(self) -> Kernel:
        """The kernel with all of its barriers."""
        return self.kernel()

    def whole(self) -> tuple[Site, ...] | None:
        """What must not wrap so that threads of different threadgroups do not race, which no
        barrier orders; None if that, or what barriers are for, is not proved with all of them.
        """
        asked = _Asked(self.every, self)
        if unknown_buffers(self.every) or not asked.is_ordered():
            return None
        within, between = asked.study(lenient=True), asked.study(lenient=True, apart=True)
        if asked.strict.buffers(buffer_races(within, between)).verdict != "proved":
            return None
        return tuple(each.site for each in between.ranges.taken)

    def without(self, *dropped: int) -> tuple[Site, ...] | None:
        """What must not wrap so that threads of a threadgroup come to the same barriers, do not
        race, and read what was written, and atomics find the same, without some barriers; None if
        that is not proved.
        """
        blocks = [self.every.barriers[each] for each in dropped]
        if atomics_meet(self.every, blocks, is_alone=self._is_alone):
            return None
        asked = _Asked(self.kernel(*dropped), self, dropped)
        return asked.races_rest_on() if asked.is_ordered() else None

    @cached_property
    def _is_alone(self) -> bool:
        """Whether there is one threadgroup."""
        between = Study(self.every, self.assumed(self.every), apart=True)
        return between.can([]) == "no"

    def kernel(self, *dropped: int, by_simdgroup: bool = False) -> Kernel:
        """The kernel without some barriers."""
        kernel = prepared(
            self.program, self.size, dropped, self.pointers, by_simdgroup=by_simdgroup
        )
        kernel.contents = self.contents
        share_loops(kernel)
        return kernel


class _Asked:
    """What is asked of a kernel that lacks some barriers.

    Without a barrier, lock step may be all that is left to order lanes, on which compilers do not
    rely: that does not make it redundant.
    """

    def __init__(self, kernel: Kernel, proofs: _Proofs, dropped: Sequence[int] = ()) -> None:
        self._kernel = kernel
        self._holds = proofs.assumed(kernel)
        self._lemmas = Lemmas()
        self.strict = Strict(
            kernel,
            lambda: proofs.kernel(*dropped, by_simdgroup=True),
            proofs.assumed,
            _QUICK,
            is_meant=proofs.lanes or bool(dropped),
        )

    def study(self, *, lenient: bool = False, many: bool = False, apart: bool = False) -> Study:
        """Two threads of it."""
        return Study(
            self._kernel,
            self._holds,
            lenient=lenient,
            many=many,
            apart=apart,
            effort=_QUICK,
            lemmas=self._lemmas,
        )

    def is_ordered(self) -> bool:
        """Whether threads of a threadgroup come to the same barriers, do not race for its memory,
        and read what was written there.
        """
        questions: tuple[Callable[[], Answer], ...] = (
            lambda: self.strict.barriers(uniform_barriers(self.study())),
            lambda: self.strict.threadgroup(self.study()),
            lambda: initialised(self.study(many=True)),
        )
        return all(ask().verdict == "proved" for ask in questions)

    def races_rest_on(self) -> tuple[Site, ...] | None:
        """What must not wrap so that threads of a threadgroup do not race for buffers; None if that
        is not proved.
        """
        rests: tuple[Site, ...] | None = None
        for lenient in (True, False):
            within = self.study(lenient=lenient)
            found = self.strict.buffers(races_within(within))
            if found.verdict != "proved":
                break  # what is not proved where nothing wraps is not proved at all
            taken = [each.site for each in within.ranges.taken]
            between_lanes = [each.site for each in found.rests_on if each.site is not None]
            rests = tuple(dict.fromkeys([*taken, *between_lanes]))
            if not taken:
                break
        return rests
