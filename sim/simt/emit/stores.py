"""Stores of 32 lanes: one scalar, plain vector stores where the offsets allow, or a scatter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..analysis.linear_form import Form
from ..analysis.windows import Group, plan
from ..ir import context as c
from ..ir.llvm_types import Scalar, mangled, size_of
from ..ir.nodes import BufferRoot, Instruction
from ..ir.operations.memory import LOAD
from ..ir.shape import LANES
from .access import Access, Memory
from .text import vector_of
from .values import ALL

if TYPE_CHECKING:
    from .vectorise import Vectoriser


# A store that writes more than this in a dispatch, about what a last-level cache holds, would
# read every line before it is overwritten, and push other data out of the caches.
_STREAMING_BYTES = 1 << 25
_LINE = 64  # alignment that streaming stores of whole vectors need


class Stores(Access):
    """Emits stores to memory that lanes share."""

    def __init__(self, vectoriser: Vectoriser) -> None:
        super().__init__(vectoriser)
        self.streams = False

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
        lane = text.let(f"urem i32 {lane}, {text.lanes}")
        return text.let(f"extractelement {self.text.wide(element)} {vector}, i32 {lane}")

    def _store_windows(
        self,
        instruction: Instruction,
        memory: Memory,
        form: Form,
        groups: list[Group],
        size: int,
    ) -> None:
        text, element = self.text, instruction.element
        if self.is_brief(instruction):
            self.slow_store(instruction, memory, size)
            return
        offsets, inside = self.window_offsets(form, groups, memory, size)

        def fast() -> None:
            values = [self.v.vector(value) for value in instruction.operands[1:]]
            whole, length = text.concatenate(element, values, text.lanes)
            for group, offset in zip(groups, offsets, strict=True):
                owners = _window_owners(group, instruction.components)
                window = text.shuffle(
                    element, whole, length, [number * text.lanes + lane for lane, number in owners]
                )
                place = text.let(f"getelementptr i8, ptr {memory.host}, i64 {offset}")
                if self._is_streamable(instruction, len(owners) * size):
                    self._stream_window(instruction, element, window, place, len(owners) * size)
                else:
                    self._put_window(element, window, place, [lane for lane, _ in owners])

        self.when(inside, fast, lambda: self.slow_store(instruction, memory, size))

    def _is_streamable(self, instruction: Instruction, bytes_: int) -> bool:
        """Whether every thread writes once, whole lines, and nothing reads what it writes."""
        return (
            self.v.mask == ALL
            and bytes_ % _LINE == 0
            and self.v.cfg.innermost[self.v.block] is None
            and isinstance(instruction.root, BufferRoot)
            and not any(
                other.operation is LOAD and other.root == instruction.root
                for other in self.v.function.instructions()
            )
        )

    def _stream_window(
        self, instruction: Instruction, element: str, window: str, place: str, bytes_: int
    ) -> None:
        """Past the caches if the dispatch writes much here."""
        text = self.text
        self.streams = True
        kind = vector_of(element, bytes_ // size_of(Scalar(element)))
        per_thread = bytes_ // LANES
        threads = self.v.field("i64", c.GRID_THREADS)
        much = text.let(f"icmp ugt i64 {threads}, {_STREAMING_BYTES // max(per_thread, 1)}")
        number = text.let(f"ptrtoint ptr {place} to i64")
        rest = text.let(f"and i64 {number}, {_LINE - 1}")
        aligned = text.let(f"icmp eq i64 {rest}, 0")
        both = text.let(f"and i1 {much}, {aligned}")

        def past() -> None:
            text.do(f"store {kind} {window}, ptr {place}, align {_LINE}, !nontemporal !2")

        def plain() -> None:
            text.do(f"store {kind} {window}, ptr {place}, align 1")

        self.when(both, past, plain)

    def _put_window(self, element: str, window: str, place: str, owners: list[int]) -> None:
        text = self.text
        kind = vector_of(element, len(owners))
        if self.v.mask == ALL:
            text.do(f"store {kind} {window}, ptr {place}, align 1")
            return
        mask = text.shuffle("i1", self.v.mask, text.lanes, owners)
        text.call(
            "void",
            f"llvm.masked.store.v{len(owners)}{mangled(element)}.p0",
            (kind, window),
            ("ptr", place),
            (vector_of("i1", len(owners)), mask),
        )

    def _scatter(self, instruction: Instruction, memory: Memory, size: int) -> None:
        text, element = self.text, instruction.element
        if self.is_brief(instruction):
            self.slow_store(instruction, memory, size)
            return
        offsets = self.frozen_offsets(instruction)
        active, good = self.inside(offsets, memory, size * instruction.components)

        def fast() -> None:
            for number, value in enumerate(instruction.operands[1:]):
                start = memory.host
                if number:
                    start = text.let(f"getelementptr i8, ptr {memory.host}, i64 {number * size}")
                text.call(
                    "void",
                    f"llvm.masked.scatter.v{self.text.lanes}{mangled(element)}.v{self.text.lanes}p0",
                    (self.text.wide(element), self.v.vector(value)),
                    (self.text.wide("ptr"), self.lane_pointers(start, offsets)),
                    (self.text.wide("i1"), active),
                )

        self.when(good, fast, lambda: self.slow_store(instruction, memory, size))


def _window_owners(group: Group, components: int) -> list[tuple[int, int]]:
    """(lane, component) of each element of a window that is written."""
    owners = [(0, 0)] * group.elements
    for lane, at in zip(group.lanes, group.at, strict=True):
        for number in range(components):
            owners[at + number] = (lane, number)
    return owners
