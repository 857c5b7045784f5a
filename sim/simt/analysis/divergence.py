"""Which values differ between the lanes of a simdgroup, and which blocks some lanes may skip."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ..ir.cfg import Cfg, Loop
from ..ir.nodes import AddressRoot, Block, Constant, Function, Instruction, Value, is_private
from ..ir.operations.operation import Variation
from ..ir.shape import LANES


@dataclass(slots=True)
class Divergence:
    """The result of the analysis."""

    varying: set[Value] = field(default_factory=set)
    divergent: set[Block] = field(default_factory=set)  # blocks whose branch lanes disagree on
    partial: set[Block] = field(default_factory=set)  # blocks that some live lanes may skip
    joins: set[Block] = field(default_factory=set)  # blocks that lanes reach by different edges
    differs: Callable[[Instruction], bool] = lambda instruction: False

    def is_varying(self, value: Value) -> bool:
        """Whether lanes can hold different values."""
        return value in self.varying


def analyse_divergence(
    function: Function,
    cfg: Cfg,
    differs: Callable[[Instruction], bool] = lambda instruction: False,
) -> Divergence:
    """Find what is uniform. Marks the loops that lanes leave at different times.

    `differs` tells of results that vary beside those of the table, such as the number of a
    simdgroup, so that it is found what threads of a threadgroup have in common.
    """
    for loop in cfg.loops:
        loop.divergent_exit = False
    result = Divergence(differs=differs)
    if not cfg.reducible:
        _everything_varies(function, cfg, result)
        return result
    changed = True
    while changed:
        before = len(result.varying), len(result.divergent)
        _spread(cfg, result)
        for block in cfg.order:
            if (
                block.condition is not None
                and block not in result.divergent
                and _seen_varying(block.condition, block, cfg, result)
            ):
                result.divergent.add(block)
                _diverge_at(block, cfg, result)
        changed = (len(result.varying), len(result.divergent)) != before
    return result


def _everything_varies(function: Function, cfg: Cfg, result: Divergence) -> None:
    result.varying.update(i for i in function.instructions() if i.type != "void")
    result.divergent.update(b for b in cfg.order if b.condition is not None)
    result.partial.update(cfg.order[1:])
    result.joins.update(cfg.order)


def escapes(value: Value, user: Block, cfg: Cfg) -> bool:
    """Whether a use is behind a loop that holds the definition and that lanes leave by turns."""
    if not isinstance(value, Instruction) or value.block is None:
        return False
    return any(
        loop.divergent_exit and user not in loop.blocks for loop in cfg.loops_of(value.block)
    )


def _seen_varying(value: Value, user: Block, cfg: Cfg, result: Divergence) -> bool:
    return value in result.varying or escapes(value, user, cfg)


def _spread(cfg: Cfg, result: Divergence) -> None:
    """Carry variation along the data flow until nothing changes."""
    changed = True
    while changed:
        changed = False
        for block in cfg.order:
            for instruction in block.instructions():
                if (
                    instruction.type != "void"
                    and instruction not in result.varying
                    and _varies(instruction, block, cfg, result)
                ):
                    result.varying.add(instruction)
                    changed = True


def _varies(instruction: Instruction, block: Block, cfg: Cfg, result: Divergence) -> bool:
    by_table = _RULES[instruction.operation.result](instruction, block, cfg, result)
    return by_table or result.differs(instruction)


def _as_operands(instruction: Instruction, block: Block, cfg: Cfg, result: Divergence) -> bool:
    return any(_seen_varying(o, block, cfg, result) for o in instruction.operands)


def _as_memory(instruction: Instruction, block: Block, cfg: Cfg, result: Divergence) -> bool:
    root = instruction.root
    if isinstance(root, AddressRoot) and _seen_varying(root.address, block, cfg, result):
        return True
    return is_private(root) or _as_operands(instruction, block, cfg, result)


def _as_edges(phi: Instruction, block: Block, cfg: Cfg, result: Divergence) -> bool:
    return block in result.joins or any(
        _seen_varying(value, source, cfg, result)
        for value, source in zip(phi.operands, block.predecessors, strict=True)
    )


def _as_last(instruction: Instruction, block: Block, cfg: Cfg, result: Divergence) -> bool:
    return _seen_varying(instruction.operands[-1], block, cfg, result)


def _in_clusters(instruction: Instruction, block: Block, cfg: Cfg, result: Divergence) -> bool:
    cluster = instruction.operands[-1]
    return not (isinstance(cluster, Constant) and cluster.number == LANES)


_RULES: dict[Variation, Callable[[Instruction, Block, Cfg, Divergence], bool]] = {
    Variation.AS_OPERANDS: _as_operands,
    Variation.NEVER: lambda instruction, block, cfg, result: False,
    Variation.ALWAYS: lambda instruction, block, cfg, result: True,
    Variation.AS_LAST: _as_last,
    Variation.IN_CLUSTERS: _in_clusters,
    Variation.AS_MEMORY: _as_memory,
    Variation.AS_EDGES: _as_edges,
}


def skipped_by(block: Block, cfg: Cfg) -> set[Block]:
    """What lanes may skip that part at the end of a block, until they meet again."""
    meeting = cfg.postdominator[block]
    region: set[Block] = set()
    work = [t for t in block.targets if t is not meeting]
    while work:
        reached = work.pop()
        if reached not in region:
            region.add(reached)
            work.extend(t for t in reached.targets if t is not meeting)
    return region


def _diverge_at(block: Block, cfg: Cfg, result: Divergence) -> None:
    """Lanes part at the end of `block`: find where they are apart and where they meet again."""
    meeting, region = cfg.postdominator[block], skipped_by(block, cfg)
    result.partial |= region
    _mark_joins(block, meeting, region, cfg, result)
    for loop in cfg.loops_of(block):
        if meeting is None or meeting not in loop.blocks:
            _mark_divergent_exit(loop, cfg, result)


def _mark_joins(
    block: Block, meeting: Block | None, region: set[Block], cfg: Cfg, result: Divergence
) -> None:
    labels: dict[Block, Block] = {t: t for t in block.targets}
    for reached in cfg.order[cfg.index[block] + 1 :]:
        if reached not in region and reached is not meeting:
            continue
        origins = {
            labels[p]
            for p in reached.predecessors
            if p in labels and p is not meeting and p in region
        }
        if reached in block.targets:
            origins.add(reached)
        _label(reached, origins, labels, result)
        if reached is meeting:
            return


def _mark_divergent_exit(loop: Loop, cfg: Cfg, result: Divergence) -> None:
    """Lanes leave a loop by turns: they meet where ways from two of its exits do."""
    loop.divergent_exit = True
    exits = set(loop.exits())
    result.joins |= exits
    labels = {block: block for block in exits}
    for reached in cfg.order[cfg.index[loop.header] :]:
        if reached not in exits:
            origins = {labels[p] for p in reached.predecessors if p in labels}
            _label(reached, origins, labels, result)


def _label(
    reached: Block, origins: set[Block], labels: dict[Block, Block], result: Divergence
) -> None:
    """Note where lanes that reach a block parted; those from two such places meet in it."""
    if len(origins) > 1:
        result.joins.add(reached)
        labels[reached] = reached
    elif origins:
        (labels[reached],) = origins
