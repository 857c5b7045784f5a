"""In which iterations of loops one thread is when it is in a block."""

from __future__ import annotations

from assay.sim.simt.ir.cfg import Loop
from assay.sim.simt.ir.nodes import Block

from ..counts import Count, Counts
from ..facts import Facts
from ..kernel import Kernel

Key = frozenset[tuple[Loop, Count]]


class Iterations:
    """Those of one thread.

    Args:
        kernel: the kernel.
        thread: the thread's name.
        facts: takes what is known of iterations.
    """

    def __init__(self, kernel: Kernel, thread: str, facts: Facts) -> None:
        self._kernel = kernel
        self._thread = thread
        self._facts = facts
        self._known: dict[tuple[Block, Key], dict[Loop, Count]] = {}
        self._deciding: dict[tuple[Block, Key], tuple[dict[Loop, Count], Key]] = {}

    def at(self, block: Block, counts: Counts) -> dict[Loop, Count]:
        """Iterations of the loops around a block, beside those that are given.

        Of a loop that was left, it is the last one, and of one that threads go through each for
        itself any.
        """
        key = (block, frozenset(counts.items()))
        if key not in self._known:
            self._known[key] = self._at(block, counts)
        return dict(self._known[key])

    def deciding(self, block: Block, counts: Counts) -> tuple[dict[Loop, Count], Key]:
        """The same, without those that decide nothing in the block; what is computed of them is
        the same for all that are alike in these.
        """
        key = (block, frozenset(counts.items()))
        if key not in self._deciding:
            behind = self._kernel.behind[block]
            given = {loop: count for loop, count in counts.items() if loop in behind}
            known = self._at(block, given)
            self._deciding[key] = known, frozenset(known.items())
        return self._deciding[key]

    def _at(self, block: Block, counts: Counts) -> dict[Loop, Count]:
        known = dict(counts)
        outer: list[str] = []
        for loop in self._kernel.around(block):
            if loop not in known:
                whose = "" if loop in self._kernel.shared else f".{self._thread}"
                place = self._kernel.cfg.index[loop.header]
                known[loop] = Count(f"last.{place}{whose}({','.join(outer)})")
            count = known[loop]
            if count.symbol:
                self._facts.state_all(count.free, count.facts)
            outer.append(f"{count.symbol}+{count.offset}")
        return known
