"""Loads of 32 lanes: one scalar, plain vector loads where the offsets allow, or a gather."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..analysis.linear_form import Form, Pattern
from ..analysis.windows import Group, plan
from ..ir import context as c
from ..ir.llvm_types import Scalar, mangled, size_of
from ..ir.nodes import AddressRoot, Block, BufferRoot, Instruction, ShadowRoot, Value
from ..ir.shape import LANES
from .access import Access, Memory
from .ahead import Steps
from .matrices.halves import fit_in_chunks, in_chunks, load_in_order
from .matrices.waiting import Waiting, rows_at
from .text import shuffle_mask, vector_of

if TYPE_CHECKING:
    from .vectorise import Vectoriser

_LINE = 64  # bytes of the host's cache lines
_AHEAD = 1024  # bytes; tried from 512 to 2048 on a Xeon


class Loads(Access):
    """Emits loads from memory that lanes share."""

    def __init__(self, vectoriser: Vectoriser) -> None:
        super().__init__(vectoriser)
        self._steps: dict[Block, Steps] = {}  # by the header of the loop

    def load(self, instruction: Instruction) -> list[str]:
        """Emit a load; returns its components, vectors if the load varies and scalars if not.

        There are none yet if it waits for products.
        """
        offset = instruction.operands[0]
        if self.v.has_varying_address(instruction):
            return self._slow_only(instruction)
        memory = self.memory(instruction)
        if not self.v.varying(instruction):
            return self._load_uniform(instruction, memory)
        form = self.v.form(offset)
        size = size_of(Scalar(instruction.element))
        groups = plan(form, size, instruction.components, writing=False) if form else None
        if form is not None and groups is not None:
            return self._load_windows(instruction, memory, form, groups, size)
        return self._gather(instruction, memory, size)

    def _load_uniform(self, instruction: Instruction, memory: Memory) -> list[str]:
        text, element = self.text, instruction.element
        size = size_of(Scalar(element))
        offset = text.let(f"freeze i64 {self.v.scalar(instruction.operands[0])}")
        limit = self.limit(memory, size * instruction.components)
        inside = text.let(f"icmp ult i64 {offset}, {limit}")

        def fast() -> list[str]:
            parts = []
            for number in range(instruction.components):
                at = text.let(f"add i64 {offset}, {number * size}") if number else offset
                place = text.let(f"getelementptr i8, ptr {memory.host}, i64 {at}")
                parts.append(text.let(f"load {element}, ptr {place}, align 1"))
            return parts

        def slow() -> list[str]:
            if isinstance(instruction.root, ShadowRoot):
                return ["0"] * instruction.components
            lane = text.let(f"shl i32 1, {self.first_lane()}")
            address = text.let(f"add i64 {memory.address}, {offset}")
            self.put_addresses(self.text.splat("i64", address))
            self.call_slow("load", instruction, lane, size, memory)
            first = text.call("i32", "llvm.cttz.i32", ("i32", lane), ("i1", "false"))
            wide = text.let(f"zext i32 {first} to i64")
            parts = []
            for number in range(instruction.components):
                cell = text.let(f"add i64 {wide}, {number * LANES}")
                place = self.exchange(c.SCRATCH_VALUES)
                place = text.let(f"getelementptr {element}, ptr {place}, i64 {cell}")
                parts.append(text.let(f"load {element}, ptr {place}, align 1"))
            return parts

        return self.either(inside, fast, slow, [element] * instruction.components)

    def _load_windows(
        self,
        instruction: Instruction,
        memory: Memory,
        form: Form,
        groups: list[Group],
        size: int,
    ) -> list[str]:
        text, element = self.text, instruction.element
        if self.is_brief(instruction):
            return self.slow_load(instruction, memory, size)
        offsets, inside = self.window_offsets(form, groups, memory, size)
        longest = max(group.elements for group in groups)
        common = 1 << (longest - 1).bit_length() if len(groups) > 1 else longest
        places = [
            _lane_sources(text.lanes, groups, common, number)
            for number in range(instruction.components)
        ]

        def windows() -> list[str]:
            found = []
            for group, offset in zip(groups, offsets, strict=True):
                self._fetch_ahead(instruction, memory, form.base, offset, group.elements * size)
                found.append(self._window(element, memory.host, offset, group.elements, common))
            return found

        def fast() -> list[str]:
            whole, length = text.concatenate(element, windows(), common)
            return [text.shuffle(element, whole, length, lanes) for lanes in places]

        def slow() -> list[str]:
            return self.slow_load(instruction, memory, size)

        kinds = [self.text.wide(element)] * instruction.components
        if instruction in self.v.may_wait:
            rows = rows_at(text, instruction, form.base, groups, offsets, common, places)
            if rows:
                # Lanes that are not all inside have their faults reported here.
                found = self.either(inside, lambda: ["poison"] * len(kinds), slow, kinds)
                self.v.waiting[instruction] = Waiting(
                    access=self,
                    load=instruction,
                    host=memory.host,
                    rows=rows,
                    inside=inside,
                    lanes=lambda: self.either(inside, fast, lambda: found, kinds),
                )
                return []
        if instruction in self.v.for_products and fit_in_chunks(common, places):
            return load_in_order(
                self, instruction, inside, lambda: in_chunks(text, windows(), common), slow, places
            )
        return self.either(inside, fast, slow, kinds)

    def _fetch_ahead(
        self, instruction: Instruction, memory: Memory, base: Value, offset: str, bytes_: int
    ) -> None:
        """Ask for what a simdgroup soon after this one is likely to read, or this one next turn.

        Only where every thread reads a buffer once, as the host's own prefetching ends with each
        page; or in a loop with barriers, whose turns copy tiles from rows that lie apart.
        """
        if bytes_ % _LINE:
            return
        if self.v.cfg.innermost[self.v.block] is None:
            if isinstance(instruction.root, BufferRoot):
                self._fetch(memory.host, offset, str(_AHEAD), bytes_)
            return
        step = self._step(base) if isinstance(instruction.root, BufferRoot | AddressRoot) else None
        if step is not None:
            self._fetch(memory.host, offset, step, bytes_)

    def _fetch(self, host: str, offset: str, step: str, bytes_: int) -> None:
        text = self.text
        ahead = text.let(f"add i64 {offset}, {step}")
        for line in range(0, bytes_, _LINE):
            at = text.let(f"add i64 {ahead}, {line}") if line else ahead
            place = text.let(f"getelementptr i8, ptr {host}, i64 {at}")
            hints = (("i32", "0"), ("i32", "3"), ("i32", "1"))  # to read, into all caches, data
            text.call("void", "llvm.prefetch.p0", ("ptr", place), *hints)

    def _step(self, offset: Value) -> str | None:
        """How much further the next turn of the loop with barriers reads; None if unknown or 0."""
        if self.v.observers or self.v.tapes:  # whose time goes elsewhere
            return None
        loops = self.v.cfg.loops_of(self.v.block)
        loop = next((each for each in loops if not each.blocks.isdisjoint(self.v.barriers)), None)
        if loop is None:
            return None
        terms = self._steps.setdefault(loop.header, Steps(loop, self.v.cfg)).of(offset)
        if not terms or any(self.v.varying(value) for product in terms for value in product):
            return None
        text, step = self.text, "0"
        for product, count in terms.items():
            part = str(count)
            for value in product:
                wide = self.v.scalar(value)
                if value.type != "i64":
                    wide = text.let(f"zext {value.type} {wide} to i64")
                part = text.let(f"mul i64 {wide}, {part}")
            step = part if step == "0" else text.let(f"add i64 {step}, {part}")
        return step

    def _window(self, element: str, host: str, offset: str, count: int, common: int) -> str:
        text = self.text
        place = text.let(f"getelementptr i8, ptr {host}, i64 {offset}")
        if count == 1:
            one = text.let(f"load {element}, ptr {place}, align 1")
            return text.let(
                f"insertelement {vector_of(element, common)} poison, {element} {one}, i64 0"
            )
        window = text.let(f"load {vector_of(element, count)}, ptr {place}, align 1")
        if count == common:
            return window
        lanes = [*range(count), *([-1] * (common - count))]
        kind = vector_of(element, count)
        return text.let(f"shufflevector {kind} {window}, {kind} poison, {shuffle_mask(lanes)}")

    def _gather(self, instruction: Instruction, memory: Memory, size: int) -> list[str]:
        text, element = self.text, instruction.element
        if self.is_brief(instruction):
            return self.slow_load(instruction, memory, size)
        offsets = self.frozen_offsets(instruction)
        active, good = self.inside(offsets, memory, size * instruction.components)

        def fast() -> list[str]:
            # Lanes that do not take part read the root's start, which is there if any lane's is.
            kind = self.text.wide("i64")
            safe = text.let(
                f"select {self.text.wide('i1')} {active}, {kind} {offsets}, {kind} zeroinitializer"
            )
            return self._gather_all(element, memory.host, safe, instruction.components)

        kinds = [self.text.wide(element)] * instruction.components
        return self.either(good, fast, lambda: self.slow_load(instruction, memory, size), kinds)

    def _gather_all(self, element: str, host: str, offsets: str, components: int) -> list[str]:
        """The components of each lane, as few gathers as there are words of 8, 4 or 2 bytes."""
        size = size_of(Scalar(element))
        word = next((each for each in (8, 4, 2) if size * components % each == 0), size)
        if word <= size:
            return [
                self._gather_one(element, host, offsets, number * size)
                for number in range(components)
            ]
        text, kind, narrow = self.text, f"i{8 * word}", f"i{8 * size}"
        found = []
        for start in range(0, size * components, word):
            whole = self._gather_one(kind, host, offsets, start)
            for shift in range(0, 8 * word, 8 * size):
                moved = whole
                if shift:
                    moved = text.let(f"lshr {text.wide(kind)} {whole}, splat ({kind} {shift})")
                part = text.let(f"trunc {text.wide(kind)} {moved} to {text.wide(narrow)}")
                if element != narrow:
                    part = text.let(f"bitcast {text.wide(narrow)} {part} to {text.wide(element)}")
                found.append(part)
        return found

    def _gather_one(self, element: str, host: str, offsets: str, extra: int) -> str:
        text = self.text
        start = text.let(f"getelementptr i8, ptr {host}, i64 {extra}") if extra else host
        pointers = self.lane_pointers(start, offsets)
        return text.call(
            self.text.wide(element),
            f"llvm.masked.gather.v{self.text.lanes}{mangled(element)}.v{self.text.lanes}p0",
            (self.text.wide("ptr"), pointers),
            (self.text.wide("i1"), "splat (i1 true)"),
            (self.text.wide(element), "poison"),
        )

    def _slow_only(self, instruction: Instruction) -> list[str]:
        memory = self.put_varying_addresses(instruction)
        size = size_of(Scalar(instruction.element))
        self.call_slow("load", instruction, self.text.mask_bits(self.v.mask), size, memory)
        return self.take_values(instruction.element, instruction.components)


def _lane_sources(lanes: int, groups: list[Group], stride: int, component: int) -> Pattern:
    """Where each lane's component is in the concatenated windows."""
    sources = [0] * lanes
    for number, group in enumerate(groups):
        for lane, at in zip(group.lanes, group.at, strict=True):
            sources[lane] = number * stride + at + component
    return tuple(sources)
