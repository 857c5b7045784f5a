"""Control flow of lanes: who goes where at the end of a block, and which block runs next."""

from __future__ import annotations

from collections.abc import Collection

from ..ir import context as c
from ..ir.nodes import Block, Value
from .fuel import cost_of_loop
from .slots import Slot
from .values import ALL, Values
from .watched.watch import Watch


class Branches(Values):
    """Emits the ends of blocks."""

    pending: dict[Block, list[Block]]
    watch: Watch

    def find_pending(self) -> dict[Block, list[Block]]:
        """For each block, the blocks at which lanes may be waiting while it runs."""
        return self.find_sent(self.divergence.partial)

    def find_sent(self, to: Collection[Block]) -> dict[Block, list[Block]]:
        """For each block, those of `to` to which lanes may have gone already while it runs."""
        order, index = self.cfg.order, self.cfg.index
        if not self.cfg.reducible:
            return dict.fromkeys(order, order[1:])
        found: dict[Block, set[Block]] = {block: set() for block in order}
        for block in order:
            if block not in self.divergence.partial and block not in self.divergence.divergent:
                continue
            for target in block.targets:
                if target not in to or index[target] <= index[block]:
                    continue
                for between in order[index[block] + 1 : index[target]]:
                    found[between].add(target)
                for loop in self.cfg.loops_of(block):
                    if target not in loop.blocks:
                        for inside in loop.blocks:
                            found[inside].add(target)
        return {b: sorted(sent, key=index.__getitem__) for b, sent in found.items()}

    def enter(self, block: Block) -> None:
        """Take the lanes that wait at a block."""
        if block not in self.divergence.partial:
            self.mask = self.full_mask
            return
        slot = self.slots.get("mask", block, self.text.mask)
        self.mask = self.take(slot)
        self.text.do(f"store {self.text.mask} zeroinitializer, ptr {slot.place}")

    def emit_branch(self, block: Block) -> None:
        """Send the lanes of a block on."""
        if not block.targets:
            if self.observers:
                self.watch.leave(block, self.mask)
            self._go(block, [])
        elif len(block.targets) == 1:
            self.leave(block, block.targets[0], self.mask)
            self._go(block, block.targets)
        elif block in self.divergence.divergent:
            self._part(block)
        else:
            self._choose(block)

    def _choose(self, block: Block) -> None:
        """All lanes that are here go the same way."""
        text = self.text
        assert block.condition is not None
        labels = [text.new_label("edge") for _ in block.targets]
        condition = self.scalar(block.condition)
        text.do(f"br i1 {condition}, label %{labels[0]}, label %{labels[1]}")
        for label, target in zip(labels, block.targets, strict=True):
            text.place(label)
            with self.side_path():
                self.leave(block, target, self.mask)
                self._go(block, [target])

    def _part(self, block: Block) -> None:
        """Lanes may go different ways."""
        text = self.text
        assert block.condition is not None
        condition = self.vector(block.condition)
        taken = text.let(f"and {self.text.mask} {self.mask}, {condition}")
        rest = text.let(f"xor {self.text.mask} {self.mask}, {taken}")
        for target, mask in zip(block.targets, (taken, rest), strict=True):
            self.leave(block, target, mask)
        self._go(block, block.targets)

    def leave(self, block: Block, target: Block, mask: str) -> None:
        """Carry values and the mask's lanes along an edge."""
        if self.cfg.index[target] <= self.cfg.index[block]:
            self._burn_fuel(target, mask)
        if self.observers and _ends(target):
            self.watch.leave(block, mask)
        self._pass_phis(block, target, mask)
        if target not in self.divergence.partial:
            return
        slot = self.slots.get("mask", target, self.text.mask)
        if len(target.predecessors) == 1 and self._same_loop(block, target):
            self.put(slot, mask)
        else:
            waiting = self.take(slot)
            self.put(slot, self.text.let(f"or {self.text.mask} {waiting}, {mask}"), whole=False)

    def _same_loop(self, block: Block, target: Block) -> bool:
        return self.cfg.reducible and self.cfg.innermost[block] is self.cfg.innermost[target]

    def _pass_phis(self, block: Block, target: Block, mask: str) -> None:
        place = target.predecessors.index(block)
        passed: list[tuple[Slot, str]] = []
        sums: list[tuple[Value, str]] = []
        for phi in target.phis:
            if self.has_exact_form(phi):
                continue
            vector = self.divergence.is_varying(phi)
            type = self.text.wide(phi.type) if vector else phi.type
            value = phi.operands[place]
            if self.sums.hold(phi):
                if not self.sums.are_one(phi, value):
                    sums.append((phi, self.vector(value)))
                continue
            name = self.vector(value) if vector else self.scalar(value)
            passed.append((self.slots.get("incoming", phi, type), name))
        self.sums.write(sums)
        blend = target in self.divergence.joins and mask != ALL
        for slot, name in passed:
            if blend and slot.type.startswith("<"):
                old = self.take(slot)
                name = self.text.let(
                    f"select {self.text.mask} {mask}, {slot.type} {name}, {slot.type} {old}"
                )
            self.put(slot, name, whole=not blend)

    def _burn_fuel(self, header: Block, mask: str) -> None:
        text = self.text
        loop = next((lp for lp in self.cfg.loops if lp.header is header), None)
        blocks = loop.blocks if loop is not None else {header}
        cost = cost_of_loop(
            blocks, self.barriers, self.shape.simdgroups, watched=bool(self.observers)
        )
        slot = self.slots.get("fuel", None, "i64")
        left = text.let(f"sub i64 {self.take(slot)}, {cost}")
        self.put(slot, left, whole=False)
        # Read anew each time, so that another thread can stop the loop; one instruction on x86.
        place = text.let(f"getelementptr i8, ptr %ctx, i64 {c.FLOOR}")
        floor = text.let(f"load volatile i64, ptr {place}, align 8")
        empty = text.let(f"icmp slt i64 {left}, {floor}")
        out, on = text.new_label("empty"), text.new_label("on")
        text.do(f"br i1 {empty}, label %{out}, label %{on}, !prof !1")
        text.place(out)
        bits = text.mask_bits(mask)
        text.call(
            "void",
            "assay_runaway",
            ("ptr", "%ctx"),
            ("i32", str(self.site(_first_line(header, blocks)))),
            ("i32", bits),
        )
        text.do("br label %stopped")
        text.place(on)

    def _go(self, block: Block, targets: list[Block]) -> None:
        """Jump to the first block at which lanes wait."""
        text, index = self.text, self.cfg.index
        sure = targets[0] if len(targets) == 1 else None
        candidates = sorted({*self.pending[block], *targets}, key=index.__getitem__)
        for candidate in candidates:
            if candidate is sure or candidate not in self.divergence.partial:
                text.do(f"br label %b{index[candidate]}")
                return
            if candidate is candidates[-1] and targets:
                text.do(f"br label %b{index[candidate]}")  # somebody must be somewhere
                return
            waiting = text.any(self.take(self.slots.get("mask", candidate, self.text.mask)))
            following = text.new_label("next")
            text.do(f"br i1 {waiting}, label %b{index[candidate]}, label %{following}")
            text.place(following)
        self._end()

    def _end(self) -> None:
        self.text.do("ret i32 0")


def _ends(block: Block) -> bool:
    """Whether a block does nothing but end the kernel."""
    return not block.targets and not block.body


def _first_line(header: Block, blocks: Collection[Block]) -> Block:
    """Of the blocks that begin or leave a loop, that which is first in the source.

    Where the optimiser asks a loop's condition at its end, its first block is one of the body.
    """
    leaving = [block for block in blocks if any(each not in blocks for each in block.targets)]
    same = [block for block in leaving if block.site.line and block.site.scope == header.site.scope]
    return min([header, *same], key=lambda block: (block.site.line, block.site.column))
