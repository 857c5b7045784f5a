"""Which of two instructions a thread comes to first, and whether it comes to both."""

from __future__ import annotations

from assay.sim.simt.ir.nodes import Block, Instruction

from ..kernel import Kernel


def is_before(kernel: Kernel, one: Instruction, other: Instruction) -> bool:
    """Whether one comes first, in the same iterations of loops that both are in.

    Of the two sides of a branch neither does: which of them lanes take first nothing says.
    """
    assert one.block is not None and other.block is not None
    if one.block is not other.block:
        return _leads_to(kernel, one.block, other.block)
    body = one.block.body
    return body.index(one) < body.index(other)


def dominates(kernel: Kernel, one: Instruction, other: Instruction) -> bool:
    """Whether nobody comes to an instruction but by way of another, that comes first."""
    assert one.block is not None and other.block is not None
    if one.block is not other.block:
        return kernel.cfg.dominates(one.block, other.block)
    body = one.block.body
    return body.index(one) < body.index(other)


def _leads_to(kernel: Kernel, block: Block, aim: Block) -> bool:
    """Whether control may come from one block to another in the same iterations around both."""
    order = kernel.cfg.index
    around = kernel.around(aim)
    again = {loop.header for loop in around}  # where the next iterations begin
    seen, work = {block}, [block]
    while work:
        walk = work.pop()
        ahead = {each for each in walk.targets if order[each] > order[walk] or each not in again}
        work += ahead - seen
        seen |= ahead
    return aim in seen
