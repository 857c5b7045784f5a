"""Source places for instructions that the optimiser left without one."""

from __future__ import annotations

from ...site import Site
from ..ir.nodes import Block, Function
from ..ir.passes import rewrites
from .sites import GENERATED


@rewrites
def complete_sites(function: Function) -> None:
    """Give an instruction without a line that of its first user, or else of a neighbour.

    LLVM drops the place of what it merges from two places; where the result goes is still near.
    """
    _forget_wrapper(function)
    users: dict[object, Site] = {}
    for instruction in function.instructions():
        for operand in instruction.operands:
            if instruction.site.line:
                users.setdefault(operand, instruction.site)
    for block in function.blocks:
        for instruction in block.instructions():
            if not instruction.site.line and instruction in users:
                instruction.site = users[instruction]
        _from_neighbours(block)


def _forget_wrapper(function: Function) -> None:
    """What the optimiser merged may lie in the entry function, which is not the user's."""
    for block in function.blocks:
        for instruction in block.instructions():
            if _is_generated(instruction.site):
                instruction.site = Site()
        if _is_generated(block.site) and block.targets:
            block.site = Site()


def _is_generated(site: Site) -> bool:
    return site.function.startswith(GENERATED)


def _from_neighbours(block: Block) -> None:
    for ordered in (reversed(block.body), iter(block.body)):
        known = Site() if _is_generated(block.site) else block.site
        for instruction in ordered:
            if instruction.site.line:
                known = instruction.site
            elif known.line:
                instruction.site = known
    if not block.site.line and block.body:
        block.site = block.body[-1].site
