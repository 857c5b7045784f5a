"""IREE parameter archives (`.irpa`). Facts: `runtime/src/iree/schemas/parameter_archive.h`."""

from __future__ import annotations

import struct

from .ranges import Cursor, Found, Splat

_MAGIC = b"IRPA"
_HEADER = struct.Struct("<4sHHQQQ Q QQ QQ QQ")
_ENTRY = struct.Struct("<QIQ QQ QQ Q")
_SPLAT = struct.Struct("<Q16sB")
_SPLAT_TYPE, _DATA_TYPE = 1, 2


def read_irpa(data: memoryview, name: str) -> dict[str, Found]:
    """Keys and places of an archive, which may be a chain of headers."""
    found: dict[str, Found] = {}
    start = 0
    seen: set[int] = set()
    while start not in seen:
        seen.add(start)
        next_header = _read_header(data, name, start, found)
        if next_header == 0:
            break
        start += next_header
    return found


def _read_header(data: memoryview, name: str, start: int, found: dict[str, Found]) -> int:
    cursor = Cursor(data, name)
    cursor.position = start
    magic, major, minor, _, following, _, count, entries, size, texts, texts_size, store, _ = (
        _HEADER.unpack(cursor.take(_HEADER.size))
    )
    if magic != _MAGIC or major != 0:
        raise cursor.damaged(
            f"the header at {start} says {magic!r} version {major}.{minor}, not b'IRPA' 0.x"
        )
    cursor.position = start + entries
    end = cursor.position + size
    for _ in range(count):
        if cursor.position >= end:
            raise cursor.damaged(f"{count} entries do not fit into {size} bytes")
        entry_start = cursor.position
        entry_size, kind, _, name_at, name_size, _, _, _ = _ENTRY.unpack(cursor.take(_ENTRY.size))
        if name_at + name_size > texts_size:
            raise cursor.damaged(f"the entry at {entry_start} has its name outside the texts")
        if kind in (_SPLAT_TYPE, _DATA_TYPE):
            key_cursor = Cursor(data, name)
            key_cursor.position = start + texts + name_at
            key = str(key_cursor.take(name_size), "utf-8", "replace")
            found[key] = _splat(cursor) if kind == _SPLAT_TYPE else _data(cursor, start + store)
        # Entries are 16-byte aligned; external ones are not ours to resolve.
        cursor.position = entry_start + -(-max(entry_size, _ENTRY.size) // 16) * 16
    return int(following)


def _splat(cursor: Cursor) -> Splat:
    length, pattern, pattern_length = _SPLAT.unpack(cursor.take(_SPLAT.size))
    if not 0 < pattern_length <= 16:
        raise cursor.damaged(f"a splat pattern of {pattern_length} bytes")
    return Splat(length, pattern[:pattern_length])


def _data(cursor: Cursor, storage: int) -> tuple[int, int]:
    return storage + cursor.number("Q"), cursor.number("Q")
