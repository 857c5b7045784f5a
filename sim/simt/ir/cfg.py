"""Control flow of a kernel: dominators, natural loops, and an order that keeps loops together."""

from __future__ import annotations

from dataclasses import dataclass, field

from .nodes import Block, Function, Instruction, Value
from .operations.control import PHI
from .operations.operation import Meeting
from .passes import rewrites


@dataclass(slots=True, eq=False)
class Loop:
    """A natural loop; `blocks` includes those of the loops inside it."""

    header: Block
    blocks: set[Block]
    parent: Loop | None = None
    divergent_exit: bool = False  # lanes can leave in different iterations; set by the analysis

    def exits(self) -> list[Block]:
        """Blocks outside that a block inside can go to."""
        return [t for b in self.blocks for t in b.targets if t not in self.blocks]


@dataclass(slots=True)
class Cfg:
    """The analysed graph.

    `order` is topological but for back edges, and keeps every loop's blocks together, with the
    latch last; `index` is a block's place in it. An irreducible graph has no such order: then
    `order` is any reverse post-order and `reducible` is false.
    """

    order: list[Block]
    index: dict[Block, int]
    loops: list[Loop]
    innermost: dict[Block, Loop | None]
    postdominator: dict[Block, Block | None]  # immediate; None stands for the end
    reducible: bool = True
    dominator: dict[Block, Block | None] = field(default_factory=dict)

    def loops_of(self, block: Block) -> list[Loop]:
        """The loops around a block, innermost first."""
        found = []
        loop = self.innermost[block]
        while loop is not None:
            found.append(loop)
            loop = loop.parent
        return found

    def dominates(self, block: Block, other: Block | None) -> bool:
        """Whether nobody comes to another block but by way of a block, or it is the same."""
        return _dominates(self.dominator, block, other)


@rewrites
def analyse(function: Function) -> Cfg:
    """Give every loop one latch, then order the blocks."""
    order = reverse_postorder(function.blocks[0])
    dominator = dominators(order)
    back_edges = _back_edges(order, dominator)
    innermost = _innermost(order, _loops(order, back_edges))
    for header, latches in back_edges.items():
        around = innermost[latches[0]]
        if len(latches) > 1 or (around is not None and around.header is not header):
            _unify_latches(function, header, latches)
    order = reverse_postorder(function.blocks[0])
    dominator = dominators(order)
    loops = _loops(order, _back_edges(order, dominator))
    innermost = _innermost(order, loops)
    reducible = _is_reducible(order, dominator)
    if reducible:
        order = _loop_order(order, loops, innermost)
    function.blocks = order
    return Cfg(
        order=order,
        index={block: i for i, block in enumerate(order)},
        loops=loops,
        innermost=innermost,
        postdominator=_postdominators(order, loops),
        reducible=reducible,
        dominator=dominator,
    )


def reverse_postorder(entry: Block) -> list[Block]:
    """The blocks that can be reached, each before those that follow it, but for loops."""
    seen, order = {entry}, []
    stack = [(entry, iter(entry.targets))]
    while stack:
        block, targets = stack[-1]
        for target in targets:
            if target not in seen:
                seen.add(target)
                stack.append((target, iter(target.targets)))
                break
        else:
            order.append(block)
            stack.pop()
    return order[::-1]


def dominators(order: list[Block]) -> dict[Block, Block | None]:
    """Immediate dominators (Cooper, Harvey and Kennedy's iteration)."""
    index = {block: i for i, block in enumerate(order)}
    result: dict[Block, Block | None] = {order[0]: order[0]}

    def meet(a: Block, b: Block) -> Block:
        while a is not b:
            while index[a] > index[b]:
                a = _known(result[a])
            while index[b] > index[a]:
                b = _known(result[b])
        return a

    changed = True
    while changed:
        changed = False
        for block in order[1:]:
            known = [p for p in block.predecessors if p in result]
            new = known[0]
            for predecessor in known[1:]:
                new = meet(predecessor, new)
            if result.get(block) is not new:
                result[block] = new
                changed = True
    result[order[0]] = None
    return result


def _known(block: Block | None) -> Block:
    assert block is not None
    return block


def _dominates(dominator: dict[Block, Block | None], a: Block, b: Block | None) -> bool:
    walk = b
    while walk is not None:
        if walk is a:
            return True
        walk = dominator[walk]
    return False


def _back_edges(
    order: list[Block], dominator: dict[Block, Block | None]
) -> dict[Block, list[Block]]:
    edges: dict[Block, list[Block]] = {}
    for block in order:
        for target in block.targets:
            if _dominates(dominator, target, block):
                edges.setdefault(target, []).append(block)
    return edges


def _unify_latches(function: Function, header: Block, latches: list[Block]) -> None:
    """Lead all back edges of a loop through one new block, so that its lanes gather there.

    The block is in no inner loop: from inside one, lanes would go on to the outer loop's next
    iteration while others are still in the inner loop.
    """
    latch = Block(f"{header.name}.latch", site=latches[0].site)
    latch.targets = [header]
    positions = [i for i, p in enumerate(header.predecessors) if p in latches]
    latch.predecessors = [header.predecessors[i] for i in positions]
    for phi in header.phis:
        merged = Instruction(PHI, phi.type, [phi.operands[i] for i in positions], phi.site)
        merged.block = latch
        latch.phis.append(merged)
        phi.operands = [v for i, v in enumerate(phi.operands) if i not in positions] + [merged]
    header.predecessors = [p for i, p in enumerate(header.predecessors) if i not in positions]
    header.predecessors.append(latch)
    for block in set(latches):
        block.targets = [latch if target is header else target for target in block.targets]
    function.blocks.append(latch)


def _loops(order: list[Block], back_edges: dict[Block, list[Block]]) -> list[Loop]:
    reachable = set(order)
    loops = []
    for header, latches in back_edges.items():
        blocks = {header}
        work = list(latches)
        while work:
            block = work.pop()
            if block not in blocks and block in reachable:
                blocks.add(block)
                work.extend(block.predecessors)
        loops.append(Loop(header, blocks))
    loops.sort(key=lambda loop: len(loop.blocks))
    for i, loop in enumerate(loops):
        loop.parent = next((o for o in loops[i + 1 :] if loop.header in o.blocks), None)
    return loops


def _innermost(order: list[Block], loops: list[Loop]) -> dict[Block, Loop | None]:
    return {block: next((loop for loop in loops if block in loop.blocks), None) for block in order}


def _is_reducible(order: list[Block], dominator: dict[Block, Block | None]) -> bool:
    """Whether every retreating edge goes to a block that dominates its source."""
    index = {block: i for i, block in enumerate(order)}
    return all(
        index[target] > index[block] or _dominates(dominator, target, block)
        for block in order
        for target in block.targets
    )


def _loop_order(
    order: list[Block], loops: list[Loop], innermost: dict[Block, Loop | None]
) -> list[Block]:
    index = {block: i for i, block in enumerate(order)}

    def child(block: Block, region: Loop | None) -> Block:
        """The header of the loop directly inside `region` that holds the block, or the block."""
        found = block
        loop = innermost[block]
        while loop is not region:
            assert loop is not None
            found = loop.header
            loop = loop.parent
        return found

    def place(region: Loop | None, entry: Block) -> list[Block]:
        members = [b for b in order if (region is None or b in region.blocks)]
        nodes = {child(b, region): [] for b in members}  # type: dict[Block, list[Block]]
        waiting = dict.fromkeys(nodes, 0)
        for block in members:
            source = child(block, region)
            for target in block.targets:
                if region is not None and (target not in region.blocks or target is region.header):
                    continue
                sink = child(target, region)
                if sink is not source:
                    nodes[source].append(sink)
                    waiting[sink] += 1
        placed: list[Block] = []
        ready = [entry]
        while ready:
            ready.sort(key=index.__getitem__, reverse=True)
            node = ready.pop()
            inner = next((lp for lp in loops if lp.header is node and lp is not region), None)
            placed += [node] if inner is None or inner.parent is not region else place(inner, node)
            for sink in nodes[node]:
                waiting[sink] -= 1
                if waiting[sink] == 0:
                    ready.append(sink)
        return placed

    return place(None, order[0])


def _postdominators(order: list[Block], loops: list[Loop]) -> dict[Block, Block | None]:
    """Immediate post-dominators; None where only the end post-dominates.

    A latch counts as going where its loop exits to, not back to the header: lanes that begin
    another iteration do not meet those that have left the loop, even if these come back.
    """
    index = {block: i for i, block in enumerate(order)}
    exits = {loop.header: loop.exits() for loop in loops}
    universe = set(order)
    sets: dict[Block, set[Block]] = {block: set(universe) for block in order}
    changed = True
    while changed:
        changed = False
        for block in reversed(order):
            following = _ways(block, block.targets, index, exits)
            new = {block}
            if following:
                new |= set.intersection(*(sets[t] for t in following))
            if new != sets[block]:
                sets[block] = new
                changed = True
    return {block: _nearest(block, sets) for block in order}


def _ways(
    block: Block,
    targets: list[Block],
    index: dict[Block, int],
    exits: dict[Block, list[Block]],
) -> set[Block]:
    """Where a block leads to, a way back counting as the ways out of that loop."""
    found: set[Block] = set()
    work, seen = list(targets), set[Block]()
    while work:
        target = work.pop()
        if index[target] > index[block]:
            found.add(target)
        elif target not in seen:
            seen.add(target)
            work.extend(exits.get(target, []))
    return found


def _nearest(block: Block, sets: dict[Block, set[Block]]) -> Block | None:
    strict = sets[block] - {block}
    # The nearest one is post-dominated by all the others.
    return next((b for b in strict if len(sets[b]) == len(strict)), None)


def split_block(function: Function, block: Block, at: int) -> Block:
    """Cut a block before its body's instruction `at`; the rest becomes a new block after it."""
    rest = Block(f"{block.name}.{at}", site=block.site)
    rest.body, block.body = block.body[at:], block.body[:at]
    rest.condition, block.condition = block.condition, None
    rest.targets, block.targets = block.targets, [rest]
    rest.predecessors = [block]
    for target in rest.targets:
        target.predecessors = [rest if p is block else p for p in target.predecessors]
    for instruction in rest.body:
        instruction.block = rest
    function.blocks.insert(function.blocks.index(block) + 1, rest)
    return rest


@rewrites
def split_at_barriers(function: Function) -> list[Block]:
    """Cut blocks behind every threadgroup barrier; returns those that end in one."""
    found: list[Block] = []
    work = list(function.blocks)
    while work:
        block = work.pop()
        for at, instruction in enumerate(block.body):
            if instruction.operation.meeting is Meeting.THREADGROUP:
                work.append(split_block(function, block, at + 1))
                found.append(block)
                break
    return found


def used_values(block: Block) -> list[Value]:
    """What a block's body and branch use, phis left out."""
    used = [operand for instruction in block.body for operand in instruction.operands]
    if block.condition is not None:
        used.append(block.condition)
    return used
