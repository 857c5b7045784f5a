"""What going round a loop costs: about as much fuel as it takes time, so that any end is near."""

from __future__ import annotations

from collections.abc import Collection

from ..ir.nodes import Block, Instruction, is_private

_PLAIN = 1
# What goes through the lanes one by one, or calls what keeps the books of a check.
_ATOMIC = 128
_WATCHED_WRITE = 128
_BARRIER = 128


def cost_of_loop(
    blocks: Collection[Block], barriers: Collection[Block], simdgroups: int, *, watched: bool
) -> int:
    """Fuel that each simdgroup burns for one round.

    Args:
        blocks: the loop.
        barriers: blocks that end at a barrier, where simdgroups take turns: while one of them
            burns its fuel, all others burn theirs.
        simdgroups: of a threadgroup.
        watched: whether checks see its accesses.
    """
    cost = sum(_cost(i, watched=watched) for block in blocks for i in block.body) + len(blocks)
    meetings = sum(block in barriers for block in blocks)
    return (cost + meetings * _BARRIER) * simdgroups if meetings else cost


def _cost(instruction: Instruction, *, watched: bool) -> int:
    operation = instruction.operation
    cost = _ATOMIC if operation.is_atomic else _PLAIN
    if watched and operation.writes_memory and not is_private(instruction.root):
        cost += _WATCHED_WRITE
    return cost
