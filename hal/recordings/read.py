"""Reads recordings; everything that a file says is checked before it is followed."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from .errors import RecordingError
from .records import (
    DISPATCHES,
    FORMAT,
    HEADER,
    PART,
    PARTS,
    VERSION,
    Bytes,
    DispatchRecord,
    Header,
    MemoryRecord,
)
from .texels import length_of

_MOST_HEADER = 256 << 20
_MOST_LINE = 16 << 20
_MOST_CONTENTS = 1 << 36  # bytes of one buffer
_MOST_LEVELS = 32  # of a texture; a Mac's have 15
# What zipfile raises for damaged archives: places of entries may lie before the file.
_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    OSError,
    RuntimeError,
    ValueError,
)


class _Mark(msgspec.Struct):
    """What tells a recording, of any version."""

    format: str
    version: int


class Recording:
    """A recording that is open for reading.

    Attributes:
        header: device, program, libraries, kernels.

    Raises:
        RecordingError: for a file that is no recording, is cut short, damaged, or of a later
            version.
        OSError: if there is no such file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        file = path.open("rb")
        try:
            self._zip = self._opened(file)
            self.header = self._header()
        except BaseException:
            file.close()
            raise
        self._file = file

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._zip.close()
        self._file.close()

    def dispatches(self) -> Iterator[DispatchRecord]:
        """All dispatches in the order in which they ran. Raises RecordingError."""
        try:
            with self._zip.open(self._entry(DISPATCHES)) as lines:
                number = 0
                while line := lines.readline(_MOST_LINE):
                    yield self._dispatch(line, number)
                    number += 1
        except _BROKEN as error:
            raise self._damaged(f"{DISPATCHES} is damaged ({error})") from None

    def contents(self, contents: Bytes) -> bytearray:
        """What a buffer held. Raises RecordingError."""
        if contents.length > _MOST_CONTENTS or len(contents.parts) != -(-contents.length // PART):
            raise self._damaged(
                f"contents of {contents.length} bytes have {len(contents.parts)} parts"
            )
        data = bytearray()
        for number in contents.parts:
            wanted = min(PART, contents.length - len(data))
            part = self._read(f"{PARTS}{number}", PART)
            if len(part) != wanted:
                raise self._damaged(f"{PARTS}{number} has {len(part)} bytes instead of {wanted}")
            data += part
        return data

    def _opened(self, file: io.BufferedReader) -> zipfile.ZipFile:
        start = file.read(4)
        if start[:2] != b"PK":
            raise self._damaged("it is no recording; `assay record` makes them")
        try:
            return zipfile.ZipFile(file)
        except _BROKEN as error:
            raise self._damaged(f"it is cut short or damaged ({error})") from None

    def _header(self) -> Header:
        if HEADER not in self._zip.NameToInfo:
            raise self._damaged(f"it is a ZIP archive without {HEADER}, so no recording")
        data = self._read(HEADER, _MOST_HEADER)
        try:
            mark = msgspec.json.decode(data, type=_Mark)
            if mark.format != FORMAT:
                raise self._damaged(f"{HEADER} is of the format {mark.format!r:.40}")
            if mark.version > VERSION:
                raise self._damaged(
                    f"it is of version {mark.version}, and this Assay reads {VERSION}: update it"
                )
            header = msgspec.json.decode(data, type=Header)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise self._damaged(f"{HEADER}: {error}") from None
        for kernel in header.kernels:
            if kernel.library >= len(header.libraries):
                raise self._damaged(f"kernel {kernel.name!r:.80} is of a library that is not there")
            if any(each >= len(header.kernels) for each in (*kernel.linked, *kernel.private)):
                raise self._damaged(f"kernel {kernel.name!r:.80} links what is not there")
        return header

    def _dispatch(self, line: bytes, number: int) -> DispatchRecord:
        where = f"{DISPATCHES}, line {number + 1}"
        try:
            record = msgspec.json.decode(line, type=DispatchRecord)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise self._damaged(f"{where}: {error}") from None
        if record.kernel >= len(self.header.kernels):
            raise self._damaged(f"{where}: there is no kernel {record.kernel}")
        for memory in record.memories:
            self._check_contents(where, memory)
        for bound in (*record.bound, *(m for each in record.encoded for m in each.members)):
            self._check_memory(where, record, bound.memory, bound.offset, 0)
        for each in record.encoded:
            self._check_memory(where, record, each.memory, each.offset, each.length)
        linked = self.header.kernels[record.kernel].linked
        for table in (*record.tables, *(t for each in record.encoded for t in each.tables)):
            if any(each is not None and each not in linked for each in table.functions):
                raise self._damaged(f"{where}: a table holds a function that is not linked")
        for placed in (*record.textures, *(t for each in record.encoded for t in each.textures)):
            memories = record.memories
            if placed.memory >= len(memories) or memories[placed.memory].texture is None:
                raise self._damaged(f"{where}: memory {placed.memory} is no texture")
        return record

    def _check_contents(self, where: str, memory: MemoryRecord) -> None:
        if memory.after is not None and memory.after.length != memory.before.length:
            raise self._damaged(f"{where}: memory {memory.label!r:.80} changes its size")
        made = memory.texture
        if made is not None and (
            made.levels > _MOST_LEVELS or length_of(made) != memory.before.length or not made.texel
        ):
            raise self._damaged(f"{where}: texture {memory.label!r:.80} is of another size")

    def _check_memory(
        self, where: str, record: DispatchRecord, number: int, offset: int, length: int
    ) -> None:
        if number >= len(record.memories):
            raise self._damaged(f"{where}: there is no memory {number}")
        if record.memories[number].texture is not None:
            raise self._damaged(f"{where}: memory {number} is a texture, not a buffer")
        size = record.memories[number].before.length
        if offset + length > size:
            raise self._damaged(f"{where}: byte {offset + length} of a memory of {size} bytes")

    def _read(self, name: str, most: int) -> bytes:
        entry = self._entry(name)
        if entry.file_size > most:
            raise self._damaged(f"{name} is said to have {entry.file_size} bytes")
        try:
            return self._zip.read(entry)
        except _BROKEN as error:
            raise self._damaged(f"{name} is damaged ({error})") from None

    def _entry(self, name: str) -> zipfile.ZipInfo:
        entry = self._zip.NameToInfo.get(name)
        if entry is None:
            raise self._damaged(f"{name} is missing")
        return entry

    def _damaged(self, why: str) -> RecordingError:
        return RecordingError(f"{self.path}: {why}")
