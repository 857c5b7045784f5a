"""A bounds-checked reader of FlatBuffers: a damaged file gives a clear error, never a crash.

Knows the binary format (tables, vtables, vectors, strings), not any schema.
Format: https://flatbuffers.dev/internals/.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import TypeVar

from .status import StatusError

T = TypeVar("T")


class FlatBuffer:
    """The bytes of one FlatBuffer and what to call it in messages."""

    __slots__ = ("data", "name", "text_budget")

    def __init__(self, data: memoryview, name: str) -> None:
        self.data = data
        self.name = name
        # Many references to one long string would otherwise fill the memory from a small file.
        self.text_budget = 4 * len(data)

    def damaged(self, detail: str) -> StatusError:
        """The error for content that cannot be a FlatBuffer of this kind."""
        return StatusError(
            "INVALID_ARGUMENT", f"{self.name}: damaged or truncated FlatBuffer: {detail}"
        )

    def unpack(self, code: str, position: int) -> int:
        """One little-endian number (`struct` letter) at a byte position; bounds-checked."""
        try:
            return int(struct.unpack_from("<" + code, self.data, position)[0])
        except struct.error as error:
            raise self.damaged(
                f"a read at byte {position} of {len(self.data)} lies outside"
            ) from error

    def follow(self, position: int) -> int:
        """The position that the u32 offset at `position` points to."""
        return position + self.unpack("I", position)

    def root(self, identifier: bytes) -> Table:
        """The root table; the four bytes at offset 4 must be the identifier."""
        if bytes(self.data[4:8]) != identifier:
            found = bytes(self.data[4:8])
            raise self.damaged(f"identifier is {found!r}, expected {identifier!r}")
        return Table(self, self.follow(0))


class Table:
    """One table: its fields by slot number."""

    __slots__ = ("buffer", "position", "vtable", "vtable_size")

    def __init__(self, buffer: FlatBuffer, position: int) -> None:
        self.buffer = buffer
        self.position = position
        self.vtable = position - buffer.unpack("i", position)
        if self.vtable < 0:
            raise buffer.damaged(f"the table at byte {position} has its vtable before the file")
        self.vtable_size = buffer.unpack("H", self.vtable)

    def field(self, slot: int) -> int:
        """The byte position of a field, or 0 if it is absent."""
        entry = 4 + 2 * slot
        if entry + 2 > self.vtable_size:
            return 0
        offset = self.buffer.unpack("H", self.vtable + entry)
        return self.position + offset if offset else 0

    def number(self, slot: int, code: str, default: int = 0) -> int:
        """A scalar field by its `struct` letter."""
        position = self.field(slot)
        return self.buffer.unpack(code, position) if position else default

    def text(self, slot: int) -> str | None:
        """A string field, or None if absent."""
        position = self.field(slot)
        return self._text_at(self.buffer.follow(position)) if position else None

    def required_text(self, slot: int, what: str) -> str:
        """A string field that must be there; `what` names it in the error."""
        text = self.text(slot)
        if text is None:
            raise self.buffer.damaged(f"{what} is missing")
        return text

    def table(self, slot: int) -> Table | None:
        """A table field, or None if absent."""
        position = self.field(slot)
        return Table(self.buffer, self.buffer.follow(position)) if position else None

    def vector(self, slot: int, item_size: int) -> tuple[int, int]:
        """(position of item 0, number of items) of a vector field; (0, 0) if absent."""
        position = self.field(slot)
        if not position:
            return 0, 0
        start = self.buffer.follow(position)
        count = self.buffer.unpack("I", start)
        if start + 4 + count * item_size > len(self.buffer.data):
            raise self.buffer.damaged(
                f"a vector of {count} items at byte {start} runs past the end "
                f"({len(self.buffer.data)} bytes)"
            )
        return start + 4, count

    def bytes(self, slot: int) -> memoryview | None:
        """A vector of bytes as a view, or None if absent."""
        position, count = self.vector(slot, 1)
        return self.buffer.data[position : position + count] if position else None

    def numbers(self, slot: int, code: str) -> tuple[int, ...]:
        """A vector of scalars by their `struct` letter."""
        position, count = self.vector(slot, struct.calcsize("<" + code))
        return struct.unpack_from(f"<{count}{code}", self.buffer.data, position) if count else ()

    def tables(self, slot: int, read: Callable[[Table], T]) -> tuple[T, ...]:
        """A vector of tables, each turned into a value by `read`."""
        position, count = self.vector(slot, 4)
        follow = self.buffer.follow
        return tuple(
            read(Table(self.buffer, follow(position + 4 * index))) for index in range(count)
        )

    def texts(self, slot: int) -> tuple[str, ...]:
        """A vector of strings."""
        position, count = self.vector(slot, 4)
        return tuple(
            self._text_at(self.buffer.follow(position + 4 * index)) for index in range(count)
        )

    def struct(self, slot: int, layout: str) -> tuple[int, ...] | None:
        """An inline struct field, or None if absent."""
        position = self.field(slot)
        if not position:
            return None
        try:
            return struct.unpack_from("<" + layout, self.buffer.data, position)
        except struct.error as error:
            raise self.buffer.damaged(f"a struct at byte {position} lies outside") from error

    def structs(self, slot: int, layout: str) -> tuple[tuple[int, ...], ...]:
        """A vector of inline structs."""
        size = struct.calcsize("<" + layout)
        position, count = self.vector(slot, size)
        view = self.buffer.data[position : position + count * size]
        return tuple(struct.iter_unpack("<" + layout, view)) if count else ()

    def _text_at(self, start: int) -> str:
        length = self.buffer.unpack("I", start)
        self.buffer.text_budget -= length
        if start + 4 + length > len(self.buffer.data) or self.buffer.text_budget < 0:
            raise self.buffer.damaged(f"a string of {length} bytes at byte {start} runs past it")
        try:
            return str(self.buffer.data[start + 4 : start + 4 + length], "utf-8")
        except UnicodeDecodeError as error:
            raise self.buffer.damaged(f"a string at byte {start} is not UTF-8") from error
