"""Notes which blocks of a watched or taped kernel run: a byte for each that the code only sets.

So it is told what a run leaves out: loops that nobody enters, buffers that nobody touches. Each
worker has bytes of its own: two cores that set the same ones would wait for each other each time.
"""

from __future__ import annotations

from ..ir.cfg import Cfg
from ..ir.nodes import Block, Function


def loops(cfg: Cfg) -> list[tuple[Block, list[int]]]:
    """Header of each loop, and the numbers of blocks one of which runs if the loop is entered.

    A header that other blocks of its loop follow may only test whether to enter.
    """
    found = []
    for loop in cfg.loops:
        after = {target for target in loop.header.targets if target in loop.blocks}
        inside = after - {loop.header} or {loop.header}
        found.append((loop.header, sorted(cfg.index[block] for block in inside)))
    return found


def touching(function: Function, cfg: Cfg) -> dict[int, list[int]]:
    """Numbers of the blocks that access the memory of each parameter."""
    found: dict[int, set[int]] = {}
    for block in cfg.order:
        for instruction in block.body:
            parameter = getattr(instruction.root, "parameter", None)
            if instruction.operation.accesses_memory and parameter is not None:
                found.setdefault(parameter, set()).add(cfg.index[block])
    return {parameter: sorted(blocks) for parameter, blocks in found.items()}
