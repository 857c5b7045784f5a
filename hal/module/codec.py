"""Records to FlatBuffer tables and back, by the types of their fields.

A table has a slot for each field of its record, in their order; an instruction takes two, the
number of its kind and the table, as FlatBuffers keep a union.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import fields
from types import UnionType
from typing import Annotated, Any, Final, TypeVar, cast, get_args, get_origin, get_type_hints

from ..flatbuffer import Table
from ..flatbuffer_write import data_of, numbers, table, tables
from .records import INSTRUCTIONS, Instruction

R = TypeVar("R")
_SIZES: Final = {"[int]": 4, "[long]": 8}
_LETTERS: Final = {"[int]": "i", "[long]": "q"}
_MOST_NUMBERS: Final = 4096
"""Of numbers in one vector: references to one long vector would fill the memory."""


def kinds(record: type[Any]) -> tuple[tuple[str, str, type[Any] | None], ...]:
    """(name, how the file keeps it, the record of a vector) of each field of a record.

    Kinds are `int`, `long`, `string`, `[int]`, `[long]`, `[ubyte]`, `[string]`, `[table]` and
    `[union]`.
    """
    return _kinds(cast(Hashable, record))


@functools.cache
def _kinds(record: Hashable) -> tuple[tuple[str, str, type[Any] | None], ...]:
    assert isinstance(record, type)
    hints = get_type_hints(record, include_extras=True)
    return tuple((field.name, *_kind(hints[field.name])) for field in fields(record))


def _kind(hint: Any) -> tuple[str, type[Any] | None]:
    if get_origin(hint) is Annotated:
        return str(get_args(hint)[1]), None
    if hint is str:
        return "string", None
    if hint is bytes:
        return "[ubyte]", None
    item = get_args(hint)[0]
    if item is str:
        return "[string]", None
    if isinstance(item, UnionType):
        return "[union]", None
    return "[table]", item


def encode(builder: Any, record: Any) -> int:
    """The offset of a record's table."""
    slots: list[tuple[str, int, int]] = []
    for name, kind, _ in kinds(type(record)):
        value = getattr(record, name)
        if kind == "int":
            slots.append(("Int32", value, 0))
        elif kind == "long":
            slots.append(("Int64", value, 0))
        else:
            slots.append(("table", _ENCODERS[kind](builder, value), 0))
    return table(builder, slots)


def _numbers(bits: int) -> Callable[[Any, Sequence[int]], int]:
    def write(builder: Any, items: Sequence[int]) -> int:
        return numbers(builder, [item & (1 << bits) - 1 for item in items], bits // 8)

    return write


def _texts(builder: Any, items: Sequence[str]) -> int:
    offsets = [builder.CreateString(item) for item in items]
    builder.StartVector(4, len(offsets), 4)
    for offset in reversed(offsets):
        builder.PrependUOffsetTRelative(offset)
    return int(builder.EndVector())


def _instruction(builder: Any, item: Instruction) -> int:
    number = INSTRUCTIONS.index(type(item)) + 1
    return table(builder, [("Uint8", number, 0), ("table", encode(builder, item), 0)])


_ENCODERS: Final[dict[str, Callable[[Any, Any], int]]] = {
    "string": lambda builder, value: int(builder.CreateString(value)),
    "[int]": _numbers(32),
    "[long]": _numbers(64),
    "[ubyte]": data_of,
    "[string]": _texts,
    "[table]": lambda builder, value: tables(builder, value, encode),
    "[union]": lambda builder, value: tables(builder, value, _instruction),
}


def decode(record: type[R], source: Table) -> R:
    """The record in a table. Raises StatusError for damage."""
    return record(*_values(record, source))


def _values(record: type[Any], source: Table) -> Iterator[Any]:
    for slot, (name, kind, item) in enumerate(kinds(record)):
        if kind == "int":
            yield source.number(slot, "i")
        elif kind == "long":
            yield source.number(slot, "q")
        elif kind == "string":
            yield source.required_text(slot, f"the {name} of a {record.__name__.lower()}")
        elif kind in _LETTERS:
            count = source.vector(slot, _SIZES[kind])[1]
            if count > _MOST_NUMBERS:
                raise source.buffer.damaged(f"{count} numbers as {name} of a {record.__name__}")
            yield source.numbers(slot, _LETTERS[kind])
        elif kind == "[ubyte]":
            yield bytes(source.bytes(slot) or b"")[:_MOST_NUMBERS]
        elif kind == "[string]":
            yield source.texts(slot)
        elif kind == "[union]":
            yield source.tables(slot, _read_instruction)
        else:
            assert item is not None
            yield source.tables(slot, functools.partial(decode, item))


def _read_instruction(source: Table) -> Instruction:
    number = source.number(0, "B")
    operands = source.table(1)
    if not 1 <= number <= len(INSTRUCTIONS) or operands is None:
        raise source.buffer.damaged(f"instruction of unknown kind {number}")
    return decode(INSTRUCTIONS[number - 1], operands)
