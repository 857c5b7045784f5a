"""Barriers that a thread did not come to on its way: else its interval had ended there."""

from __future__ import annotations

from collections.abc import Iterator

from assay.sim.simt.ir.cfg import Loop
from assay.sim.simt.ir.nodes import Block

from ..conditions import both, negation
from ..counts import Counts
from ..intervals import Interval, State, separates
from ..terms import Expression
from ..values import Values
from .execution import Execution, NotKnown
from .visits import Visit


def skipped(values: Values, interval: Interval, visit: Visit, flag: int) -> list[Expression]:
    """What holds of a thread at an access that did not come to another barrier since its interval
    began: what leads there did not hold.

    Args:
        values: the thread's.
        interval: what comes after a barrier.
        visit: the access.
        flag: of the barriers that separate.
    """
    block, state = visit.access.block, visit.state
    assert block is not None
    found: list[Expression] = []
    loop = _left_behind(values, interval, state)
    if loop is not None:
        for barrier in _behind(values, interval, loop, flag):
            found += _not_taken(values, barrier, interval.counts, [loop])
    here = {loop: count.of(values.thread.name) for loop, count in state}
    for barrier in _before(values, interval, block, state, flag):
        around = values.kernel.around(barrier)
        found += _not_taken(values, barrier, {each: here[each] for each in around}, around)
    return found


def _not_taken(
    values: Values, barrier: Block, counts: Counts, given: list[Loop]
) -> Iterator[Expression]:
    """That a thread did not come to a barrier in iterations of loops that it surely came to."""
    try:
        comes = both(*Execution(values, given).conditions(barrier, dict(counts)))
    except NotKnown:
        return
    if comes is not False:
        yield negation(comes)


def _left_behind(values: Values, interval: Interval, state: State) -> Loop | None:
    """The innermost loop around an interval's start, if the thread is in a later iteration of it,
    and in the same ones of those around it: then it came to the end of the one that it was in.
    """
    if interval.start is None:
        return None
    loop = values.kernel.cfg.innermost[interval.start]
    known = dict(state)
    if loop is None or loop not in known or known[loop] == interval.counts[loop]:
        return None
    outer = [each for each in values.kernel.around(interval.start) if each is not loop]
    is_same = all(known.get(each) == interval.counts[each] for each in outer)
    return loop if is_same else None


def _behind(values: Values, interval: Interval, loop: Loop, flag: int) -> Iterator[Block]:
    """Blocks of a loop, and of none inside it, that end in a barrier behind an interval's start."""
    cfg, ends = values.kernel.cfg, separates(flag)
    assert interval.start is not None
    for block in cfg.order[cfg.index[interval.start] + 1 :]:
        if cfg.innermost[block] is loop and ends(block):
            yield block


def _before(
    values: Values, interval: Interval, block: Block, state: State, flag: int
) -> Iterator[Block]:
    """Blocks that end in a barrier and come, if at all, behind an interval's start and before a
    block, in the iterations of loops that the thread is in.
    """
    kernel, ends = values.kernel, separates(flag)
    around, known = set(kernel.around(block)), dict(state)
    for each in kernel.cfg.order[: kernel.cfg.index[block]]:
        loops = kernel.around(each)
        is_here = all(loop in around and loop in known for loop in loops)
        if is_here and ends(each) and _is_later(values, interval, each, known):
            yield each


def _is_later(values: Values, interval: Interval, block: Block, known: Counts) -> bool:
    """Whether a block that a thread came to in iterations of loops comes behind an interval's
    start.
    """
    start, order = interval.start, values.kernel.cfg.index
    if start is None or order[start] < order[block]:
        return True
    common = set(values.kernel.around(start)) & set(values.kernel.around(block))
    return any(known[loop] != interval.counts[loop] for loop in common)
