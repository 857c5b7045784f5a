"""Looks into object files: which functions the code expects to find elsewhere."""

from __future__ import annotations

import struct

_ELF64_LITTLE = b"\x7fELF\x02\x01"
_ELF_SYMBOL_TABLE = 2
_MACH_O_64_LITTLE = b"\xcf\xfa\xed\xfe"
_MACH_O_SYMBOL_TABLE = 2
_MACH_O_HEADER_SIZE = 32


def undefined_symbols(data: bytes) -> list[str]:
    """Names that an ELF (Linux) or Mach-O (macOS) object file refers to and does not define.

    Names are those of C, without the underscore that Mach-O puts in front.

    Raises:
        ValueError: for another kind of file.
    """
    if data.startswith(_ELF64_LITTLE):
        return _of_elf(data)
    if data.startswith(_MACH_O_64_LITTLE):
        return _of_mach_o(data)
    raise ValueError("neither an ELF nor a Mach-O object file of 64 bits, little-endian")


def _of_elf(data: bytes) -> list[str]:
    (sections_at,) = struct.unpack_from("<Q", data, 0x28)
    size, count = struct.unpack_from("<HH", data, 0x3A)
    names: list[str] = []
    for number in range(count):
        at = sections_at + number * size
        kind, _, _, offset, length, link = struct.unpack_from("<IQQQQI", data, at + 4)
        if kind == _ELF_SYMBOL_TABLE:
            strings_at = sections_at + link * size
            (strings,) = struct.unpack_from("<Q", data, strings_at + 0x18)
            for symbol in range(offset, offset + length, 24):
                name, _, _, section = struct.unpack_from("<IBBH", data, symbol)
                if name and section == 0:
                    names.append(_string(data, strings + name))
    return names


def _of_mach_o(data: bytes) -> list[str]:
    (commands,) = struct.unpack_from("<I", data, 16)
    names: list[str] = []
    at = _MACH_O_HEADER_SIZE
    for _ in range(commands):
        command, length = struct.unpack_from("<II", data, at)
        if command == _MACH_O_SYMBOL_TABLE:
            symbols, count, strings = struct.unpack_from("<III", data, at + 8)
            for symbol in range(symbols, symbols + 16 * count, 16):
                name, kind = struct.unpack_from("<IB", data, symbol)
                if kind & 0x0F == 1:  # external, in no section
                    names.append(_string(data, strings + name).removeprefix("_"))
        at += length
    return names


def _string(data: bytes, start: int) -> str:
    return data[start : data.index(b"\0", start)].decode()
