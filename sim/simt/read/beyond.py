"""Keeps accesses beyond a thread's own variables and beyond tables of constants.

LLVM deletes what reads or writes outside of an object that it knows: once loops are unrolled, an
array that is read one element too far would turn its kernel into nothing. Each access that is not
known to stay inside gets an annotation beside it, which says where it goes, costs nothing and is
never removed. Where that turns out to be outside, lowering makes it an access again, which the
engines find. What is read there is some value, so that nothing else is deleted for it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping

from ..ir.llvm_types import Type, size_of
from .llvm_records import Operand, Record
from .llvm_text import read_globals, read_type_of_alloca, types_of
from .object_pointers import Pointers, Thing, Touch, innermost, sources, step_of
from .ranges import Ranges
from .uninitialised import UNSET

PREFIX = "__assay_beyond."  # then: load or store, bytes, the size of the thing, and its name
SEVERAL = "several"  # instead of a name: one of several variables, of which the smallest is given
MAY_END = "__assay_may_end"
_KEEP = "__assay_keep"
_ONE = "__assay_one"  # how many there are of a variable that is held
# What says that a variable is kept, and that nobody knows how large it is.
_KEPT = re.compile(
    rf"^  (?:tail )?call void @{_KEEP}\(.*\n|"
    r"^  %assay\.one = (?:tail )?call .*\n|, i64 %assay\.one\b",
    re.MULTILINE,
)
_TABLE = re.compile(
    r"^(@\S+ = (?!external)(?![^\n]* externally_initialized )(?:[^\n]*? )?)constant ", re.MULTILINE
)
_CONSTANT = re.compile(r"^(?P<name>@\S+) = (?!external)[^\n]*? constant [^\n]*$", re.MULTILINE)
_OPEN_TABLE = "externally_initialized constant "  # whose values the optimiser does not know
_ALLOCA = re.compile(r"^  (%\S+) = alloca (.*)$")
_PLAIN_USE = re.compile(
    r"^  (?:%\S+ = load (?P<loaded>[^,]+(?:, [^,]*[}\]>])?), ptr (?P<from>%[-\w.$]+)(?:,|$)"
    r"|store (?P<stored>.*), ptr (?P<to>%[-\w.$]+)(?:,|$)"
    rf"|call void @(?:llvm\.lifetime\.\w+\.p0|{UNSET})\()"
)
_NAME = re.compile(r'%(?:"[^"]*"|[-$._A-Za-z0-9]+)')
# Loads, stores, steps and copies through pointers that may be to variables.
_OWN_TOUCH = re.compile(
    r"^  (?:(?:%\S+ = load|store) (?:volatile |atomic )*|%\S+ = getelementptr (?:inbounds |nuw )*)"
    r"(?P<kind>[^\n]*?), ptr (?P<at>%[^,\s]+),|"
    r"^  (?:tail )?call void @llvm\.mem(?:cpy|move|set)\.(?P<operands>[^\n]*?), i64 (?P<size>\d+),",
    re.MULTILINE,
)
_HANDED = re.compile(
    r"^  (?:store ptr %[^,\s]+|(?:%\S+ = )?(?:tail )?call [^@\n]*@"
    rf"(?!llvm\.|{UNSET})[^\n]*)",
    re.MULTILINE,
)
_VARIABLE = re.compile(_ALLOCA.pattern, re.MULTILINE)
_PLAIN_POINTER = re.compile(r"\bptr (?:align \d+ )?(%[^,\s]+)")
_CONSTANT_SPACE = 6
# The bytes at which an access may begin, its symbol, where it begins, and whether that is inside.
_ANNOTATION = re.compile(
    r"^  (?P<name>%\S+) = (?:tail )?call [^@\n]*@llvm\.annotation\.i64\.p0\(i64 (?P<room>\S+), "
    rf"ptr (?:nonnull )?(?P<symbol>@{re.escape(PREFIX)}\w+\.(?P<bytes>\d+)\.(?P<size>\d+)\."
    r"(?P<thing>[^,]*)), ptr (?:nonnull )?(?P<at>.*), i32 (?P<inside>\S+)\)(?P<tail>.*)$",
    re.MULTILINE,
)
_NUMBER = re.compile(r"(?:inttoptr \(i64 |getelementptr \(i8, ptr null, i64 )(-?\d+)")
_LOAD = re.compile(r"^  (?P<name>%\S+) = load (?P<type>[^,]+), (?P<rest>ptr.*)$")
_SCALARS = re.compile(r"(?:i\d+|half|float|double|bfloat|ptr|<\d+ x \w+>)$")


def may_leave(text: str) -> bool:
    """Whether a module's unoptimised `text` steps through variables or tables by what may be any
    number of bytes, or by a number too many."""
    constants = _has_tables(text)
    space = rf"ptr(?: addrspace\({_CONSTANT_SPACE}\))?" if constants else "ptr"
    field = r"%[^,]+, ptr[^,]*, i32 0,"
    step = (
        rf"^  (?!%assay\.)%\S+ = getelementptr (?!{field})[^\n]*?, {space} (?:[%@]|addrspacecast)"
    )
    if constants and "getelementptr (" in text:
        return True
    return re.search(step, text, re.MULTILINE) is not None


def _has_tables(text: str) -> bool:
    """Whether a module has tables, or numbers that something points to; these are tables of one."""
    for match in _CONSTANT.finditer(text):
        if " [" in match[0] or "%" in match[0]:
            return True
        uses = len(re.findall(rf"{re.escape(match['name'])}(?![-$.\w])", text))
        if uses > 1 + len(re.findall(rf" = load [^\n]*? {re.escape(match['name'])},", text)):
            return True
    return False


def may_be_larger(text: str) -> bool:
    """Whether a module's unoptimised `text` may touch a variable as something with more bytes:
    at once, or where a pointer to it was handed to.
    """
    types = types_of(text)
    sizes: dict[str, int] = {}

    def size(kind: str) -> int:
        if kind not in sizes:
            sizes[kind] = size_of(read_type_of_alloca(kind, types))
        return sizes[kind]

    least, most = sys.maxsize, 0
    for body in re.split(r"(?m)^(?=define )", text)[1:]:
        variables = {match[1]: size(match[2]) for match in _VARIABLE.finditer(body)}
        handed = {name for match in _HANDED.finditer(body) for name in _NAME.findall(match[0])}
        least = min([least, *(variables[name] for name in handed & variables.keys())])
        for match in _OWN_TOUCH.finditer(body):
            if match["kind"]:
                touched, names = size(match["kind"]), [match["at"]]
            else:
                touched = int(match["size"])
                names = _PLAIN_POINTER.findall(match["operands"])
            known = [variables[name] for name in names if name in variables]
            if any(touched > each for each in known):
                return True
            if len(known) < len(names):
                most = max(most, touched)
    return most > least


def hide_variables(text: str) -> str:
    """The module `text`, in which the optimiser sees only variables that no pointer reaches.

    Then functions can be inlined and such variables put into registers without looking at others.
    """
    types = types_of(text)
    functions = re.split(r"(?m)^(?=define )", text)
    functions[0] = _TABLE.sub(rf"\1{_OPEN_TABLE}", functions[0])
    return _declare_keep(functions[0] + "".join(_hide(body, types) for body in functions[1:]))


def _hide(body: str, types: Mapping[str, Type]) -> str:
    lines = body.split("\n")
    variables: dict[str, str] = {}
    reached: set[str] = set()
    for line in lines:
        if match := _ALLOCA.match(line):
            variables[match[1]] = match[2]
            continue
        used = [name for name in _NAME.findall(line) if name in variables]
        if used and not _is_plain(line, used, variables):
            reached.update(used)
    return "\n".join(_with_keeps(lines, reached))


def _is_plain(line: str, used: list[str], variables: dict[str, str]) -> bool:
    """Whether a line reads or writes the whole of its only variable."""
    match = _PLAIN_USE.match(line)
    if match is None or len(used) > 1:
        return False
    if match["from"]:
        return variables[used[0]].startswith(match["loaded"] + ",")
    if match["to"]:
        kind = variables[used[0]].rpartition(", align")[0]
        return used[0] == match["to"] and match["stored"].startswith(kind + " ")
    return True


def _with_keeps(lines: list[str], names: set[str]) -> Iterator[str]:
    for line in lines:
        yield line
        if (match := _ALLOCA.match(line)) and match[1] in names:
            yield f"  call void @{_KEEP}(ptr {match[1]})"


def _of_any_size(lines: list[str], names: set[str]) -> Iterator[str]:
    """A function's lines, of whose variables of such names there are as many as a call says."""
    is_counted = False
    for line in lines:
        match = _ALLOCA.match(line)
        if match is None or match[1] not in names:
            yield line
            continue
        if not is_counted:
            yield f"  %assay.one = call i64 @{_ONE}()"
            is_counted = True
        kind, _, rest = match[2].rpartition(", align")
        yield f"  {match[1]} = alloca {kind}, i64 %assay.one, align{rest}"


def _declare_keep(text: str) -> str:
    return _declare(text, f"void @{_KEEP}(ptr)")


def _declare(text: str, function: str) -> str:
    declared = f"declare {function}"
    return text if declared in text else f"{text}\n{declared}\n"


def shown(text: str) -> str:
    """The module `text` without what `hide_variables` and `Entry.held` added."""
    return released(text).replace(_OPEN_TABLE, "constant ")


def released(text: str) -> str:
    """The module `text`, whose variables are none that are kept; its tables stay open."""
    return _KEPT.sub("", text)


class Entry:
    """The function of a module's `text` into which all others were inlined, with its pointers."""

    def __init__(self, text: str, entry: str) -> None:
        self._before, body, self._after = _entry(released(text), entry)
        self._lines = body.split("\n")
        self._types = types_of(text)
        self._pointers = Pointers(self._lines, _tables(text), self._types)

    def hidden_again(self) -> str | None:
        """The module for another round, which may find what pointers in variables point to.

        None if there are no such pointers, or no variables that they could be in.
        """
        if not (self._pointers.loads_pointers and self._pointers.has_variables):
            return None
        return self._text(self._lines, _reached(self._pointers, self._not_inside()))

    def is_inside(self) -> bool:
        """Whether all accesses stay inside of their objects, by what their indices can be."""
        return not self._leaving()

    def held(self) -> str:
        """The module whose variables stay in memory if an access may leave them, and no others.

        Of these LLVM is not to know the size: an index into a single number would be 0.
        """
        names = _reached(self._pointers, self._leaving())
        return _declare(self._text(list(_of_any_size(self._lines, names)), names), f"i64 @{_ONE}()")

    def _leaving(self) -> list[Touch]:
        """Accesses not known to stay inside of their objects by what their indices can be."""
        touches = self._not_inside()
        if not touches:
            return []
        ranges = Ranges(self._lines)
        return [each for each in touches if not self._pointers.stays_inside(each, ranges)]

    def _not_inside(self) -> list[Touch]:
        """Accesses not known to be inside by numbers alone."""
        return [each for each in self._pointers.touches if not self._pointers.is_inside(each)]

    def marked(self) -> str | None:
        """The module with an annotation at each access not known to stay inside its object.

        None if all accesses are known to.
        """
        marker = _Marker(self._pointers)
        lines = marker.marked(self._lines)
        if not marker.named and not marker.unclear:
            return None
        named = [f"@{name} = external constant i8" for name in sorted(marker.named)]
        declared = f"declare void @{MAY_END}() nounwind memory(none)"
        return "\n".join([self._text(lines, marker.unclear), *named, declared, ""])

    def _text(self, lines: list[str], kept: set[str]) -> str:
        return _declare_keep(self._before + "\n".join(_with_keeps(lines, kept)) + self._after)


def _reached(pointers: Pointers, touches: list[Touch]) -> set[str]:
    """Names of the variables that such accesses may be to, or that may be reached unseen."""
    found: set[Thing | None] = set()
    for touch in touches:
        found |= pointers.things_of(touch.pointer)
    for operand in pointers.escaped:
        found |= pointers.things_of(operand)
    return {thing.name for thing in found if thing is not None and thing.name[0] == "%"}


class _Marker:
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


def compared(text: str) -> str:
    """The optimised module, with comparisons of what the annotations name and no number is."""
    return _ANNOTATION.sub(_compared, text)


def _compared(match: re.Match[str]) -> str:
    if _is_number(match):
        return match[0]
    name, tail, room = match["name"], match["tail"], match["room"]
    start, fits = f"{name}.assay.start", f"{name}.assay.fits"  # LLVM has suffixes of its own
    annotated = f"i64 {room}, ptr {match['symbol']}, ptr {match['at']}, i32 {fits}.n"
    return "\n".join(
        (
            f"  {start} = ptrtoint ptr {match['at']} to i64{tail}",
            f"  {fits} = icmp ult i64 {start}, {room}{tail}",
            f"  {fits}.n = zext i1 {fits} to i32{tail}",
            f"  {name} = call i64 @llvm.annotation.i64.p0({annotated}){tail}",
        )
    )


def _is_number(match: re.Match[str]) -> bool:
    return match["at"][0] != "%" and match["room"][0] != "%"


def are_inside(text: str) -> bool:
    """Whether the annotations in an optimised module say that all accesses stay inside."""
    return all(match["inside"] == "1" or _is_in_room(match) for match in _ANNOTATION.finditer(text))


def _is_in_room(match: re.Match[str]) -> bool:
    """Whether an annotation names numbers, and the access is inside."""
    found = _NUMBER.match(match["at"])
    at = 0 if match["at"] == "null" else int(found[1]) if found else -1
    return match["room"][0] != "%" and 0 <= at < int(match["room"])


def without_open(text: str) -> str:
    """The optimised module without the annotations of accesses that are there and will be checked.

    But LLVM takes it that what reaches a variable of one element reaches that element; and of
    which one of several variables an access leaves, only its annotation knows.
    """
    return _ANNOTATION.sub(lambda match: match[0] if _is_kept(match) else "", text)


def _is_kept(match: re.Match[str]) -> bool:
    several = match["thing"] == SEVERAL
    return _is_number(match) or several or match["bytes"] == match["size"]


def _entry(text: str, entry: str) -> tuple[str, str, str]:
    """The text of the entry function, with what is before and behind it."""
    match = re.search(
        rf"^define [^\n]*@{re.escape(entry)}\(.*?^}}\n", text, re.MULTILINE | re.DOTALL
    )
    assert match is not None
    return text[: match.start()], match[0], text[match.end() :]


def _tables(text: str) -> dict[str, Thing]:
    """The module's tables of constants."""
    return {
        each.name: Thing(each.name, size_of(each.type))
        for each in read_globals(text)
        if each.constant and each.initialiser is not None
    }
