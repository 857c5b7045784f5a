"""Switches as branches of two ways: a few comparisons in a row, or a tree of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...site import Site
from ..ir.llvm_types import bits
from ..ir.nodes import Block, Instruction, Value, integer
from ..ir.operations.integers import ICMP

# More cases than these are found by halves: the time is that of the logarithm, and lanes that take
# different cases wait for each other at as many blocks, not at all cases.
_MOST_IN_A_ROW = 8

Case = tuple[int, Block]


@dataclass(slots=True)
class Switch:
    """One switch: `made` is called with each block that it takes."""

    subject: Value
    default: Block
    site: Site
    name: str
    made: Callable[[Block], None]
    count: int = 0

    def lower(self, home: Block, cases: Sequence[Case]) -> None:
        """End the block `home` by going to the right case, or to the default."""
        if len(cases) <= _MOST_IN_A_ROW:
            self._row(home, list(cases))
            return
        largest = (1 << bits(self.subject.type)) - 1
        self._tree(home, sorted(cases, key=lambda case: case[0]), 0, largest)

    def _row(self, block: Block, cases: list[Case]) -> None:
        """Compare with one case after the other."""
        for number, (value, target) in enumerate(cases):
            last = number == len(cases) - 1
            following = self.default if last else self._block()
            self._branch(block, "eq", value, target, following)
            block = following

    def _tree(self, block: Block, cases: Sequence[Case], low: int, high: int) -> None:
        """Compare with the middle case; the subject is known to lie from `low` to `high`."""
        if len(cases) == 1:
            self._branch(block, "eq", *cases[0], self.default)
            return
        middle = len(cases) // 2
        pivot = cases[middle][0]
        below = self._entry(cases[:middle], low, pivot - 1)
        above = self._entry(cases[middle:], pivot, high)
        self._branch(block, "ult", pivot, below, above)

    def _entry(self, cases: Sequence[Case], low: int, high: int) -> Block:
        if low == high:
            return cases[0][1]
        block = self._block()
        self._tree(block, cases, low, high)
        return block

    def _branch(self, block: Block, how: str, value: int, first: Block, second: Block) -> None:
        block.site = self.site
        test = Instruction(ICMP, "i1", [self.subject, integer(self.subject.type, value)], self.site)
        test.predicate, test.block = how, block
        block.body.append(test)
        if first is second:
            block.targets = [first]
        else:
            block.condition, block.targets = test, [first, second]

    def _block(self) -> Block:
        self.count += 1
        block = Block(f"{self.name}.case{self.count}")
        self.made(block)
        return block
