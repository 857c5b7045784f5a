"""When lanes are at the same point of a run: an order of moments, in which loops are contiguous."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ..ir.nodes import Block

Moment = tuple[int, ...]


@dataclass(slots=True)
class Order:
    """An order of blocks in which every loop ends before what follows it begins.

    A topological order of the graph's strongly connected components; inside a component the first
    block found is its head, and the rest is ordered likewise without the edges to the head.
    """

    number: dict[Block, int] = field(default_factory=dict)
    heads: dict[Block, tuple[Block, ...]] = field(default_factory=dict)  # outermost loop first

    def add(self, block: Block, heads: tuple[Block, ...]) -> None:
        """Put a block behind the others."""
        self.number[block] = len(self.number)
        self.heads[block] = heads


def execution_order(blocks: list[Block]) -> Order:
    """Order a function's blocks."""
    order = Order()
    _order(blocks, blocks, (), order)
    return order


class Clock:
    """Where one lane is: for every loop around it the iteration, then the block.

    Two lanes are converged when their moments are equal; of others, the lane with the smaller
    moment is behind.
    """

    def __init__(self, order: Order) -> None:
        self._order = order
        self._iterations: dict[Block, int] = {}

    def enter(self, block: Block, previous: Block | None) -> None:
        """Note that the lane goes from a block to another."""
        heads = self._order.heads
        around = heads[previous] if previous is not None else ()
        for head in heads[block]:
            if head not in around:  # entered, at its head or elsewhere
                self._iterations[head] = 0
            elif head is block:
                self._iterations[head] += 1

    def moment(self, block: Block, place: int) -> Moment:
        """The moment of instruction `place` of the block that was entered last."""
        number = self._order.number
        loops = ((number[head], self._iterations[head]) for head in self._order.heads[block])
        return (*(part for loop in loops for part in loop), number[block], place)


def _order(
    starts: Iterable[Block], members: list[Block], heads: tuple[Block, ...], order: Order
) -> None:
    for component in _components(starts, set(members)):
        head, *rest = component
        if not rest and head not in head.targets:
            order.add(head, heads)
            continue
        order.add(head, (*heads, head))
        _order([t for t in head.targets if t in rest], rest, (*heads, head), order)


def _components(starts: Iterable[Block], members: set[Block]) -> list[list[Block]]:
    """Strongly connected components in topological order, the first block reached leading each."""
    reached: list[Block] = []  # in depth-first preorder
    finished: list[Block] = []

    def visit(root: Block) -> None:
        reached.append(root)
        stack = [(root, iter(root.targets))]
        while stack:
            block, targets = stack[-1]
            following = next((t for t in targets if t in members and t not in seen), None)
            if following is None:
                finished.append(block)
                stack.pop()
            else:
                seen.add(following)
                reached.append(following)
                stack.append((following, iter(following.targets)))

    seen: set[Block] = set()
    for start in starts:
        if start in members and start not in seen:
            seen.add(start)
            visit(start)
    predecessors: dict[Block, list[Block]] = {block: [] for block in reached}
    for block in reached:
        for target in block.targets:
            if target in predecessors:
                predecessors[target].append(block)
    return _collect(finished[::-1], reached, predecessors)


def _collect(
    order: list[Block], reached: list[Block], predecessors: dict[Block, list[Block]]
) -> list[list[Block]]:
    """Kosaraju's second pass: in reverse finishing order, walk against the edges."""
    place = {block: number for number, block in enumerate(reached)}
    assigned: set[Block] = set()
    components = []
    for root in order:
        if root in assigned:
            continue
        assigned.add(root)
        component, pending = [root], [root]
        while pending:
            for block in predecessors[pending.pop()]:
                if block not in assigned:
                    assigned.add(block)
                    component.append(block)
                    pending.append(block)
        components.append(sorted(component, key=place.__getitem__))
    return components
