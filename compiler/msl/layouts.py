"""How the structs of arguments are laid out, as the compiler prints it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from assay.sim.native.disk_cache import digest

from .arguments import StructField

_HEAD = "*** Dumping AST Record Layout\n"
_LINE = re.compile(r" *(?P<offset>\d+)(?P<bits>:[\d-]*)? \| (?P<indent> *)(?P<text>.*)")
_SIZE = re.compile(r"\| \[sizeof=(\d+),")
_MEMBER = re.compile(r"(?P<type>.+?)(?P<counts>(?:\[\d+\])*) (?P<name>[A-Za-z_]\w*)")
_QUALIFIERS = re.compile(r"^(?:(?:const|volatile) )+")
_NUMBERS = re.compile(
    r"struct metal::(?P<kind>vec|packed_vec|matrix|atomic)<(?P<of>[\w ]+)"
    r"(?:, (?P<first>\d+))?(?:, (?P<second>\d+))?>"
)
# Unions, and structs of the standard library.
_NO_STRUCT = re.compile(r"union |(?:(?:struct|class) )?metal::")
# As clang spells them, and as MSL does.
_SCALARS = {
    "float": "float",
    "_Float16": "half",
    "__bf16": "bfloat",
    "int": "int",
    "unsigned int": "uint",
    "short": "short",
    "unsigned short": "ushort",
    "char": "char",
    "signed char": "char",
    "unsigned char": "uchar",
    "long": "long",
    "unsigned long": "ulong",
    "_Bool": "bool",
}
_MOST_FIELDS = 1 << 12


def key_of(kernel: str) -> int:
    """By which a kernel's layouts are found in what is printed of several."""
    return int(digest(kernel)[:15], 16)


class Layouts:
    """What clang prints of one or more texts with `-fdump-record-layouts`."""

    def __init__(self, printed: str) -> None:
        self._blocks: dict[str, set[str]] = {}
        for block in printed.split(_HEAD)[1:]:
            line = _LINE.match(block)
            if line is not None:
                self._blocks.setdefault(line["text"], set()).add(block)

    def fields(self, kernel: str, parameter: int) -> tuple[StructField, ...]:
        """The members of the struct of a kernel's parameter, those of structs in it among them.

        Empty if it is no struct, or if anything in it is neither a number, a vector, a matrix, nor
        an array or a struct of them: bit fields, unions, bases, addresses, members without a name.
        """
        mark = re.compile(rf"struct __assay_layout<{key_of(kernel)}(?:UL)?, {parameter}, .*")
        marked = [name for name in self._blocks if mark.fullmatch(name)]
        if len(marked) != 1:
            return ()
        try:
            (argument,) = self._record(marked[0]).inner
            if _NO_STRUCT.match(argument.text):
                return ()
            return tuple(self._within(argument.inner, [_MOST_FIELDS]))
        except _NotPlain:
            return ()

    def _record(self, name: str) -> _Printed:
        """What is printed of a record; _NotPlain unless one is known by that name."""
        blocks = self._blocks.get(name, set())
        if len(blocks) != 1:
            raise _NotPlain
        (block,) = blocks
        return _printed(block)

    def _within(self, printed: list[_Printed], room: list[int]) -> Iterator[StructField]:
        """The members of a struct at their offsets in the record that is printed.

        Args:
            room: how many there may still be.
        """
        for each in printed:
            member = _MEMBER.fullmatch(each.text)
            if member is None or each.is_bits:
                raise _NotPlain
            type_name = _QUALIFIERS.sub("", member["type"])
            counts = [int(count) for count in re.findall(r"\d+", member["counts"])]
            known = _in_words_of_msl(type_name)
            if len(counts) > 1 or counts == [0]:
                raise _NotPlain
            if known:
                room[0] -= 1
                if room[0] < 0:
                    raise _NotPlain
                yield StructField(
                    name=member["name"],
                    type_name=known,
                    count=counts[0] if counts else 1,
                    offset=each.offset,
                )
            elif not _NO_STRUCT.match(type_name):
                yield from self._inner(each, member["name"], type_name, counts, room)
            else:
                raise _NotPlain

    def _inner(
        self, owner: _Printed, name: str, type_name: str, counts: list[int], room: list[int]
    ) -> Iterator[StructField]:
        """The members of a struct in a struct, or of each of several."""
        if not counts and not owner.inner:  # an address, or a number of an enumeration
            raise _NotPlain
        if not counts:
            for each in self._within(owner.inner, room):
                yield replace(each, name=f"{name}.{each.name}")
            return
        record = self._record(type_name)
        for number in range(counts[0]):
            begin = owner.offset + number * record.size
            for each in self._within(record.inner, room):
                yield replace(each, name=f"{name}.{number}.{each.name}", offset=begin + each.offset)


class _NotPlain(Exception):
    """A struct has members that are not described."""


@dataclass(slots=True)
class _Printed:
    """A line of a record that is printed: a member at its byte, and the lines within it."""

    offset: int
    text: str
    is_bits: bool = False
    size: int = 0
    inner: list[_Printed] = field(default_factory=list)


def _printed(block: str) -> _Printed:
    """A record as a tree of its lines. Raises _NotPlain for lines that are not understood."""
    size = _SIZE.search(block)
    stack: list[_Printed] = []
    for text in block[: size.start() if size else None].splitlines():
        line = _LINE.fullmatch(text)
        if line is None:
            if text.strip():
                raise _NotPlain
            continue
        depth = len(line["indent"]) // 2
        one = _Printed(int(line["offset"]), line["text"], line["bits"] is not None)
        if depth > len(stack) or (depth == 0) != (not stack):
            raise _NotPlain
        del stack[depth:]
        if stack:
            stack[-1].inner.append(one)
        stack.append(one)
    if not stack or size is None:
        raise _NotPlain
    stack[0].size = int(size[1])
    return stack[0]


def _in_words_of_msl(type_name: str) -> str:
    """The name of a number, vector or matrix in MSL; "" of anything else."""
    if type_name in _SCALARS:
        return _SCALARS[type_name]
    found = _NUMBERS.fullmatch(type_name)
    scalar = _SCALARS.get(found["of"], "") if found else ""
    if found is None or not scalar:
        return ""
    match found["kind"], found["first"], found["second"]:
        case "vec", str(count), None:
            return f"{scalar}{count}"
        case "packed_vec", str(count), None:
            return f"packed_{scalar}{count}"
        case "matrix", str(columns), str(rows):
            return f"{scalar}{columns}x{rows}"
        case "atomic", None, None:
            return f"atomic<{scalar}>"
    return ""
