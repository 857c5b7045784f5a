"""What may happen between one barrier and the next: blocks, and in which iterations of loops."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from assay.sim.simt.ir.cfg import Loop
from assay.sim.simt.ir.nodes import Block, Constant
from assay.sim.simt.oracle.interleaved import MEM_DEVICE, MEM_THREADGROUP

from .counts import Count, Counts, without_inner
from .kernel import Kernel, barrier_of

State = frozenset[tuple[Loop, Count]]


@dataclass(frozen=True, slots=True, eq=False)
class Interval:
    """All that threads may do after `start`, a barrier or None for the kernel's begin.

    Attributes:
        counts: iterations of the loops around the start, the same for all threads.
        visits: blocks that may be executed before the next barrier that separates, each with
            iterations of the loops that barriers are in, relative to those of the start.
    """

    start: Block | None
    counts: Counts
    visits: tuple[tuple[Block, State], ...]


def separates(flag: int) -> Callable[[Block], bool]:
    """Whether a block ends in a barrier with such memory flags."""

    def found(block: Block) -> bool:
        barrier = barrier_of(block)
        flags = barrier.operands[0] if barrier is not None else None
        return isinstance(flags, Constant) and bool((flags.number or 0) & flag)

    return found


def intervals(kernel: Kernel, flag: int) -> Iterator[Interval]:
    """All intervals between barriers that order memory of a kind, by its flag."""
    ends = separates(flag)
    entry = kernel.cfg.order[0]
    yield Interval(None, {}, _visits(kernel, [(entry, frozenset())], ends))
    for block in kernel.cfg.order:
        if ends(block):
            counts = {
                loop: Count(f"now.{kernel.cfg.index[loop.header]}") for loop in kernel.around(block)
            }
            following = [(t, step(kernel, block, t, counts)) for t in block.targets]
            yield Interval(block, counts, _visits(kernel, following, ends))


def _visits(
    kernel: Kernel, first: list[tuple[Block, State]], ends: Callable[[Block], bool]
) -> tuple[tuple[Block, State], ...]:
    found = dict.fromkeys(first)
    work = list(first)
    while work:
        block, state = work.pop()
        if ends(block):
            continue
        for target in block.targets:
            following = (target, step(kernel, block, target, dict(state)))
            if following not in found:
                found[following] = None
                work.append(following)
    return tuple(found)


def step(kernel: Kernel, source: Block, target: Block, counts: Counts) -> State:
    """Iterations after going from one block to the next."""
    known = dict(counts)
    for loop in kernel.shared:
        if loop.header is not target:
            continue
        known = without_inner(known, loop)
        if source not in loop.blocks:
            known[loop] = Count()
        elif loop in known:
            known[loop] = _next(kernel, loop, known[loop])
    return frozenset(each for each in known.items() if _is_behind(kernel, each[0], target))


def _is_behind(kernel: Kernel, loop: Loop, block: Block) -> bool:
    """Whether all ways to a block lead through a loop: when one was left that need not have been
    gone through says little, and of several there would be as many states as products.
    """
    return block in loop.blocks or kernel.cfg.dominates(loop.header, block)


def _next(kernel: Kernel, loop: Loop, count: Count) -> Count:
    """The iteration after one; behind the next there are just later ones, each thread's own."""
    if count.is_own:
        return count
    if count.offset > 0:
        # What it is later than is in its name: that is known of it wherever it is met.
        after = f"{count.symbol}+{count.offset}"
        return Count(f"later.{kernel.cfg.index[loop.header]}({after})", after=count, is_own=True)
    return count.further(1)


__all__ = ["MEM_DEVICE", "MEM_THREADGROUP", "Interval", "State", "intervals", "separates", "step"]
