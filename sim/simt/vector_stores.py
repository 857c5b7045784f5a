"""Stores of 32 lanes: one scalar, plain vector stores where the offsets allow, or a scatter."""

from __future__ import annotations

from .ir import Instruction
from .linear import Form
from .llvm_types import Scalar, size_of
from .shape import LANES
from .vector_access import Access, Memory
from .vector_text import mangled, vector_of
from .windows import Group, plan


class Stores(Access):
    """Emits stores to memory that lanes share."""

    def store(self, instruction: Instruction) -> None:
        """Emit a store."""
        offset = instruction.operands[0]
        size = size_of(Scalar(instruction.element))
        if self.v.has_varying_address(instruction):
            memory = self.put_varying_addresses(instruction)
            self.give_values(instruction, size)
            self.call_slow("store", instruction, self.text.mask_bits(self.v.mask), size, memory)
            return
        memory = self.memory(instruction)
        if not self.v.varying(offset):
            self._store_uniform(instruction, memory, size)
            return
        form = self.v.form(offset)
        groups = plan(form, size, instruction.components, writing=True) if form else None
        if form is not None and groups is not None:
            self._store_windows(instruction, memory, form, groups, size)
        else:
            self._scatter(instruction, memory, size)

    def _store_uniform(self, instruction: Instruction, memory: Memory, size: int) -> None:
        """All lanes write one place: the last active lane's value stays."""
        text, element = self.text, instruction.element
        offset = text.let(f"freeze i64 {self.v.scalar(instruction.operands[0])}")
        limit = self.limit(memory, size * instruction.components)
        inside = text.let(f"icmp ult i64 {offset}, {limit}")

        def fast() -> None:
            for number, value in enumerate(instruction.operands[1:]):
                if self.v.varying(value):
                    scalar = self._last_lane(self.v.vector(value), element)
                else:
                    scalar = self.v.scalar(value)
                at = text.let(f"add i64 {offset}, {number * size}") if number else offset
                place = text.let(f"getelementptr i8, ptr {memory.host}, i64 {at}")
                text.do(f"store {element} {scalar}, ptr {place}, align 1")

        self.when(inside, fast, lambda: self.slow_store(instruction, memory, size))

    def _last_lane(self, vector: str, element: str) -> str:
        text = self.text
        mask = text.mask_bits(self.v.mask)
        zeros = text.call("i32", "llvm.ctlz.i32", ("i32", mask), ("i1", "false"))
        lane = text.let(f"sub i32 {LANES - 1}, {zeros}")
        lane = text.let(f"and i32 {lane}, {LANES - 1}")
        return text.let(f"extractelement {vector_of(element)} {vector}, i32 {lane}")

    def _store_windows(
        self,
        instruction: Instruction,
        memory: Memory,
        form: Form,
        groups: list[Group],
        size: int,
    ) -> None:
        text, element = self.text, instruction.element
        offsets, inside = self.window_offsets(form, groups, memory, size)

        def fast() -> None:
            values = [self.v.vector(value) for value in instruction.operands[1:]]
            whole, length = text.concatenate(element, values, LANES)
            for group, offset in zip(groups, offsets, strict=True):
                owners = _window_owners(group, instruction.components)
                window = text.shuffle(
                    element, whole, length, [number * LANES + lane for lane, number in owners]
                )
                place = text.let(f"getelementptr i8, ptr {memory.host}, i64 {offset}")
                self._put_window(element, window, place, [lane for lane, _ in owners])

        self.when(inside, fast, lambda: self.slow_store(instruction, memory, size))

    def _put_window(self, element: str, window: str, place: str, owners: list[int]) -> None:
        text = self.text
        kind = vector_of(element, len(owners))
        if self.v.mask == "splat (i1 true)":
            text.do(f"store {kind} {window}, ptr {place}, align 1")
            return
        mask = text.shuffle("i1", self.v.mask, LANES, owners)
        text.call(
            "void",
            f"llvm.masked.store.v{len(owners)}{mangled(element)}.p0",
            (kind, window),
            ("ptr", place),
            (vector_of("i1", len(owners)), mask),
        )

    def _scatter(self, instruction: Instruction, memory: Memory, size: int) -> None:
        text, element = self.text, instruction.element
        offsets = self.frozen_offsets(instruction)
        active, good = self.inside(offsets, memory, size * instruction.components)

        def fast() -> None:
            for number, value in enumerate(instruction.operands[1:]):
                start = memory.host
                if number:
                    start = text.let(f"getelementptr i8, ptr {memory.host}, i64 {number * size}")
                text.call(
                    "void",
                    f"llvm.masked.scatter.v{LANES}{mangled(element)}.v{LANES}p0",
                    (vector_of(element), self.v.vector(value)),
                    (vector_of("ptr"), self.lane_pointers(start, offsets)),
                    (vector_of("i1"), active),
                )

        self.when(good, fast, lambda: self.slow_store(instruction, memory, size))


def _window_owners(group: Group, components: int) -> list[tuple[int, int]]:
    """(lane, component) of each element of a window that is written."""
    owners = [(0, 0)] * group.elements
    for lane, at in zip(group.lanes, group.at, strict=True):
        for number in range(components):
            owners[at + number] = (lane, number)
    return owners
