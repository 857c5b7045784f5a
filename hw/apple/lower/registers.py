"""Which registers are alive where, and how many a thread needs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from assay.sim.simt.ir.nodes import Block, Value

from .instructions import Lowered, Op

_RESERVED = 1  # halves: the counter of nested branches


class Liveness:
    """Registers that are alive at the ends of blocks, as sets of bits."""

    def __init__(
        self, code: Lowered, blocks: Sequence[Block], read: Callable[[Value], tuple[int, ...]]
    ) -> None:
        self._code = code
        self._blocks = blocks
        self._read = read
        self.out: dict[Block, int] = dict.fromkeys(blocks, 0)
        self._into: dict[Block, int] = dict.fromkeys(blocks, 0)
        self._solve()

    def _solve(self) -> None:
        uses, made = {}, {}
        for block in self._blocks:
            uses[block], made[block] = self._local(block)
        incoming = {
            (source, block): self._incoming(source, block)
            for block in self._blocks
            for source in set(block.predecessors)
        }
        changed = True
        while changed:
            changed = False
            for block in reversed(self._blocks):
                after = 0
                for target in block.targets:
                    phis = _bits(register for _, register in self._code.phis[target])
                    after |= (self._into[target] & ~phis) | incoming[block, target]
                before = uses[block] | (after & ~made[block])
                if after != self.out[block] or before != self._into[block]:
                    self.out[block], self._into[block] = after, before
                    changed = True

    def _local(self, block: Block) -> tuple[int, int]:
        """(registers that a block needs from before, those that it writes)."""
        needed = 0
        made = _bits(register for _, register in self._code.phis[block])
        for op in [*self._code.ops[block], *self._code.ends[block]]:
            needed |= _bits(op.sources) & ~made
            if op.destination >= 0:
                made |= 1 << op.destination
        return needed, made

    def _incoming(self, source: Block, block: Block) -> int:
        places = [n for n, p in enumerate(block.predecessors) if p is source]
        found = 0
        for phi, _ in self._code.phis[block]:
            for place in places:
                found |= _bits(self._read(phi.operands[place]))
        return found

    def most(self) -> int:
        """The most halves of registers that are alive at one place."""
        return max(self._most_in(block) for block in self._blocks) + _RESERVED

    def _most_in(self, block: Block) -> int:
        sizes = self._code.sizes
        alive = self.out[block]
        total = sum(sizes[register] for register in members(alive))
        most = total
        for op in reversed([*self._code.ops[block], *self._code.ends[block]]):
            if op.destination >= 0:
                if alive >> op.destination & 1:
                    alive &= ~(1 << op.destination)
                else:
                    most = max(most, total + sizes[op.destination])
                    total += sizes[op.destination]
                total -= sizes[op.destination]
            for register in op.sources:
                if not alive >> register & 1:
                    alive |= 1 << register
                    total += sizes[register]
            most = max(most, total)
        return most


def members(bits: int) -> list[int]:
    """The numbers of the bits that are set."""
    found = []
    while bits:
        low = bits & -bits
        found.append(low.bit_length() - 1)
        bits ^= low
    return found


def _bits(registers: Iterable[int]) -> int:
    found = 0
    for register in registers:
        found |= 1 << register
    return found


def remaining_uses(ops: Sequence[Op]) -> dict[int, int]:
    """How many of a block's operations read each register."""
    counts: dict[int, int] = {}
    for op in ops:
        for register in op.sources:
            counts[register] = counts.get(register, 0) + 1
    return counts
