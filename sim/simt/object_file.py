"""Looks into object files: which functions the code expects to find elsewhere."""

from __future__ import annotations

import struct

_ELF64_LITTLE = b"\x7fELF\x02\x01"
_SYMBOL_TABLE = 2
_UNDEFINED = 0


def undefined_symbols(data: bytes) -> list[str]:
    """Names that an ELF object file refers to and does not define; empty for other formats."""
    if not data.startswith(_ELF64_LITTLE):
        return []
    (sections_at,) = struct.unpack_from("<Q", data, 0x28)
    size, count = struct.unpack_from("<HH", data, 0x3A)
    names: list[str] = []
    for number in range(count):
        at = sections_at + number * size
        kind, _, _, offset, length, link = struct.unpack_from("<IQQQQI", data, at + 4)
        if kind == _SYMBOL_TABLE:
            strings_at = sections_at + link * size
            (strings,) = struct.unpack_from("<Q", data, strings_at + 0x18)
            names += _undefined_in(data, offset, length, strings)
    return names


def _undefined_in(data: bytes, offset: int, length: int, strings: int) -> list[str]:
    names = []
    for at in range(offset, offset + length, 24):
        name, _, _, section = struct.unpack_from("<IBBH", data, at)
        if name and section == _UNDEFINED:
            start = strings + name
            names.append(data[start : data.index(b"\0", start)].decode())
    return names
