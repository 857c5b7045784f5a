"""What a thread finds at a known byte of an array of its own, by the way that it came there.

It is followed back from the load, store by store: through branches, each way with what leads
there, and through loops of a known number of iterations, each in turn.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from assay.sim.simt.ir.cfg import Loop
from assay.sim.simt.ir.llvm_types import bits
from assay.sim.simt.ir.nodes import Block, Instruction, PrivateRoot, is_private
from assay.sim.simt.ir.operations.memory import STORE

from ..accesses import length
from ..conditions import both, one_of
from ..counts import Count, Counts
from ..kernel import Kernel
from ..terms import Expression
from ..values import Values
from .own import Held, turns_of

_MOST_ENTRIES = 64


class _NotFollowed(Exception):
    """It is not known what wrote a byte last."""


def turns_to_tell_apart(values: Values, load: Instruction, counts: Counts) -> tuple[Loop, int]:
    """The loop whose iterations a load's place differs by, and how many there are.

    Raises:
        LookupError: if none has to be told apart, or there is no telling.
    """
    assert load.block is not None
    around = values.kernel.around(load.block)
    known = values.counts_at(load.block, counts)
    if not around or not known[around[-1]].symbol:
        raise LookupError
    turns = turns_of(values, around[-1], known)
    if turns is None:
        raise LookupError
    return around[-1], turns


def followed(values: Values, load: Instruction, index: int, counts: Counts) -> list[Held] | None:
    """What a load from an array of the thread's own may find, each with what holds then: the first
    that does counts, the last holds if no other does. None if that is not known.

    Args:
        values: the thread's.
        load: from one of its arrays.
        index: of the component that is asked for.
        counts: iterations of the loops around the load, of which its place has to be a number.
    """
    assert load.block is not None
    known = values.counts_at(load.block, counts)
    at = values.read(load.operands[0], known, "signed").constant
    if at is None or not isinstance(load.root, PrivateRoot) or _may_be_mixed(values.kernel, load):
        return None
    size = bits(load.element) // 8
    walk = _Walk(values, load.root, at + index * size, size)
    try:
        found, is_sure = walk.back(load.block, load.block.body.index(load), known, None)
    except _NotFollowed:
        return None
    return found if is_sure else None


def _may_be_mixed(kernel: Kernel, load: Instruction) -> bool:
    """Whether anything but stores to known arrays may have written the load's."""
    return any(
        is_private(each.root)
        and each.operation.writes_memory
        and (
            not isinstance(each.root, PrivateRoot)
            or (each.root == load.root and each.operation is not STORE)
        )
        for each in kernel.accesses()
    )


@dataclass(frozen=True, slots=True)
class _Walk:
    """Goes back from a load of some bytes of an array."""

    values: Values
    root: PrivateRoot
    at: int
    size: int

    def back(
        self, block: Block, end: int, counts: Counts, stop: Block | None
    ) -> tuple[list[Held], bool]:
        """What was stored on the ways to a place in a block, and whether one of these surely was.

        Args:
            block: the block.
            end: how many of its instructions come before the place.
            counts: iterations of the loops around it.
            stop: where all ways come from, whose own stores are not asked for.
        """
        found: list[Held] = []
        while block is not stop:
            stored = self._stored(block, end, counts)
            if stored is not None:
                return [*found, stored], True
            ways = list(self._before(block, counts))
            if len(ways) == 1:
                ((block, counts),) = ways
            else:
                above = self._above(block)
                further, is_sure = self._of_ways(block, ways, above, counts)
                found += further
                if is_sure or len(found) > _MOST_ENTRIES:
                    return found, is_sure
                block = above
            end = len(block.body)
        return found, False

    def _stored(self, block: Block, end: int, counts: Counts) -> Held | None:
        """What a block's stores leave; None if they leave the bytes alone."""
        for each in reversed(block.body[:end]):
            if each.root != self.root or not each.operation.writes_memory:
                continue
            begin = self.values.read(each.operands[0], counts, "signed").constant
            if begin is None:
                raise _NotFollowed
            if begin + length(each) <= self.at or self.at + self.size <= begin:
                continue
            part, rest = divmod(self.at - begin, self.size)
            if rest or bits(each.element) != 8 * self.size:
                raise _NotFollowed
            return Held(True, each.operands[1 + part], counts, block)
        return None

    def _before(self, block: Block, counts: Counts) -> Iterator[tuple[Block, Counts]]:
        """Where a thread may have come from, and in which iterations."""
        cfg = self.values.kernel.cfg
        loop = cfg.innermost[block]
        if loop is None or loop.header is not block:
            yield from ((each, self._in(each, block, counts)) for each in block.predecessors)
            return
        count = counts[loop]
        if count.symbol:
            raise _NotFollowed  # earlier iterations may have stored anything
        outside = {each: known for each, known in counts.items() if each is not loop}
        for each in block.predecessors:
            if each in loop.blocks and count.offset > 0:
                earlier = {**outside, loop: count.further(-1)}
                yield each, self._in(each, block, earlier)
            elif each not in loop.blocks and count.offset == 0:
                yield each, self._in(each, block, outside)

    def _in(self, block: Block, after: Block, counts: Counts) -> Counts:
        """Iterations at the end of a block from which a thread came to another: of a loop that was
        left there it is the last.
        """
        around = self.values.kernel.around(after)
        left = [each for each in self.values.kernel.around(block) if each not in around]
        if not left:
            return counts
        (*outer, loop) = left
        turns = turns_of(self.values, loop, counts) if not outer and loop.header is block else None
        if turns is None:
            raise _NotFollowed
        return {**counts, loop: Count(offset=turns)}

    def _above(self, block: Block) -> Block:
        """Where all ways to a block come from, in the same iterations."""
        kernel = self.values.kernel
        above = kernel.cfg.dominator[block]
        if above is None or kernel.around(above) != kernel.around(block):
            raise _NotFollowed
        return above

    def _of_ways(
        self, block: Block, ways: list[tuple[Block, Counts]], above: Block, counts: Counts
    ) -> tuple[list[Held], bool]:
        found: list[Held] = []
        are_sure = True
        for source, known in ways:
            stored, is_sure = self.back(source, len(source.body), known, above)
            came = both(self._comes(source, known, above), self.values.taken(source, block, known))
            found += [replace(each, condition=both(came, each.condition)) for each in stored]
            are_sure = are_sure and is_sure
        return found, are_sure and bool(ways)

    def _comes(self, block: Block, counts: Counts, above: Block) -> Expression:
        """What leads a thread from where all ways come from to a block."""
        if block is above:
            return True
        loop = self.values.kernel.cfg.innermost[block]
        if loop is not None and loop.header is block:  # it was gone through, or is begun
            outside = {each: known for each, known in counts.items() if each is not loop}
            ways = [each for each in block.predecessors if each not in loop.blocks]
            sources = [(each, self._in(each, block, outside)) for each in ways]
        else:
            sources = list(self._before(block, counts))
        return one_of(
            *(
                both(self._comes(each, known, above), self.values.taken(each, block, known))
                for each, known in sources
            )
        )
