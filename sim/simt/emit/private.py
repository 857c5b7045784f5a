"""Private arrays: in memory, rows of 4 bytes of every lane, so that equal offsets lie together."""

from __future__ import annotations

from ..ir import context as c
from ..ir.llvm_types import Scalar, size_of
from ..ir.nodes import Instruction
from ..ir.shape import LANES
from .access import Access
from .text import literal


class PrivateMemory(Access):
    """Emits loads and stores of private arrays that are not registers.

    `at` is a scalar offset, or a vector of them if `active` is given: the lanes that may access.
    """

    def load(self, instruction: Instruction) -> list[str]:
        """Emit a load; returns its components as vectors."""
        element = instruction.element
        size = size_of(Scalar(element))
        memory = self.memory(instruction)
        if instruction.align < min(size, c.PRIVATE_GRANULE):
            return self.slow_load(instruction, memory, size)
        at, active, good = self._private_rows(instruction, size)

        def fast() -> list[str]:
            return [
                self._private_element(memory.host, at, active, element, number * size)
                for number in range(instruction.components)
            ]

        kinds = [self.text.wide(element)] * instruction.components
        return self.either(good, fast, lambda: self.slow_load(instruction, memory, size), kinds)

    def store(self, instruction: Instruction) -> None:
        """Emit a store."""
        element = instruction.element
        size = size_of(Scalar(element))
        memory = self.memory(instruction)
        if instruction.align < min(size, c.PRIVATE_GRANULE):
            self.slow_store(instruction, memory, size)
            return
        at, active, good = self._private_rows(instruction, size)

        def fast() -> None:
            for number, value in enumerate(instruction.operands[1:]):
                vector = self.v.vector(value)
                self._put_private(memory.host, at, active, element, number * size, vector)

        self.when(good, fast, lambda: self.slow_store(instruction, memory, size))

    def _private_rows(self, instruction: Instruction, size: int) -> tuple[str, str | None, str]:
        """(scalar offset or vector of offsets, active lanes if vector, whether all are inside)."""
        text = self.text
        memory = self.memory(instruction)
        total = size * instruction.components
        offset = instruction.operands[0]
        if not self.v.varying(offset):
            at = text.let(f"freeze i64 {self.v.scalar(offset)}")
            limit = self.limit(memory, total)
            return at, None, text.let(f"icmp ult i64 {at}, {limit}")
        offsets = self.frozen_offsets(instruction)
        active, good = self.inside(offsets, memory, total)
        return offsets, active, good

    def _private_element(
        self, host: str, at: str, active: str | None, element: str, extra: int
    ) -> str:
        size = size_of(Scalar(element))
        text = self.text
        if size == 8:
            low, high = (
                self._row(host, at, active, extra + step) for step in (0, c.PRIVATE_GRANULE)
            )
            wide = self.text.wide("i64")
            low = text.let(f"zext {self.text.wide('i32')} {low} to {wide}")
            high = text.let(f"zext {self.text.wide('i32')} {high} to {wide}")
            high = text.let(f"shl {wide} {high}, splat (i64 32)")
            return self._as("i64", element, text.let(f"or {wide} {low}, {high}"))
        row = self._row(host, at, active, extra)
        if size == 4:
            return self._as("i32", element, row)
        shift = self._shift_in_row(at, active, extra)
        row = text.let(f"lshr {self.text.wide('i32')} {row}, {shift}")
        narrow = f"i{8 * size}"
        row = text.let(f"trunc {self.text.wide('i32')} {row} to {self.text.wide(narrow)}")
        return self._as(narrow, element, row)

    def _put_private(
        self, host: str, at: str, active: str | None, element: str, extra: int, value: str
    ) -> None:
        text = self.text
        size = size_of(Scalar(element))
        raw = self._as(element, f"i{8 * size}", value)
        if size == 8:
            kind, half = self.text.wide("i64"), self.text.wide("i32")
            low = text.let(f"trunc {kind} {raw} to {half}")
            high = text.let(f"lshr {kind} {raw}, splat (i64 32)")
            high = text.let(f"trunc {kind} {high} to {half}")
            self._put_row(host, at, active, extra, low)
            self._put_row(host, at, active, extra + c.PRIVATE_GRANULE, high)
            return
        if size < 4:
            kind = self.text.wide("i32")
            shift = self._shift_in_row(at, active, extra)
            wide = text.let(f"zext {self.text.wide(f'i{8 * size}')} {raw} to {kind}")
            moved = text.let(f"shl {kind} {wide}, {shift}")
            hole = text.let(f"shl {kind} splat (i32 {(1 << 8 * size) - 1}), {shift}")
            keep = text.let(f"xor {kind} {hole}, splat (i32 -1)")
            old = self._row(host, at, active, extra)
            old = text.let(f"and {kind} {old}, {keep}")
            raw = text.let(f"or {kind} {old}, {moved}")
        self._put_row(host, at, active, extra, raw)

    def _as(self, source: str, target: str, vector: str) -> str:
        if source == target:
            return vector
        return self.text.let(
            f"bitcast {self.text.wide(source)} {vector} to {self.text.wide(target)}"
        )

    def _shift_in_row(self, at: str, active: str | None, extra: int) -> str:
        """By how many bits an element is up in its granule, for every lane."""
        text = self.text
        kind = "i64" if active is None else self.text.wide("i64")
        extra_, low_bits, to_bits = (
            str(n) if active is None else f"splat (i64 {n})"
            for n in (extra, c.PRIVATE_GRANULE - 1, 3)
        )
        place = text.let(f"add {kind} {at}, {extra_}")
        place = text.let(f"and {kind} {place}, {low_bits}")
        place = text.let(f"shl {kind} {place}, {to_bits}")
        if active is None:
            return text.splat("i32", text.let(f"trunc i64 {place} to i32"))
        return text.let(f"trunc {kind} {place} to {self.text.wide('i32')}")

    def _row_place(self, host: str, at: str, extra: int) -> str:
        text = self.text
        moved = text.let(f"add i64 {at}, {extra}") if extra else at
        row = text.let(f"lshr i64 {moved}, 2")
        place = text.let(f"mul i64 {row}, {c.PRIVATE_GRANULE * LANES}")
        return text.let(f"getelementptr i8, ptr {host}, i64 {place}")

    def _row_pointers(self, host: str, at: str, active: str, extra: int) -> str:
        text, kind = self.text, self.text.wide("i64")
        safe = text.let(
            f"select {self.text.wide('i1')} {active}, {kind} {at}, {kind} zeroinitializer"
        )
        moved = text.let(f"add {kind} {safe}, splat (i64 {extra})")
        row = text.let(f"lshr {kind} {moved}, splat (i64 2)")
        place = text.let(f"mul {kind} {row}, splat (i64 {c.PRIVATE_GRANULE * LANES})")
        columns = literal("i64", [lane * c.PRIVATE_GRANULE for lane in range(text.lanes)])
        place = text.let(f"add {kind} {place}, {columns}")
        return self.lane_pointers(host, place)

    def _row(self, host: str, at: str, active: str | None, extra: int) -> str:
        text = self.text
        if active is None:
            place = self._row_place(host, at, extra)
            return text.let(f"load {self.text.wide('i32')}, ptr {place}, align 4")
        return text.call(
            self.text.wide("i32"),
            f"llvm.masked.gather.v{self.text.lanes}i32.v{self.text.lanes}p0",
            (self.text.wide("ptr"), self._row_pointers(host, at, active, extra)),
            (self.text.wide("i1"), "splat (i1 true)"),
            (self.text.wide("i32"), "poison"),
        )

    def _put_row(self, host: str, at: str, active: str | None, extra: int, row: str) -> None:
        text, kind = self.text, self.text.wide("i32")
        if active is not None:
            text.call(
                "void",
                f"llvm.masked.scatter.v{self.text.lanes}i32.v{self.text.lanes}p0",
                (kind, row),
                (self.text.wide("ptr"), self._row_pointers(host, at, active, extra)),
                (self.text.wide("i1"), active),
            )
            return
        place = self._row_place(host, at, extra)
        if self.v.mask != "splat (i1 true)":
            old = text.let(f"load {kind}, ptr {place}, align 4")
            row = text.let(
                f"select {self.text.wide('i1')} {self.v.mask}, {kind} {row}, {kind} {old}"
            )
        text.do(f"store {kind} {row}, ptr {place}, align 4")
