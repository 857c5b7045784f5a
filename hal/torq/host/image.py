"""Shared objects for aarch64 Linux, read without trusting any of them.

What is needed of the ELF format: segments, the dynamic section, functions by name, relocations.
Source: the ELF for the Arm 64-bit Architecture (AAELF64), and the System V gABI.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...status import StatusError

PAGE = 4096
EXECUTABLE, WRITABLE = 1, 2
_AARCH64 = 183
_SHARED_OBJECT = 3
_HEADER = 64
_PROGRAM_HEADER = 56
_MOST_HEADERS = 64
_LOAD, _DYNAMIC, _THREAD_LOCAL = 1, 2, 7
_LARGEST = 1 << 26
"""Bytes of an image in memory."""
_MOST_SYMBOLS = 1 << 16
_SYMBOL = 24
_RELOCATION = 24
_FUNCTION_TYPES = (0, 2)
"""STT_NOTYPE, as assemblers leave it, and STT_FUNC."""
# Tags of the dynamic section.
_PLT_BYTES, _HASH, _STRINGS, _SYMBOLS, _RELA, _RELA_BYTES = 2, 4, 5, 6, 7, 8
_STRINGS_BYTES, _INIT, _PLT, _INIT_ARRAY_BYTES = 10, 12, 23, 27
_GNU_HASH = 0x6FFFFEF5
# Relocations.
_ABS64, _GLOB_DAT, _JUMP_SLOT, _RELATIVE = 257, 1025, 1026, 1027


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """Pages of an image that may be read, and perhaps written or executed."""

    start: int
    stop: int
    flags: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """A shared object as it is in memory at `base`, all places relative to that.

    `functions` are those that others may call.
    """

    memory: bytes = field(repr=False)
    segments: tuple[Segment, ...]
    functions: Mapping[str, int]


def read_image(data: bytes | memoryview, base: int, imports: Mapping[str, int], name: str) -> Image:
    """An image for address `base`, linked with functions at the addresses of `imports`.

    Raises StatusError for damage, for code of another processor, and for imports there are not.
    """
    return _Reader(bytes(data), name).image(base, imports)


class _Reader:
    def __init__(self, data: bytes, name: str) -> None:
        self.data = data
        self.name = name
        self.memory = bytearray()
        self.dynamic: dict[int, int] = {}

    def damaged(self, detail: str) -> StatusError:
        return StatusError("INVALID_ARGUMENT", f"{self.name}: host code: {detail}")

    def unpack(self, layout: str, data: bytes | bytearray, place: int) -> tuple[Any, ...]:
        try:
            return struct.unpack_from("<" + layout, data, place)
        except (struct.error, OverflowError) as error:
            raise self.damaged(f"it is cut short at byte {place:#x}") from error

    def image(self, base: int, imports: Mapping[str, int]) -> Image:
        segments = tuple(self.load())
        symbols = self.symbols()
        missing = [name for name, value, defined in symbols if not defined and name not in imports]
        wanted = [name for name in missing if name]
        if wanted:
            raise StatusError(
                "UNIMPLEMENTED",
                f"{self.name}: host code needs {', '.join(sorted(set(wanted)))}; there is only "
                f"{', '.join(imports)}",
            )
        places = [
            base + value if defined else imports.get(name, 0) for name, value, defined in symbols
        ]
        self.relocate(base, places)
        functions = {name: value for name, value, defined in symbols if defined and name}
        return Image(memory=bytes(self.memory), segments=segments, functions=functions)

    def load(self) -> Iterator[Segment]:
        """Copies segments to their places. Gives them by pages."""
        if self.data[:6] != b"\x7fELF\x02\x01":
            raise self.damaged("it is no ELF file of 64 bits, little-endian")
        kind, machine = self.unpack("HH", self.data, 16)
        if machine != _AARCH64 or kind != _SHARED_OBJECT:
            raise self.damaged(f"it is no shared object for aarch64 (machine {machine})")
        (at,), (size, count) = self.unpack("Q", self.data, 32), self.unpack("HH", self.data, 54)
        if size != _PROGRAM_HEADER or not 0 < count <= _MOST_HEADERS:
            raise self.damaged(f"it has {count} program headers of {size} bytes")
        for number in range(count):
            kind, flags, offset, address, _, stored, needed, _ = self.unpack(
                "IIQQQQQQ", self.data, at + number * size
            )
            if kind == _THREAD_LOCAL and needed:
                raise self.damaged("it has variables of threads, which are not emulated")
            if kind == _DYNAMIC:
                self.read_dynamic(offset, stored)
            if kind == _LOAD:
                yield self.segment(flags, offset, address, stored, needed)

    def segment(self, flags: int, offset: int, address: int, stored: int, needed: int) -> Segment:
        if address + needed > _LARGEST or stored > needed:
            raise self.damaged(f"a segment of {needed:,} bytes at {address:#x} is too large")
        part = self.data[offset : offset + stored]
        if len(part) != stored:
            raise self.damaged(f"it is cut short: a segment ends at byte {offset + stored:#x}")
        stop = -(-(address + needed) // PAGE) * PAGE
        self.memory += bytes(max(0, stop - len(self.memory)))
        self.memory[address : address + stored] = part
        return Segment(start=address // PAGE * PAGE, stop=stop, flags=flags)

    def read_dynamic(self, offset: int, size: int) -> None:
        for place in range(offset, min(offset + size, len(self.data) - 15), 16):
            tag, value = self.unpack("QQ", self.data, place)
            if not tag:
                break
            self.dynamic.setdefault(tag, value)
        if self.dynamic.get(_INIT) or self.dynamic.get(_INIT_ARRAY_BYTES):
            raise self.damaged("it has code that runs when it is loaded, which is not emulated")

    def symbols(self) -> list[tuple[str, int, bool]]:
        """(name, value, whether it is defined) of all; names of data are left out."""
        if _SYMBOLS not in self.dynamic or _STRINGS not in self.dynamic:
            raise self.damaged("it has no symbols")
        start, strings = self.dynamic[_SYMBOLS], self.dynamic[_STRINGS]
        text = bytes(self.memory[strings : strings + self.dynamic.get(_STRINGS_BYTES, 0)])
        found = []
        for number in range(self.symbol_count()):
            place, info, _, section, value, _ = self.unpack(
                "IBBHQQ", self.memory, start + number * _SYMBOL
            )
            name = text[place : max(place, text.find(b"\0", place))].decode("utf-8", "replace")
            is_function = info & 15 in _FUNCTION_TYPES
            found.append((name if is_function else "", value, section != 0))
        return found

    def symbol_count(self) -> int:
        """As hash tables tell: nothing else does."""
        if _HASH in self.dynamic:
            _, count = self.unpack("II", self.memory, self.dynamic[_HASH])
        elif _GNU_HASH in self.dynamic:
            count = self.count_by_gnu_hash(self.dynamic[_GNU_HASH])
        else:
            raise self.damaged("it has no hash table of symbols")
        if count > _MOST_SYMBOLS:
            raise self.damaged(f"it has {count} symbols")
        return int(count)

    def count_by_gnu_hash(self, at: int) -> int:
        """The last symbol of the last chain; the lowest bit of a hash closes its chain."""
        buckets, first, words, _ = self.unpack("IIII", self.memory, at)
        if buckets > _MOST_SYMBOLS or words > _MOST_SYMBOLS:
            raise self.damaged("its hash table of symbols is too large")
        start = at + 16 + 8 * words
        last = max(self.unpack(f"{buckets}I", self.memory, start), default=0)
        if last < first:
            return int(first)
        chains = start + 4 * buckets
        while not self.unpack("I", self.memory, chains + 4 * (last - first))[0] & 1:
            last += 1
        return int(last) + 1

    def relocate(self, base: int, places: list[int]) -> None:
        tables = ((_RELA, _RELA_BYTES), (_PLT, _PLT_BYTES))
        for start, size in ((self.dynamic.get(a), self.dynamic.get(b, 0)) for a, b in tables):
            if start is None:
                continue
            for at in range(start, start + min(size, len(self.memory)), _RELOCATION):
                offset, info, addend = self.unpack("QQq", self.memory, at)
                self.put(offset, self.value(info, addend, base, places))

    def value(self, info: int, addend: int, base: int, places: list[int]) -> int:
        kind, symbol = info & 0xFFFFFFFF, info >> 32
        if kind == _RELATIVE:
            return base + addend
        if kind not in (_ABS64, _GLOB_DAT, _JUMP_SLOT):
            raise self.damaged(f"it has a relocation of kind {kind}, which is not known here")
        if symbol >= len(places):
            raise self.damaged(f"a relocation is of symbol {symbol} of {len(places)}")
        return places[symbol] + addend

    def put(self, offset: int, value: int) -> None:
        if offset + 8 > len(self.memory):
            raise self.damaged(f"a relocation is of byte {offset:#x}, outside of it")
        struct.pack_into("<Q", self.memory, offset, value & 0xFFFFFFFFFFFFFFFF)
