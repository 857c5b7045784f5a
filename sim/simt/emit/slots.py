"""How values travel: from where code begins, and in stack slots from block to block."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ..ir import context as c
from ..ir.nodes import Block
from .text import TextBuilder, vector_of

MASK = vector_of("i1")
_LINE = 64  # bytes of a line of the cache
_MOST_SHOWN = c.SCRATCH_SIZE // 8


class Entry:
    """What code finds once, where it begins: fields of the context and the kernel's arguments.

    Attributes:
        entry: the entry block's lines, by what they load.
    """

    def __init__(self, text: TextBuilder) -> None:
        self.text = text
        self.entry: dict[str, str] = {}

    def field(self, kind: str, offset: int) -> str:
        """A field of the context, loaded once at the start."""
        name = f"%ctx.{offset}"
        if name not in self.entry:
            self.entry[name] = (
                f"  {name}.p = getelementptr i8, ptr %ctx, i64 {offset}\n"
                f"  {name} = load {kind}, ptr {name}.p"
            )
        return name

    def argument(self, number: int) -> tuple[str, str, str]:
        """(host pointer, bytes available, GPU address) of a kernel argument."""
        table = self.field("ptr", c.ARGUMENTS)
        names = []
        for place, (kind, part) in enumerate((("ptr", "host"), ("i64", "size"), ("i64", "gpu"))):
            name = f"%arg{number}.{part}"
            names.append(name)
            if name not in self.entry:
                at = number * c.ARGUMENT_STRIDE + 8 * place
                self.entry[name] = (
                    f"  {name}.p = getelementptr i8, ptr {table}, i64 {at}\n"
                    f"  {name} = load {kind}, ptr {name}.p"
                )
        return names[0], names[1], names[2]

    def argument_shadow(self, number: int) -> str:
        """Host address of the shadow of a kernel argument's buffer as an i64, 0 if none."""
        _, _, address = self.argument(number)
        name = f"%arg{number}.shadow"
        if name not in self.entry:
            table = self.field("ptr", c.SHADOWS)
            self.entry[name] = (
                f"  {name}.h = lshr i64 {address}, {c.HANDLE_SHIFT}\n"
                f"  {name}.p = getelementptr i64, ptr {table}, i64 {name}.h\n"
                f"  {name}.s = load i64, ptr {name}.p\n"
                f"  {name}.o = and i64 {address}, {(1 << c.HANDLE_SHIFT) - 1}\n"
                f"  {name}.a = add i64 {name}.s, {name}.o\n"
                f"  {name}.n = icmp eq i64 {name}.s, 0\n"
                f"  {name} = select i1 {name}.n, i64 0, i64 {name}.a"
            )
        return name

    def argument_watched(self, number: int) -> str:
        """Whether the buffer of a kernel argument has a shadow, as an i1."""
        table = self.field("ptr", c.ARGUMENTS)
        name = f"%arg{number}.watched"
        if name not in self.entry:
            at = number * c.ARGUMENT_STRIDE + c.ARGUMENT_WATCHED
            self.entry[name] = (
                f"  {name}.p = getelementptr i8, ptr {table}, i64 {at}\n"
                f"  {name}.n = load i64, ptr {name}.p\n"
                f"  {name} = icmp ne i64 {name}.n, 0"
            )
        return name


@dataclass(slots=True)
class Slot:
    """A stack slot and where it is used; `place` is its alloca."""

    type: str
    place: str
    loads: set[Block] = field(default_factory=set)
    kills: set[Block] = field(default_factory=set)
    saved_at: int = -1  # byte offset in the state that a barrier saves, -1 if none does


class SlotTable:
    """All slots of a function, by kind and by what they are for.

    Kinds: `value` (what a block defines and others use), `escape` (the same behind a loop that
    lanes leave by turns), `moved` (a value with its lanes in other places), `shown` (one whose
    lanes are loaded from memory), `incoming` (what a phi takes), `mask` (lanes waiting at a block),
    `fuel`, `sum` (what stays in the state that a simdgroup keeps over barriers), `rows` (factors
    of matrices, row by row).

    Attributes:
        all: the slots.
        state_size: bytes of that state.
    """

    def __init__(self, text: TextBuilder) -> None:
        self._text = text
        self.state_size = _LINE  # the place to resume at comes first
        self.all: dict[tuple[str, object], Slot] = {}

    def get(self, kind: str, key: object, type: str) -> Slot:
        """The slot for a thing, made when first asked for."""
        slot = self.all.get((kind, key))
        if slot is None:
            slot = self.all[kind, key] = Slot(type, self._text.slot(type))
        return slot

    def staying(self, key: object, type: str) -> Slot:
        """A slot that barriers need not save, made when first asked for."""
        slot = self.all.get(("sum", key))
        if slot is None:
            slot = self.all["sum", key] = Slot(type, self._text.name())
            at = self.room_in_state(type)
            self._text.slots.append(f"  {slot.place} = getelementptr i8, ptr %state, i64 {at}")
        return slot

    def room_in_state(self, type: str) -> int:
        """Where a value may lie in the state."""
        at = self.state_size
        self.state_size += -(-stored_size(type) // _LINE) * _LINE
        return at

    def saved(self) -> list[Slot]:
        """The slots that barriers save if they are alive."""
        return [slot for (kind, _), slot in self.all.items() if kind != "sum"]

    def initial_stores(self, fuel: Callable[[], str], scratch: Callable[[], str]) -> list[str]:
        """What the entry block stores, so that nothing is ever undefined.

        Of what is to lie in memory the scratch memory is told: so it is not turned into registers.
        """
        lines = []
        shown = 0
        for (kind, _), slot in self.all.items():
            if kind == "fuel":
                lines.append(f"  store i64 {fuel()}, ptr {slot.place}")
            elif kind == "shown":
                lines += [
                    f"  {slot.place}.p = getelementptr ptr, ptr {scratch()}, i64 {shown}",
                    f"  store ptr {slot.place}, ptr {slot.place}.p",
                ]
                shown = (shown + 1) % _MOST_SHOWN
            elif kind not in ("value", "moved", "sum", "rows"):
                lines.append(f"  store {slot.type} zeroinitializer, ptr {slot.place}")
        return lines

    def live_at_start(
        self, order: list[Block], following: Callable[[Block], list[Block]]
    ) -> dict[Block, set[str]]:
        """For each block, the places whose contents may be used from its start on."""
        live: dict[Block, set[str]] = {block: set() for block in order}
        uses: dict[Block, set[str]] = {block: set() for block in order}
        kills: dict[Block, set[str]] = {block: set() for block in order}
        for slot in self.all.values():
            for block in slot.loads:
                uses[block].add(slot.place)
            for block in slot.kills:
                kills[block].add(slot.place)
        after_of = {block: following(block) for block in order}
        changed = True
        while changed:
            changed = False
            for block in reversed(order):
                after = set[str]().union(*(live[t] for t in after_of[block]))
                new = uses[block] | (after - kills[block])
                if new != live[block]:
                    live[block] = new
                    changed = True
        return live


def stored_size(type: str) -> int:
    """Bytes that a slot takes when it is saved."""
    if not type.startswith("<"):
        return 8
    count, element = int(type[1:].split(" x ")[0]), type.split(" x ")[1].rstrip(">")
    if element == "i1":
        return -(-count // 8)
    width = {"half": 16, "bfloat": 16, "float": 32, "double": 64}.get(element)
    if width is None:
        width = int(element[1:])
    return count * (1 << (width - 1).bit_length()) // 8 if width > 8 else count
