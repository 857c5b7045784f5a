"""Barriers: a simdgroup saves what it will need, returns, and later goes on behind them."""

from __future__ import annotations

from ...ir.nodes import Block, Constant, Instruction, Value
from ...ir.operations.integers import ICMP
from ..arithmetic import Arithmetic
from ..branches import Branches
from ..positions import POSITIONS
from ..slots import Slot
from .again import is_soon_computed


class Resuming(Branches):
    """Emits the barriers at which blocks end."""

    arithmetic: Arithmetic
    barrier_lines: dict[Block, int]  # of the code, where each barrier saves

    def emit_barrier(self, block: Block) -> None:
        """Return at the barrier; what is saved before is inserted by `save_and_resume`."""
        (following,) = block.targets
        if self.observers:
            self.watch.wait(self.barrier_calls[block], block)
        self.leave(block, following, self.mask)
        self.barrier_lines[block] = len(self.text.lines)
        self.text.do(f"store i32 {self.barriers[block]}, ptr %state")
        self.text.do("ret i32 1")

    def save_and_resume(self) -> list[str]:
        """Fill in what each barrier saves; returns the resuming blocks."""
        # Also where all lanes meet, so that nobody asks who waits: values may be there already.
        sent = self.find_sent(set(self.cfg.order)) if self.barriers else {}
        live_in = self.slots.live_at_start(self.cfg.order, self._successors)
        resumes = []
        for block, number in self.barriers.items():
            (following,) = block.targets
            saves, loads = [], []
            needed = {following, *sent[block]}
            for slot in self._saved(needed, live_in[following]):
                if slot.saved_at < 0:
                    slot.saved_at = self.slots.room_in_state(slot.type)
                name = f"%save{number}.{slot.place[1:]}"
                at = f"getelementptr i8, ptr %state, i64 {slot.saved_at}"
                saves += [
                    f"  {name} = load {slot.type}, ptr {slot.place}",
                    f"  {name}.p = {at}",
                    f"  store {slot.type} {name}, ptr {name}.p, align 4",
                ]
                loads += [
                    f"  {name}.q = {at}",
                    f"  {name}.r = load {slot.type}, ptr {name}.q, align 4",
                    f"  store {slot.type} {name}.r, ptr {slot.place}",
                ]
            line = self.barrier_lines[block]
            self.insertions.setdefault(line, []).extend(saves)
            go = f"  br label %b{self.cfg.index[following]}"
            resumes += [f"resume{number}:", *loads, go]
        return resumes

    def _load(self, value: Value) -> str:
        if isinstance(value, Instruction) and value.block is not self.block:
            again = self._again(value)
            if again is not None:
                return again
        return super()._load(value)

    def _is_behind_barriers(self) -> bool:
        """Whether barriers may lie before the current block, each time that it runs."""
        loop = self.cfg.innermost[self.block]
        return bool(self.barriers) and (loop is None or not loop.blocks.isdisjoint(self.barriers))

    def _compares_line(self, value: Instruction) -> bool:
        """Whether lanes compare a number each that follows from a uniform one."""
        return value.operation is ICMP and all(
            self.line(each) is not None for each in value.operands if not isinstance(each, Constant)
        )

    def _again(self, value: Instruction) -> str | None:
        """What is known at the start, or costs less to compute than to save; None of the rest."""
        varies = self.divergence.is_varying(value)
        if self.barriers and value.operation in POSITIONS and not varies:
            return POSITIONS[value.operation](self, value)
        if not self._is_behind_barriers() or not is_soon_computed(value):
            return None
        if varies and not self._compares_line(value):
            return None
        get = self.vector if varies else self.scalar
        operands = [get(each) for each in value.operands]
        return self.arithmetic.emit(value, operands, self.text.lanes if varies else 0)

    def _saved(self, needed: set[Block], live: set[str]) -> list[Slot]:
        """The slots that a barrier saves, of those that are alive behind it.

        Of blocks to which no lane has gone it is enough that masks and what phis take begin as 0.
        """
        found = []
        for kind, what, slot in self.slots.saved():
            at = what.block if kind == "incoming" and isinstance(what, Instruction) else what
            if slot.place in live and (kind not in ("mask", "incoming") or at in needed):
                found.append(slot)
        return found

    def _successors(self, block: Block) -> list[Block]:
        """Where the simdgroup can go next, which is more than where this block's lanes go."""
        return [*block.targets, *self.pending[block]]
