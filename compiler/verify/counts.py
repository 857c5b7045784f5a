"""How often a loop has gone round when something happens in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from assay.sim.simt.ir.cfg import Cfg, Loop
from assay.sim.simt.ir.nodes import Block

from .terms import Term


@dataclass(frozen=True, slots=True)
class Count:
    """An iteration's number, from 0: a symbol, or none, and so much more.

    Attributes:
        symbol: its name; empty for a number that is known.
        offset: what is added to it.
        after: an iteration that it is later than.
        is_own: whether each thread has its own, rather than all the same.
    """

    symbol: str = ""
    offset: int = 0
    after: Count | None = None
    is_own: bool = False

    @property
    def term(self) -> Term:
        """The number as the solver has it."""
        if not self.symbol:
            return Term(self.offset, self.offset, self.offset)
        value = self.free
        return Term(value + self.offset if self.offset else value, self.offset, None)

    @property
    def free(self) -> Any:
        """Its symbol."""
        from .native.building import integer

        return integer(self.symbol)

    @property
    def facts(self) -> list[Any]:
        """What is known of the symbol."""
        if not self.symbol:
            return []
        later = [] if self.after is None else [self.free > self.after.term.value]
        return [self.free >= 0, *later]

    def further(self, by: int) -> Count:
        """An iteration later, or if `by` is negative before."""
        return replace(self, offset=self.offset + by)

    def of(self, thread: str) -> Count:
        """The count of one thread."""
        return (
            replace(self, symbol=f"{self.symbol}.{thread}", is_own=False) if self.is_own else self
        )

    @property
    def is_first(self) -> bool:
        """Whether it surely is the first iteration."""
        return not self.symbol and self.offset == 0


Counts = Mapping[Loop, Count]
"""The iteration of each loop that something happens in, or that was left before."""


def without_inner(counts: Counts, loop: Loop) -> dict[Loop, Count]:
    """Iterations less those of loops inside of one, which begin anew in each of its iterations."""
    inner = {each for each in counts if each is not loop and each.header in loop.blocks}
    return {each: count for each, count in counts.items() if each not in inner}


def loops_behind(cfg: Cfg) -> dict[Block, frozenset[Loop]]:
    """For each block the loops whose headers lead to it, but for ways back to a loop's header.

    Nothing that a thread does in a block depends on iterations of others, but for those of loops
    that are left when an iteration around them ends.
    """
    own = {loop.header: frozenset({loop}) for loop in cfg.loops}
    found: dict[Block, frozenset[Loop]] = {}
    for block in cfg.order:
        forward = [found[each] for each in block.predecessors if each in found]
        found[block] = own.get(block, frozenset()).union(*forward)
    return found
