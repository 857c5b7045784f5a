"""When a thread surely comes to a block, and not only what holds if it does."""

from __future__ import annotations

from collections.abc import Collection

from assay.sim.simt.ir.cfg import Loop
from assay.sim.simt.ir.nodes import Block

from ..conditions import both, negation, one_of
from ..counts import Count, Counts
from ..kernel import Kernel
from ..terms import Expression
from ..values import Values


class NotKnown(Exception):
    """It is not known when a thread comes to a block: a loop is left in several ways."""


class Execution:
    """What makes a thread come to blocks.

    Loops are taken to end: it is asked of threads that are known to have come to a barrier behind
    them.

    Args:
        values: of the thread.
        given: loops of which the thread surely came to the iteration that is asked for.
    """

    def __init__(self, values: Values, given: Collection[Loop]) -> None:
        self._values = values
        self._kernel: Kernel = values.kernel
        self._given = given

    def conditions(self, block: Block, counts: Counts) -> list[Expression]:
        """What makes the thread come to a block in iterations of loops; all have to hold.

        Raises:
            NotKnown: if that is not known.
        """
        found: list[Expression] = []
        walk, has_ended = block, False
        while True:
            loop = self._kernel.cfg.innermost[walk]
            if loop is not None and loop.header is walk and not has_ended:
                if loop in self._given:
                    return found
                found.append(self._goes_round(loop, counts))
            above = self._kernel.cfg.dominator[walk]
            if above is None:
                return found
            found.append(self._from(above, walk, counts))
            walk, has_ended = self._up(above, walk)

    def earlier(self, loop: Loop) -> Count:
        """An iteration before the one that is asked for, of a loop that the thread has to go round.

        Conditions hold by themselves unless it is one from 0 to the one before.
        """
        place = self._kernel.cfg.index[loop.header]
        return Count(f"{self._values.thread.name}.before.{place}")

    def _from(self, above: Block, block: Block, counts: Counts) -> Expression:
        """What leads from a block's dominator to it."""
        entering = self._entering(block)
        if entering == [above] and self._is_inside(above, block):
            return self._values.taken(above, block, counts)
        if self._always_after(block, above):
            return True
        ways = [self._way(above, each, block, counts) for each in entering]
        return one_of(*ways)

    def _way(self, above: Block, source: Block, block: Block, counts: Counts) -> Expression:
        """What leads from a dominator to a block by way of one of its predecessors."""
        if not self._is_inside(source, block):
            raise NotKnown
        found = [self._values.taken(source, block, counts)]
        while source is not above:
            up = self._kernel.cfg.dominator[source]
            if up is None or self._is_header(source):
                raise NotKnown
            found.append(self._from(up, source, counts))
            source, _ = self._up(up, source)
        return both(*found)

    def _is_header(self, block: Block) -> bool:
        loop = self._kernel.cfg.innermost[block]
        return loop is not None and loop.header is block

    def _entering(self, block: Block) -> list[Block]:
        """Predecessors, but for the end of the loop that a block begins."""
        if not self._is_header(block):
            return block.predecessors
        loop = self._kernel.cfg.innermost[block]
        return [each for each in block.predecessors if loop and each not in loop.blocks]

    def _is_inside(self, above: Block, block: Block) -> bool:
        """Whether a block is in no loop that another, which comes later, is not in."""
        around = set(self._kernel.around(block))
        return all(loop in around for loop in self._kernel.around(above))

    def _up(self, above: Block, block: Block) -> tuple[Block, bool]:
        """A block's dominator; of one in a loop that ends between the two where the loop begins,
        and whether it is that.
        """
        around = set(self._kernel.around(block))
        left = [loop for loop in self._kernel.around(above) if loop not in around]
        return (left[0].header, True) if left else (above, False)

    def _always_after(self, block: Block, above: Block) -> bool:
        """Whether a thread that was at a block surely comes to another."""
        walk: Block | None = self._up(above, block)[0]
        while walk is not None and walk is not block:
            walk = self._kernel.cfg.postdominator[walk]
        return walk is block

    def _goes_round(self, loop: Loop, counts: Counts) -> Expression:
        """That no iteration before leaves a loop; the one before is any that is not negative."""
        count = counts[loop]
        if count.is_first:
            return True
        earlier = self.earlier(loop)
        outside = {each: known for each, known in counts.items() if each.header not in loop.blocks}
        at = {**outside, loop: earlier}
        leaves = [
            both(self._comes(source, loop, at), self._values.taken(source, target, at))
            for source in sorted(loop.blocks, key=self._kernel.cfg.index.__getitem__)
            for target in source.targets
            if target not in loop.blocks and self._is_direct(source, loop)
        ]
        is_before = both(earlier.term.value >= 0, earlier.term.value < count.term.value)
        return both(count.term.value >= 0, one_of(negation(is_before), negation(one_of(*leaves))))

    def _comes(self, block: Block, loop: Loop, counts: Counts) -> Expression:
        """What holds at least if a thread comes to a block of a loop that it is in."""
        return block is loop.header or self._values.path(block, counts, before=False)

    def _is_direct(self, source: Block, loop: Loop) -> bool:
        """Whether a loop is left from its own iteration, not from within another loop."""
        if self._kernel.cfg.innermost[source] is not loop:
            raise NotKnown
        return True
