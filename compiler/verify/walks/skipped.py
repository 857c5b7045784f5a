"""Barriers that a thread did not come to on its way: else its interval had ended there."""

from __future__ import annotations

from collections.abc import Iterator

from assay.sim.simt.ir.cfg import Loop
from assay.sim.simt.ir.nodes import Block

from ..conditions import both, negation
from ..intervals import Interval, State, separates
from ..terms import Expression
from ..values import Values
from .execution import Execution, NotKnown


def skipped(values: Values, interval: Interval, state: State, flag: int) -> list[Expression]:
    """What holds of a thread that is in a later iteration than the barrier that an interval begins
    with: what leads to another barrier of the loop, behind that one, did not hold.

    Args:
        values: the thread's.
        interval: what comes after a barrier.
        state: the iterations that the thread is in.
        flag: of the barriers that separate.
    """
    loop = _left_behind(values, interval, state)
    if loop is None:
        return []
    found = []
    for block in _behind(values, interval, loop, flag):
        try:
            comes = Execution(values, [loop]).conditions(block, dict(interval.counts))
        except NotKnown:
            continue
        found.append(negation(both(*comes)))
    return [each for each in found if each is not True]


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
