"""Puts annotations beside accesses, with offsets that are computed beside pointers."""

from __future__ import annotations

import re

from ..llvm_records import Operand, Record
from ..object_pointers import Pointers, Thing, Touch, innermost, sources, step_of
from .annotations import MAY_END, PREFIX, SEVERAL

_LOAD = re.compile(r"^  (?P<name>%\S+) = load (?P<type>[^,]+), (?P<rest>ptr.*)$")
_SCALARS = re.compile(r"(?:i\d+|half|float|double|bfloat|ptr|<\d+ x \w+>)$")


class Marker:
    """Computes offsets beside pointers, and puts annotations beside accesses."""

    def __init__(self, pointers: Pointers) -> None:
        self._pointers = pointers
        self._before: dict[int, list[str]] = {}
        self._after: dict[int, list[str]] = {}
        self._names: dict[str, str] = {}
        self._rooms: dict[tuple[str, int], str] = {}
        self._waiting: list[str] = []
        self.named: set[str] = set()
        self._frozen: dict[int, list[str]] = {}  # loads, by their lines
        self.unclear: set[str] = set()  # variables that share a pointer with something else

    def marked(self, lines: list[str]) -> list[str]:
        """The function's lines with what is added."""
        for touch in self._pointers.touches:
            self._mark(touch, lines[touch.line])
        while self._waiting:
            self._compute(self._waiting.pop())
        return [
            new
            for number, line in enumerate(lines)
            for new in (
                *self._before.get(number, ()),
                *self._frozen.get(number, [line]),
                *self._after.get(number, ()),
            )
        ]

    def _mark(self, touch: Touch, line: str) -> None:
        if self._pointers.is_inside(touch):
            return
        found = self._pointers.things_of(touch.pointer)
        things = [thing for thing in found if thing is not None]
        if len(things) < len(found) or len({thing.name[0] for thing in things}) > 1:
            self.unclear |= {thing.name for thing in things if thing.name[0] == "%"}
            return
        action = "store" if touch.is_store else "load"
        size = min(thing.size for thing in things)
        symbol = f"{PREFIX}{action}.{touch.bytes}.{size}.{_word(things)}"
        self.named.add(symbol)
        found_place = re.search(r", !dbg ![0-9]+", line)
        place = found_place[0] if found_place else ""
        at, name = self._offset(touch.pointer), f"%assay.in.{touch.line}{action}"
        self._before.setdefault(touch.line, []).append(
            f"  {name} = call i64 @llvm.annotation.i64.p0(i64 "
            f"{self._room(touch.pointer, touch.bytes)}, ptr @{symbol}, ptr {at}, i32 0){place}"
        )
        if not touch.is_store:
            self._freeze(touch.line, line, place)

    def _freeze(self, number: int, line: str, place: str) -> None:
        """Let what is read be some value; after a copy, which has none, the kernel may end."""
        match = _LOAD.match(line)
        if match is None or not _SCALARS.match(match["type"]):
            self._before[number].append(f"  call void @{MAY_END}(){place}")
            return
        name, kind = match["name"], match["type"]
        self._frozen[number] = [
            f"  %assay.read.{number} = load {kind}, {match['rest']}",
            f"  {name} = freeze {kind} %assay.read.{number}{place}",
        ]

    def _offset(self, pointer: Operand) -> str:
        """A pointer as far behind null as the given one is behind the start of its thing."""
        fixed = self._pointers.fixed_offset(pointer)
        if fixed is not None:
            return f"inttoptr (i64 {fixed} to ptr)"
        if pointer.text not in self._names:
            self._names[pointer.text] = f"%assay.at.{len(self._names)}"
            self._waiting.append(pointer.text)
        return self._names[pointer.text]

    def _room(self, pointer: Operand, count: int) -> str:
        """How many places an access of `count` bytes may begin at in what a pointer points into."""
        while True:
            found = {thing.size for thing in self._pointers.things_of(pointer) if thing}
            if len(found) == 1:
                return str(max(found.pop() - count + 1, 0))
            _, record = self._pointers.defined[innermost(pointer).text]
            if record.op in ("phi", "select"):
                return self._room_of_several(record, count)
            pointer = record.operands[0]

    def _room_of_several(self, record: Record, count: int) -> str:
        name = self._rooms.get((record.name, count))
        if name is not None:
            return name
        name = self._rooms[record.name, count] = f"%assay.room.{len(self._rooms)}"
        coming = [self._room(operand, count) for operand in sources(record)]
        if record.op == "phi":
            pairs = zip(coming, record.labels, strict=True)
            text = "phi i64 " + ", ".join(f"[ {room}, {label} ]" for room, label in pairs)
        else:
            text = f"select i1 {record.operands[0].text}, i64 {coming[0]}, i64 {coming[1]}"
        line, _ = self._pointers.defined[record.name]
        self._after.setdefault(line, []).append(f"  {name} = {text}")
        return name

    def _compute(self, pointer: str) -> None:
        line, record = self._pointers.defined[pointer]
        name, added = self._names[pointer], self._after.setdefault(line, [])
        if record.op == "phi":
            pairs = zip(record.operands, record.labels, strict=True)
            coming = ", ".join(f"[ {self._offset(value)}, {label} ]" for value, label in pairs)
            added.append(f"  {name} = phi ptr {coming}")
        elif record.op == "select":
            first, second = (f"ptr {self._offset(o)}" for o in sources(record))
            added.append(f"  {name} = select i1 {record.operands[0].text}, {first}, {second}")
        else:
            self._step(name, record, added)

    def _step(self, name: str, record: Record, added: list[str]) -> None:
        step = step_of(record)
        start = self._offset(step.base)
        for number, (index, width, stride) in enumerate(step.scaled):
            part = f"{name}.{number}"
            kind = f"[{stride} x i8]"
            added.append(f"  {part} = getelementptr {kind}, ptr {start}, i{width} {index}")
            start = part
        added.append(f"  {name} = getelementptr i8, ptr {start}, i64 {step.fixed}")


def _word(things: list[Thing]) -> str:
    thing = things[0]
    if len(things) > 1:
        return SEVERAL
    if thing.name[0] == "%":
        return "private"
    return "constant" + (thing.name.replace("@", ".") if '"' not in thing.name else "")
