"""What a watched kernel tells of its barriers: who waits, who left, and where lanes parted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...ir.cfg import Cfg, Loop
from ...ir.nodes import Block, Instruction
from ...ir.operations.marks import ACCESS_KIND
from ...ir.operations.synchronisation import SIMDGROUP_BARRIER, THREADGROUP_BARRIER
from ..access import Access

if TYPE_CHECKING:
    from ..vectorise import Vectoriser


class WatchedBarriers(Access):
    """Emits the calls that report barriers, and lanes that leave."""

    def __init__(self, vectoriser: Vectoriser) -> None:
        super().__init__(vectoriser)
        self.site = vectoriser.watch_sites.number
        instructions = vectoriser.function.instructions()
        operations = {each.operation for each in instructions}
        self.has_kinds = ACCESS_KIND in operations
        # Those of a threadgroup are no instructions any more: blocks end at them.
        self._has_barriers = bool(vectoriser.barriers) or bool(
            operations & {THREADGROUP_BARRIER, SIMDGROUP_BARRIER}
        )

    def wait(self, barrier: Instruction, block: Block) -> None:
        """Report that the current lanes wait at a barrier."""
        self.text.call(
            "void",
            "assay_watch_wait",
            ("ptr", "%ctx"),
            ("i32", str(self.site(barrier))),
            ("i32", self._flags(barrier)),
            ("i32", self.text.mask_bits(self.v.mask)),
            ("i32", self.text.mask_bits(self.v.full_mask)),
            ("i32", str(self.parting(block))),
        )

    def _flags(self, barrier: Instruction) -> str:
        """The mem_flags of a barrier; nothing is ordered by those that differ between lanes."""
        flags = barrier.operands[0]
        return "0" if self.v.varying(flags) else self.v.scalar(flags)

    def simdgroup_wait(self, barrier: Instruction) -> None:
        """Report that the current lanes are at a barrier of their simdgroup."""
        if "lanes" in self.v.observers:
            self.text.call(
                "void", "assay_watch_lane_barrier", ("ptr", "%ctx"), ("i32", self._flags(barrier))
            )
        if self.has_kinds:
            flags = self._flags(barrier)
            self.text.call("void", "assay_watch_settle", ("ptr", "%ctx"), ("i32", flags))
        if self.v.mask == self.v.full_mask:
            return
        self.text.call(
            "void",
            "assay_watch_simdgroup_wait",
            ("ptr", "%ctx"),
            ("i32", str(self.site(barrier))),
            ("i32", self.text.mask_bits(self.v.mask)),
            ("i32", self.text.mask_bits(self.v.full_mask)),
            ("i32", str(self.parting(self.v.block))),
        )

    def parting(self, block: Block) -> int:
        """The site of the branch that may have kept others from a block; 0 if none can.

        That is the innermost one at which lanes part, be it around the block or out of a loop.
        """
        cfg = self.v.cfg
        loops = list(cfg.loops_of(block))
        around = [each for each in _above(cfg, block) if not _always_after(cfg, block, each)]
        for above in around:
            while loops and above not in loops[0].blocks:
                if loops[0].divergent_exit:
                    return self.site(self._exit(loops[0]))
                del loops[0]
            if self._parts_lanes(above):
                return self.site(above)
        for loop in loops:
            if loop.divergent_exit:
                return self.site(self._exit(loop))
        if around:
            return self.site(around[0])
        inner = cfg.loops_of(block)
        return self.site(self._exit(inner[0])) if inner and inner[0].exits() else 0

    def _parts_lanes(self, block: Block) -> bool:
        return block.condition is not None and self.v.divergence.is_varying(block.condition)

    def _exit(self, loop: Loop) -> Block:
        """The first block that leads out of a loop, of those at which lanes part if there are."""
        leading = [
            block
            for block in self.v.cfg.order
            if block in loop.blocks and any(target not in loop.blocks for target in block.targets)
        ]
        return next((block for block in leading if self._parts_lanes(block)), leading[0])

    def leave(self, block: Block, mask: str) -> None:
        """Report that lanes go from a block to the kernel's end, if others may wait for them."""
        if not self._has_barriers:
            return
        self.text.call(
            "void",
            "assay_watch_leave",
            ("ptr", "%ctx"),
            ("i32", str(self.site(block))),
            ("i32", self.text.mask_bits(mask)),
        )


def _above(cfg: Cfg, block: Block) -> Iterator[Block]:
    """The blocks with several ways on that every way to a block leads through, innermost first."""
    above = cfg.dominator.get(block)
    while above is not None:
        if len(above.targets) > 1:
            yield above
        above = cfg.dominator.get(above)


def _always_after(cfg: Cfg, block: Block, above: Block) -> bool:
    """Whether everyone who is at `above` comes to `block`."""
    following = cfg.postdominator.get(above)
    while following is not None and following is not block:
        following = cfg.postdominator.get(following)
    return following is block
