"""Accesses of consecutive bytes, which one call checks, and reads that are checked together."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ....check import layout
from ...analysis.linear_form import Form
from ...ir.llvm_types import Scalar, size_of
from ...ir.nodes import Block, Instruction, Value
from ..access import Memory
from ..values import ALL
from .barriers import WatchedBarriers
from .together import Together, reads_together

if TYPE_CHECKING:
    from ..vectorise import Vectoriser


class WatchedRanges(WatchedBarriers):
    """Emits calls that check many bytes, or leave it to the lanes one by one."""

    def __init__(self, vectoriser: Vectoriser) -> None:
        super().__init__(vectoriser)
        self._together: dict[Instruction, Together] = {}
        self._known_of: Block | None = None  # the block whose reads these are
        self._checked: set[Instruction] = set()  # with an earlier one

    def is_together(self, instruction: Instruction, memory: Memory) -> bool:
        """Whether one check stands for this read and others; it is made at the first one."""
        if self.v.mask != ALL:
            return False
        if self._known_of is not self.v.block:
            self._known_of = self.v.block
            self._together = reads_together(self.v.block, self._plain_form)
        together = self._together.get(instruction)
        if together is None:
            return instruction in self._checked
        self._checked.update(read for read, _ in together.reads)
        self._read_together(together, memory)
        return True

    def _plain_form(self, offset: Value) -> Form | None:
        """The form of an offset in which lanes differ by constants alone."""
        form = self.v.form(offset) if self.v.varying(offset) else None
        return None if form is None or form.terms or form.guards else form

    def _read_together(self, together: Together, memory: Memory) -> None:
        text = self.text
        base = "0" if together.base is None else self.v.scalar(together.base)
        how = self.site(together.reads[0][0]) << layout.HOW_SITE
        offsets, inside = [], "true"
        for span in together.spans:
            offset = text.let(f"freeze i64 {text.let(f'add i64 {base}, {span.low}')}")
            limit = self.limit(memory, span.size)
            inside = self.both(inside, text.let(f"icmp ult i64 {offset}, {limit}"))
            offsets.append(offset)

        def ranges() -> None:
            bad = "false"
            for span, offset in zip(together.spans, offsets, strict=True):
                found = self.range_is_bad(how, memory, offset, span.size, str(span.lane), 0)
                bad = found if bad == "false" else text.let(f"or i1 {bad}, {found}")
            self.unlikely(bad, each_lane)

        def each_lane() -> None:
            for read, shift in together.reads:
                start = text.let(f"add i64 {memory.address}, {base}")
                self.put_pattern(text.let(f"add i64 {start}, {shift}"), together.pattern)
                self.report_lanes(read, self.site(read) << layout.HOW_SITE)

        self.when(inside, ranges, each_lane)

    def range_is_bad(
        self,
        how: int,
        memory: Memory,
        offset: str,
        bytes_: int | str,
        lane: str,
        lane_bytes: int,
    ) -> str:
        """Whether something looks like a race in consecutive bytes, of so many for each lane."""
        address = self.text.let(f"add i64 {memory.address}, {offset}")
        bad = self.text.call(
            "i32",
            "assay_watch_range",
            ("ptr", "%ctx"),
            ("i32", str(how)),
            ("i64", address),
            ("i64", str(bytes_)),
            ("i32", lane),
            ("i32", str(lane_bytes)),
        )
        return self.text.let(f"icmp ne i32 {bad}, 0")

    def report_lanes(self, instruction: Instruction, how: int) -> None:
        """Report an access at the addresses that were given."""
        self.text.call(
            "void",
            "assay_watch_lanes",
            ("ptr", "%ctx"),
            ("i32", str(how)),
            ("i32", self.text.mask_bits(self.v.mask)),
            ("i32", str(size_of(Scalar(instruction.element)))),
            ("i32", str(instruction.components)),
        )

    def unlikely(self, condition: str, then: Callable[[], None]) -> None:
        """Do something if a condition holds that hardly ever does."""
        self.when(condition, then, lambda: None, unlikely=True)
