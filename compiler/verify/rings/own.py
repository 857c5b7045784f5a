"""What a thread finds in an array of its own, by the stores that filled it in the same iteration.

Followed are arrays that loops of a known number of iterations fill, an element in each: one that
surely is gone through, and behind it others that branches lead to. Numbers of elements are compared
as such, for all iterations.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.sim.simt.ir.cfg import Loop
from assay.sim.simt.ir.nodes import Block, Instruction, PrivateRoot, Value, is_private
from assay.sim.simt.ir.operations.memory import STORE

from ..accesses import length
from ..conditions import both
from ..counts import Count, Counts
from ..initial.tables import Numbers, Table
from ..kernel import Kernel
from ..terms import Expression
from ..values import Values

_MOST_TURNS = 64
_TURN = "element"


@dataclass(frozen=True, slots=True)
class Held:
    """What a place of an array holds if a condition is fulfilled, and nothing later is.

    Attributes:
        condition: under which it was stored.
        value: what was.
        counts: iterations of the loops around the store.
        block: the store's.
    """

    condition: Expression
    value: Value
    counts: Counts
    block: Block


def held(values: Values, load: Instruction, counts: Counts) -> list[Held] | None:
    """What a load from an array of the thread's own may find, the last first; the last entry holds
    if no other does. None if that is not known.
    """
    return _Array(values, load, counts).held()


class _Array:
    """Follows one load."""

    def __init__(self, values: Values, load: Instruction, counts: Counts) -> None:
        self._values = values
        self._kernel: Kernel = values.kernel
        self._load = load
        assert load.block is not None
        self._counts = values.counts_at(load.block, counts)

    def held(self) -> list[Held] | None:
        load, root, block = self._load, self._load.root, self._load.block
        assert block is not None
        around = self._kernel.around(block)
        if not isinstance(root, PrivateRoot) or not around or self._is_elsewhere_written():
            return None
        read = self._elements(load, around[-1])
        stores = self._stores()
        own = [self._kernel.cfg.innermost[each.block] for each in stores if each.block]
        if read is None or around[-1] in own or len(set(own)) < len(own):
            return None
        found: list[Held] = []
        order = self._kernel.cfg.index
        before = [each for each in stores if each.block and order[each.block] < order[block]]
        for store in sorted(before, key=lambda each: -order[each.block]):  # type: ignore[index]
            entry = self._entry(store, around[:-1], read)
            if entry is None:
                return None
            found.append(entry)
            if entry.condition is True:
                return found
        return None

    def _is_elsewhere_written(self) -> bool:
        """Whether anything but single stores to known arrays may have written the array."""
        return any(
            is_private(each.root)
            and each.operation.writes_memory
            and (each.root == self._load.root or not isinstance(each.root, PrivateRoot))
            and not self._is_alike(each)
            for each in self._kernel.accesses()
        )

    def _is_alike(self, store: Instruction) -> bool:
        load = self._load
        same = (store.root, store.element, store.components) == (load.root, load.element, 1)
        return store.operation is STORE and same and load.components == 1

    def _stores(self) -> list[Instruction]:
        """All stores to the array."""
        return [
            each
            for each in self._kernel.accesses()
            if each.operation.writes_memory and each.root == self._load.root
        ]

    def _entry(self, store: Instruction, common: list[Loop], read: Numbers) -> Held | None:
        """What a store left at the place that is read; None if that is not known."""
        assert store.block is not None
        around = self._kernel.around(store.block)
        if not around or around[:-1] != common:
            return None
        own = around[-1]
        written = self._elements(store, own)
        if written is None or len(written) < len(read) or (written[: len(read)] != read).any():
            return None
        if (np.diff(np.sort(written)) < length(store)).any():
            return None
        condition = self._entered(own, common)
        if condition is None:
            return None
        assert self._load.block is not None
        turn = self._counts[self._kernel.around(self._load.block)[-1]]
        counts = {loop: self._counts[loop] for loop in common}
        return Held(condition, store.operands[1], {**counts, own: turn}, store.block)

    # -- loops ------------------------------------------------------------------------------------

    def _elements(self, access: Instruction, loop: Loop) -> Numbers | None:
        """Where an access is in each iteration of a loop that goes through all of them; None if the
        loop does otherwise, or it is not known.
        """
        block, header = access.block, loop.header
        assert block is not None
        (latch,) = (each for each in header.predecessors if each in loop.blocks)
        if block is header or not self._kernel.cfg.dominates(block, latch):
            return None
        turns = turns_of(self._values, loop, self._counts)
        if turns is None:
            return None
        counts = {**self._counts, loop: Count(_TURN)}
        numbers = _table().number(self._values.read(access.operands[0], counts, "signed").value)
        if numbers is None:
            return None
        return np.broadcast_to(numbers, (_MOST_TURNS,))[:turns]

    def _entered(self, loop: Loop, common: list[Loop]) -> Expression | None:
        """What makes a thread that comes to the load go through a loop before; None if that is not
        known.
        """
        aim = self._load.block
        walk = loop.header
        found: list[Expression] = []
        while aim is not None and not self._kernel.cfg.dominates(walk, aim):
            above = self._kernel.cfg.dominator[walk]
            entering = [each for each in walk.predecessors if each not in loop.blocks]
            if above is None or entering != [above] or self._kernel.around(above) != common:
                return None
            found.append(self._values.taken(above, walk, self._counts))
            walk = above
        return both(*found)


def turns_of(values: Values, loop: Loop, counts: Counts) -> int | None:
    """How many iterations all threads go through of a loop; None if that differs, or is not known.

    Args:
        values: of a thread.
        loop: the loop.
        counts: iterations of the loops around it.
    """
    header = loop.header
    leaving = {each for each in loop.blocks for to in each.targets if to not in loop.blocks}
    if leaving != {header}:
        return None
    inside = next(each for each in header.targets if each in loop.blocks)
    goes = _table().truth(values.taken(header, inside, {**counts, loop: Count(_TURN)}))
    if not goes.is_decided or goes.surely.shape != (_MOST_TURNS,) or goes.surely.all():
        return None
    return int(np.flatnonzero(~goes.surely)[0])


def _table() -> Table:
    return Table({_TURN: np.arange(_MOST_TURNS)})
