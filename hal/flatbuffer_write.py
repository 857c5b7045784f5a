"""Writing FlatBuffers by hand: tables, and vectors of tables, bytes and numbers.

The mirror of `flatbuffer`; a builder is a `flatbuffers.Builder`, an offset of 0 is nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

_ALIGNMENT = 16
"""Of vectors of bytes inside the file."""


def tables(builder: Any, items: Sequence[Any], write: Callable[[Any, Any], int]) -> int:
    """A vector of tables, each written by `write`."""
    offsets = [write(builder, item) for item in items]
    builder.StartVector(4, len(offsets), 4)
    for offset in reversed(offsets):
        builder.PrependUOffsetTRelative(offset)
    return int(builder.EndVector())


def data_of(builder: Any, data: bytes | memoryview) -> int:
    """A vector of bytes."""
    builder.StartVector(1, len(data), _ALIGNMENT)
    head = builder.Head() - len(data)
    builder.head = head
    builder.Bytes[head : head + len(data)] = bytes(data)
    return int(builder.EndVector())


def numbers(builder: Any, items: Sequence[int], size: int) -> int:
    """A vector of numbers of `size` bytes; 0, no vector, for none."""
    if not items:
        return 0
    builder.StartVector(size, len(items), size)
    for item in reversed(items):
        (builder.PrependUint64 if size == 8 else builder.PrependUint32)(item)
    return int(builder.EndVector())


def table(builder: Any, slots: Sequence[tuple[str, int, int]]) -> int:
    """A table from (kind, value, default) per slot; a `table` is an offset, absent when 0."""
    builder.StartObject(len(slots))
    for slot, (kind, value, default) in enumerate(slots):
        if kind == "table":
            if value:
                builder.PrependUOffsetTRelativeSlot(slot, value, 0)
        else:
            getattr(builder, f"Prepend{kind}Slot")(slot, value, default)
    return int(builder.EndObject())
