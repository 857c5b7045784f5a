"""What a taped kernel writes down: blocks that lanes enter, and the memory they access.

Events are written by plain stores. Where the lanes' pattern is known, so is all of an access's
description but its place; what has no pattern, or is done by a part of the lanes, is described by a
C function that looks at every lane's address.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..analysis.linear_form import Form
from ..analysis.windows import Group
from ..ir import context as c
from ..ir.llvm_types import THREADGROUP_SPACE, Scalar, size_of
from ..ir.nodes import (
    THREADGROUP_ROOTS,
    AddressRoot,
    Block,
    BufferRoot,
    ConstantRoot,
    Instruction,
    is_private,
)
from ..ir.shape import LANES
from . import tape as r
from .access import Access, Memory
from .tape_memory import LIMIT, POSITION
from .values import ALL

if TYPE_CHECKING:
    from .vectorise import Vectoriser

_MOST_UNIFORM = 64  # bytes that are in 17 words at most, one to a bank
_LINE_BITS = r.LINE_BYTES.bit_length() - 1


class TapeEvents(Access):
    """Emits the code that writes them to the tape."""

    def __init__(self, vectoriser: Vectoriser) -> None:
        super().__init__(vectoriser)
        self._at = ""  # where the next event goes, less
        self._words = 0  # so many words
        self._ordinal = 0
        # Descriptions that are left out of the tape where they hold. A threadgroup at the
        # grid's edge has other patterns, so all is written down there.
        self.known: dict[tuple[int, int], int] = {}
        self._leaves_out = vectoriser.shape.size == vectoriser.shape.nominal

    def begin(self, block: Block) -> None:
        """Note that the current lanes enter a block."""
        text = self.text
        writer = self.v.field("ptr", c.TAPE_WRITER)
        place = text.let(f"getelementptr i8, ptr {writer}, i64 {POSITION}")
        at = text.let(f"load ptr, ptr {place}, align 8")
        over = text.let(f"icmp ugt ptr {at}, {self._limit(writer)}")

        def full() -> list[str]:
            return [text.call("ptr", "assay_tape_full", ("ptr", "%ctx"), ("ptr", at))]

        (self._at,) = self.either(over, full, lambda: [at], ["ptr"], unlikely=True)
        self._words = self._ordinal = 0
        self._put(self._head(r.BLOCK | self.v.cfg.index[block] << r.NUMBER_SHIFT))

    def end(self) -> None:
        """Leave the block's events behind."""
        writer = self.v.field("ptr", c.TAPE_WRITER)
        place = self.text.let(f"getelementptr i8, ptr {writer}, i64 {POSITION}")
        self.text.do(f"store ptr {self._next()}, ptr {place}, align 8")

    def access(self, instruction: Instruction) -> None:
        """Note an access of the current lanes, which is about to happen."""
        head = r.ACCESS | self._ordinal << r.NUMBER_SHIFT
        self._ordinal += 1
        bytes_ = size_of(Scalar(instruction.element)) * instruction.components
        root, offset = instruction.root, instruction.operands[0]
        if is_private(root):
            self.put_addresses(self.v.vector(offset))
            self._call("assay_tape_private", head, bytes_)
            return
        if self.v.has_varying_address(instruction):
            self.put_varying_addresses(instruction)
            self._call("assay_tape_lanes", head, bytes_)
            return
        memory, form = self.memory(instruction), self.v.form(offset)
        if self.v.tapes_places and isinstance(root, THREADGROUP_ROOTS):
            self._lanes(instruction, memory, head, bytes_, form)
            return
        group = _whole(form, bytes_) if form is not None else None
        cached = _is_cached(instruction)
        simple = cached is not None and not instruction.operation.is_atomic
        if form is None or group is None or not simple or not _is_plain(group, bytes_, cached):
            self._lanes(instruction, memory, head, bytes_, form)
            return
        self._pattern(instruction, memory, head, bytes_, form, group)

    # -- ways to describe ----------------------------------------------------------------------

    def _lanes(
        self,
        instruction: Instruction,
        memory: Memory,
        head: int,
        bytes_: int,
        form: Form | None = None,
    ) -> None:
        addresses = self.addresses(instruction, memory)
        if form is not None and form.terms and self.v.mask == ALL:
            # Which lane is which does not matter, and the function is faster if they ascend.
            addresses = self.text.shuffle("i64", addresses, LANES, _likely_order(form))
        self.put_addresses(addresses)
        self._call("assay_tape_lanes", head, bytes_)

    def _call(self, function: str, head: int, bytes_: int) -> None:
        self._at = self.text.call(
            "ptr",
            function,
            ("ptr", "%ctx"),
            ("ptr", self._next()),
            ("i32", str(head)),
            ("i32", self.text.mask_bits(self.v.mask)),
            ("i32", str(bytes_)),
        )
        self._words = 0

    def _pattern(
        self,
        instruction: Instruction,
        memory: Memory,
        head: int,
        bytes_: int,
        form: Form,
        group: Group,
    ) -> None:
        """All lanes access places that are known but for where the first one is."""
        text = self.text
        offset, good = self.window(form, group)
        start = text.let(f"add i64 {memory.address}, {offset}")
        if not self._is_whole_words(instruction, group):
            rest = text.let(f"and i64 {start}, {r.BANK_BYTES - 1}")
            aligned = text.let(f"icmp eq i64 {rest}, 0")
            good = self.both(good, aligned)
        if self.v.mask != ALL:
            full = text.let(f"icmp eq i32 {text.mask_bits(self.v.mask)}, -1")
            good = self.both(good, full)

        cached = _is_cached(instruction)
        about = _describe(group, bytes_, banked=not cached)
        left_out = not cached and self._leaves_out
        if left_out:
            self.known[self.v.cfg.index[self.v.block], self._ordinal - 1] = about
        if left_out and good == "true":
            return

        def known() -> None:
            if left_out:
                return
            self._put(str(head | 0xFFFFFFFF << r.LANES_SHIFT))
            if cached:
                self._put_lines(start, group.elements, about | r.CONSECUTIVE | r.CACHED)
            else:
                self._put(str(about))

        if good == "true":
            known()
            return
        self._either(good, known, lambda: self._lanes(instruction, memory, head, bytes_))

    def _put_lines(self, start: str, length: int, about: int) -> None:
        text = self.text
        first = text.let(f"lshr i64 {start}, {_LINE_BITS}")
        end = text.let(f"add i64 {start}, {length - 1 + r.LINE_BYTES}")
        end = text.let(f"lshr i64 {end}, {_LINE_BITS}")
        count = text.let(f"sub i64 {end}, {first}")
        self._put(text.let(f"or i64 {count}, {about}"))
        self._put(first)

    def _either(self, condition: str, fast: Callable[[], None], slow: Callable[[], None]) -> None:
        at, words = self._at, self._words

        def way(emit: Callable[[], None]) -> list[str]:
            self._at, self._words = at, words
            emit()
            return [self._next()]

        (self._at,) = self.either(condition, lambda: way(fast), lambda: way(slow), ["ptr"])
        self._words = 0

    def _is_whole_words(self, instruction: Instruction, group: Group) -> bool:
        """Whether the words touched follow from the pattern alone, wherever the first lane is."""
        root = instruction.root
        bytes_ = size_of(Scalar(instruction.element)) * instruction.components
        if group.at == (0,) * LANES and bytes_ <= min(instruction.align, r.BANK_BYTES):
            return True
        placed = isinstance(root, BufferRoot) and root.alignment % r.BANK_BYTES == 0
        placed = placed or isinstance(root, (*THREADGROUP_ROOTS, ConstantRoot))
        return placed and instruction.align % r.BANK_BYTES == 0

    # -- words ---------------------------------------------------------------------------------

    def _limit(self, writer: str) -> str:
        name = "%tape.limit"
        if name not in self.v.entry:
            self.v.entry[name] = (
                f"  {name}.p = getelementptr i8, ptr {writer}, i64 {LIMIT}\n"
                f"  {name} = load ptr, ptr {name}.p"
            )
        return name

    def _head(self, head: int) -> str:
        if self.v.mask == ALL:
            return str(head | 0xFFFFFFFF << r.LANES_SHIFT)
        text = self.text
        lanes = text.let(f"zext i32 {text.mask_bits(self.v.mask)} to i64")
        lanes = text.let(f"shl i64 {lanes}, {r.LANES_SHIFT}")
        return text.let(f"or i64 {lanes}, {head}")

    def _next(self) -> str:
        if self._words == 0:
            return self._at
        return self.text.let(f"getelementptr i64, ptr {self._at}, i64 {self._words}")

    def _put(self, word: str) -> None:
        self.text.do(f"store i64 {word}, ptr {self._next()}, align 8")
        self._words += 1


def _is_cached(instruction: Instruction) -> bool | None:
    """Whether an access goes to memory with caches; None if that is not known."""
    root = instruction.root
    if isinstance(root, THREADGROUP_ROOTS):
        return False
    if isinstance(root, AddressRoot):
        return None if root.space in (0, THREADGROUP_SPACE) else True
    return True


def _whole(form: Form, bytes_: int) -> Group | None:
    """The bytes that all lanes access, if only their start depends on the run."""
    if form.terms:
        return None
    low = min(form.lanes)
    at = tuple(offset - low for offset in form.lanes)
    return Group(tuple(range(LANES)), (), low, max(at) + bytes_, at)


def _likely_order(form: Form) -> list[int]:
    """The lanes by ascending address, if terms are positive and larger than what is added."""
    factors = [[pattern[lane] for _, pattern in form.terms] for lane in range(LANES)]
    return sorted(range(LANES), key=lambda lane: (sum(factors[lane]), form.lanes[lane]))


def _is_plain(group: Group, bytes_: int, cached: bool | None) -> bool:
    """Whether the access is described by numbers known beforehand, given where it starts."""
    if len(set(group.at)) == 1:
        return bytes_ <= _MOST_UNIFORM
    return not cached or _skips_no_line(group, bytes_)


def _skips_no_line(group: Group, bytes_: int) -> bool:
    end = 0
    for at in sorted(group.at):
        if at - end >= r.LINE_BYTES:
            return False
        end = at + bytes_
    return True


def _describe(group: Group, bytes_: int, *, banked: bool) -> int:
    """The description of an access by all lanes whose first byte starts a word."""
    words = {
        word
        for at in group.at
        for word in range(at // r.BANK_BYTES, (at + bytes_ - 1) // r.BANK_BYTES + 1)
    }
    ways = max(Counter(word % r.BANKS for word in words).values()) if banked else 0
    rows = len({word * r.BANK_BYTES // r.LINE_BYTES for word in words}) if banked else 0
    sharing = max(Counter(group.at).values())
    return (
        min(len(words), r.FIELD_MASK) << r.WORDS_SHIFT
        | min(ways, r.FIELD_MASK) << r.WAYS_SHIFT
        | sharing << r.SHARING_SHIFT
        | bytes_ << r.BYTES_SHIFT
        | min(rows, r.FIELD_MASK) << r.LINES_SHIFT
    )
