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
# Fields do not change while the code runs. LLVM may load one in front of a loop that uses it.
_LASTING = "!invariant.load !{}"
CONTEXT = f"ptr noalias dereferenceable({c.CONTEXT_SIZE}) %ctx"


class Entry:
    """Loads fields: each at the start, or where a block first needs it.

    Code that returns at barriers starts anew behind each, mostly to run a few blocks.

    Attributes:
        entry: the entry block's lines, by what they load.
        loads_in_blocks: whether each block loads what it needs.
    """

    def __init__(self, text: TextBuilder, *, loads_in_blocks: bool) -> None:
        self.text = text
        self.entry: dict[str, str] = {}
        self.loads_in_blocks = loads_in_blocks

    def field(self, kind: str, offset: int) -> str:
        """A field of the context."""
        return self._loaded(f"%ctx.{offset}", kind, "%ctx", offset)

    def field_at_start(self, kind: str, offset: int) -> str:
        """A field of the context, for the entry block."""
        return self._at_start(f"%ctx.{offset}", kind, "%ctx", offset)

    def argument(self, number: int) -> tuple[str, str, str]:
        """(host pointer, bytes available, GPU address) of a kernel argument."""
        parts = (("ptr", "host"), ("i64", "size"), ("i64", "gpu"))
        host, size, gpu = (
            self._of_argument(number, part, kind, 8 * place)
            for place, (kind, part) in enumerate(parts)
        )
        return host, size, gpu

    def argument_shadow(self, number: int) -> str:
        """Host address of the shadow of a kernel argument's buffer as an i64, 0 if none."""
        return self._of_argument(number, "shadow", "i64", c.ARGUMENT_SHADOW)

    def argument_watched(self, number: int) -> str:
        """Whether accesses to the buffer of a kernel argument are recorded, as an i1."""
        found = self._of_argument(number, "watched", "i64", c.ARGUMENT_WATCHED)
        return self.text.let(f"icmp ne i64 {found}, 0")

    def _of_argument(self, number: int, part: str, kind: str, offset: int) -> str:
        table = self.field("ptr", c.ARGUMENTS)
        return self._loaded(
            f"%arg{number}.{part}", kind, table, number * c.ARGUMENT_STRIDE + offset
        )

    def _loaded(self, name: str, kind: str, base: str, offset: int) -> str:
        if not self.loads_in_blocks:
            return self._at_start(name, kind, base, offset)
        place = self.text.let(f"getelementptr i8, ptr {base}, i64 {offset}")
        load = f"load {kind}, ptr {place}, {_LASTING}"
        known = self.text.computed.get(load)
        if known is None:
            known = self.text.computed[load] = self.text.let(load)
        return known

    def _at_start(self, name: str, kind: str, base: str, offset: int) -> str:
        if name not in self.entry:
            self.entry[name] = (
                f"  {name}.p = getelementptr i8, ptr {base}, i64 {offset}\n"
                f"  {name} = load {kind}, ptr {name}.p"
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

    def saved(self) -> list[tuple[str, object, Slot]]:
        """(kind, what it is for, slot) of those that barriers save if they are alive."""
        return [(kind, what, slot) for (kind, what), slot in self.all.items() if kind != "sum"]

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
