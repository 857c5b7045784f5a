"""An order of blocks in which the lanes that are behind come first: loops are contiguous."""

from __future__ import annotations

from collections.abc import Iterable

from .ir import Block


def execution_order(blocks: list[Block]) -> dict[Block, int]:
    """Number the blocks so that every loop ends before what follows it begins.

    A topological order of the graph's strongly connected components; inside a component the first
    block found is its head, and the rest is ordered likewise without the edges to the head. Lanes
    that always let the smallest number go first meet again behind branches and loops.
    """
    order: list[Block] = []
    _order(blocks, blocks, order)
    return {block: number for number, block in enumerate(order)}


def _order(starts: Iterable[Block], members: list[Block], order: list[Block]) -> None:
    for component in _components(starts, set(members)):
        head, *rest = component
        order.append(head)
        if rest:
            _order([t for t in head.targets if t in rest], rest, order)


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
