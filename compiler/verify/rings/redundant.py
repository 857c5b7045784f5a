"""Which barriers of a kernel are needed: without one that is not, all is proved as before."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Final

from assay.sim.simt.ir.nodes import THREADGROUP_ROOTS, Block, Instruction
from assay.sim.simt.run.program import Program
from assay.sim.site import Site

from ..answers import Answer
from ..barriers import share_loops, uniform_barriers
from ..initial import initialised
from ..intervals import MEM_DEVICE, MEM_THREADGROUP, separates
from ..kernel import Kernel, Size, barrier_of, prepared
from ..lanes import Strict
from ..memory.pointers import Pointers
from ..races import races_within, same_memory, threadgroup_races, unknown_buffers
from ..ranges import Lemmas
from ..solver import own_terms
from ..study import Assumed, Study
from ..walks.parts import made_by_part

_MOST_TOGETHER: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """Whether a barrier is needed.

    Attributes:
        site: the barrier.
        is_redundant: whether all is proved without it.
        not_with: barriers that are redundant, too, but not together with this one.
        rests_on: where something is computed that must not wrap for that.
    """

    site: Site
    is_redundant: bool
    not_with: tuple[Site, ...] = ()
    rests_on: tuple[Site, ...] = ()


@own_terms()
def needs_of(
    program: Program,
    size: Size,
    assumed: Callable[[Kernel], Assumed],
    *,
    lanes: bool = False,
    pointers: Pointers | None = None,
) -> list[Need]:
    """Of each barrier, whether it is needed; empty if not all is proved with them.

    Args:
        program: the kernel.
        size: threads of a threadgroup.
        assumed: what is assumed of launches.
        lanes: whether nothing but barriers orders lanes of a simdgroup.
        pointers: where pointers in arguments lead to.
    """
    every = prepared(program, size, pointers=pointers)
    if every.lacks or any(made_by_part(Study(every, assumed(every), together=True))):
        return []
    sites = [barrier.site for block in every.barriers if (barrier := barrier_of(block))]

    def without(*dropped: int) -> tuple[Site, ...] | None:
        """What must not wrap for a proof without some barriers; None if there is none."""
        if _atomics_meet(every, [every.barriers[each] for each in dropped]):
            return None

        def by_simdgroup() -> Kernel:
            kernel = prepared(program, size, dropped, pointers, by_simdgroup=True)
            share_loops(kernel)
            return kernel

        kernel = prepared(program, size, dropped, pointers)
        share_loops(kernel)
        strict = Strict(kernel, by_simdgroup, assumed, is_meant=lanes)
        return _rests_on(kernel, assumed, strict, lanes)

    if without() is None:
        return []
    single = {
        number: rests for number in range(len(sites)) if (rests := without(number)) is not None
    }
    rivals: dict[int, list[Site]] = {number: [] for number in single}
    for one, other in itertools.combinations([*single][:_MOST_TOGETHER], 2):
        if without(one, other) is None:
            rivals[one].append(sites[other])
            rivals[other].append(sites[one])
    return [
        Need(
            site=site,
            is_redundant=number in single,
            not_with=tuple(rivals.get(number, ())),
            rests_on=single.get(number, ()),
        )
        for number, site in enumerate(sites)
    ]


def _rests_on(
    kernel: Kernel, assumed: Callable[[Kernel], Assumed], strict: Strict, lanes: bool
) -> tuple[Site, ...] | None:
    """What must not wrap so that threads come to the same barriers, do not race, and read what was
    written; None if that is not proved.
    """
    holds, lemmas = assumed(kernel), Lemmas()

    def study(*, lenient: bool = False, many: bool = False) -> Study:
        return Study(kernel, holds, lenient=lenient, many=many, lanes=lanes, lemmas=lemmas)

    def no_races() -> Answer:
        asked = study()
        return strict.together(strict.threadgroup(threadgroup_races(asked)), asked)

    questions: tuple[Callable[[], Answer], ...] = (
        lambda: strict.barriers(uniform_barriers(study())),
        no_races,
        lambda: initialised(study(many=True)),
    )
    if unknown_buffers(kernel) or not all(ask().verdict == "proved" for ask in questions):
        return None
    for lenient in (False, True):
        within = study(lenient=lenient)
        found = strict.buffers(races_within(within))
        if found.verdict == "proved":
            taken = [each.site for each in within.ranges.taken]
            between_lanes = [each.site for each in found.rests_on if each.site is not None]
            return tuple(dict.fromkeys([*taken, *between_lanes]))
    return None


def _atomics_meet(kernel: Kernel, dropped: Collection[Block]) -> bool:
    """Whether atomic accesses to one memory, one of which writes, have no barrier between them but
    those that are dropped. They do not race, but what they find depends on their order.
    """
    return any(
        _meets(kernel, access, dropped, separates(flag))
        for flag in (MEM_THREADGROUP, MEM_DEVICE)
        for access in kernel.accesses()
        if access.operation.is_atomic
        and isinstance(access.root, THREADGROUP_ROOTS) == (flag == MEM_THREADGROUP)
    )


def _meets(
    kernel: Kernel, access: Instruction, dropped: Collection[Block], ends: Callable[[Block], bool]
) -> bool:
    """Whether an atomic access is before a barrier that is dropped and another one behind it."""
    assert access.block is not None
    seen: set[tuple[Block, bool]] = set()
    work = [(access.block, False)]
    while work:
        block, is_behind = work.pop()
        if block in dropped:  # it holds threads back, whatever memory its flags name
            is_behind = True
        elif ends(block):
            continue
        for target in block.targets:
            if is_behind and any(_order_matters(access, each) for each in target.body):
                return True
            if (target, is_behind) not in seen:
                seen.add((target, is_behind))
                work.append((target, is_behind))
    return False


def _order_matters(one: Instruction, other: Instruction) -> bool:
    writes = one.operation.writes_memory or other.operation.writes_memory
    return other.operation.is_atomic and writes and same_memory(one, other)
