"""Which blocks lanes of a simdgroup come to in one order, though they part at branches.

Lanes that part go each side's way until they meet again, and nothing says which side goes first. So
what several sides lead to before lanes meet, such as the code behind a `break`, or a case of a
`switch` that another one falls into, some lanes may do before others have done what comes before.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from assay.sim.simt.analysis.divergence import skipped_by
from assay.sim.simt.ir.cfg import Cfg
from assay.sim.simt.ir.nodes import Block

from ..kernel import Kernel

_Sides = Mapping[Block, frozenset[Block]]


def come_in_turn(kernel: Kernel, one: Block, other: Block) -> bool:
    """Whether no lanes come to one of two blocks by another side of a branch than others come to
    the other one by, before they meet.
    """
    return all(
        len(sides[one] | sides[other]) == 1
        for sides in _all_sides(kernel)
        if one in sides and other in sides
    )


@lru_cache(maxsize=4)  # of the readings of one kernel
def _all_sides(kernel: Kernel) -> list[_Sides]:
    """For each branch at which lanes part, the sides by which they come to blocks before they
    meet.
    """
    parting = (each for each in kernel.cfg.order if each in kernel.lanes.divergent)
    return [_sides(each, kernel.cfg) for each in parting]


def _sides(branch: Block, cfg: Cfg) -> _Sides:
    apart = skipped_by(branch, cfg)
    found: dict[Block, frozenset[Block]] = dict.fromkeys(apart, frozenset())
    for side in set(branch.targets) & apart:
        for block in _within(side, apart):
            found[block] |= {side}
    return found


def _within(start: Block, blocks: set[Block]) -> set[Block]:
    """What a block leads to without leaving some blocks."""
    seen, work = {start}, [start]
    while work:
        ahead = {each for each in work.pop().targets if each in blocks} - seen
        seen |= ahead
        work += ahead
    return seen
