"""Reads recordings; everything that a file says is checked before it is followed."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from .chunks import DATA, DONE, HEAD, HEADER, LAST, MAGIC, NEWS, Chunk, Unpacked, chunks, payload_of
from .contents import ContentsReader
from .errors import RecordingError
from .news import News, RowsReader
from .records import (
    PART,
    VERSION,
    Bytes,
    Count,
    DeviceInfo,
    DispatchRecord,
    Header,
    KernelRecord,
    LibraryRecord,
    MemoryRecord,
)
from .texels import length_of

_MOST_CONTENTS = 1 << 36  # bytes of one buffer
_MOST_LEVELS = 32  # of a texture; a Mac's have 15
_NOT_PLAIN = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


class _Head(msgspec.Struct):
    device: DeviceInfo
    program: str


class _Done(msgspec.Struct):
    dispatches: Count


class Recording:
    """A recording that is open for reading.

    Attributes:
        header: device, program, libraries, kernels.
        count: how many dispatches it has.
        is_complete: whether its end is there; if not, what recorded it was killed, or the file is
            cut short, and it has what was written until then.

    Raises:
        RecordingError: for a file that is no recording, is damaged, or of another version.
        OSError: if there is no such file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = path.open("rb")
        try:
            self._open()
        except RecordingError as error:
            self._file.close()
            raise RecordingError(f"{path}: {error}") from None
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    def dispatches(self) -> Iterator[DispatchRecord]:
        """All dispatches in the order in which they ran. Raises RecordingError."""
        rows, number = RowsReader(), 0
        try:
            for news in self._all_news():
                for dispatch in rows.dispatches(news):
                    self._check(dispatch)
                    yield dispatch
                    number += 1
        except RecordingError as error:
            raise RecordingError(f"{self.path}: dispatch {number}: {error}") from None

    def contents(self, contents: Bytes) -> bytearray:
        """What a buffer held. Raises RecordingError."""
        try:
            return self._contents_of(contents)
        except RecordingError as error:
            raise RecordingError(f"{self.path}: {error}") from None

    def _contents_of(self, contents: Bytes) -> bytearray:
        if contents.length > _MOST_CONTENTS or len(contents.parts) != -(-contents.length // PART):
            raise RecordingError(
                f"contents of {contents.length} bytes have {len(contents.parts)} parts"
            )
        data = bytearray()
        for number in contents.parts:
            wanted = min(PART, contents.length - len(data))
            part = self._parts.part(number)
            if len(part) != wanted:
                raise RecordingError(f"part {number} has {len(part)} bytes instead of {wanted}")
            data += part
        return data

    def _open(self) -> None:
        self._check_kind()
        found = list(chunks(self._file))
        if not found or found[0].tag != HEAD:
            raise RecordingError("it is cut short: there is nothing in it")
        pieces = [each for each in found if each.tag in (DATA, LAST)]
        self._news_chunks = [each for each in found if each.tag == NEWS]
        lengths = self._read_header(found[0])
        self._parts = ContentsReader(self._file, pieces, lengths)
        self.is_complete = self._check_end(found)

    def _check_kind(self) -> None:
        start = self._file.read(HEADER.size)
        if start[:2] == b"PK":
            raise RecordingError(_archive(self._file))
        if start[: len(MAGIC)] != MAGIC:
            raise RecordingError("it is no recording; `assay record` makes them")
        if len(start) < HEADER.size:
            raise RecordingError("it is cut short: there is nothing in it")
        _, version = HEADER.unpack(start)
        if version != VERSION:
            raise RecordingError(_of_version(version))

    def _read_header(self, head: Chunk) -> list[int]:
        """Read what is said once; the lengths of all parts."""
        try:
            made = msgspec.json.decode(payload_of(self._file, head), type=_Head)
        except _NOT_PLAIN as error:
            raise RecordingError(f"its head is damaged ({error})") from None
        lengths: list[int] = []
        libraries: list[LibraryRecord] = []
        kernels: list[KernelRecord] = []
        left_out: dict[str, int] = {}
        self.count = 0
        for news in self._all_news():
            lengths += news.parts
            libraries += news.libraries
            kernels += news.kernels
            self.count += len(news.rows)
            for reason, count in news.left_out.items():
                left_out[reason] = left_out.get(reason, 0) + count
        self.header = Header(
            device=made.device,
            program=made.program,
            libraries=tuple(libraries),
            kernels=tuple(kernels),
            left_out=left_out,
        )
        self._check_header()
        return lengths

    def _all_news(self) -> Iterator[News]:
        stream = Unpacked(self._file)
        for each in self._news_chunks:
            try:
                yield msgspec.msgpack.decode(stream.piece(each), type=News)
            except _NOT_PLAIN as error:
                raise RecordingError(
                    f"the chunk at byte {each.start} is damaged ({error})"
                ) from None

    def _check_header(self) -> None:
        kernels = self.header.kernels
        for kernel in kernels:
            if kernel.library >= len(self.header.libraries):
                raise RecordingError(
                    f"kernel {kernel.name!r:.80} is of a library that is not there"
                )
            if any(each >= len(kernels) for each in (*kernel.linked, *kernel.private)):
                raise RecordingError(f"kernel {kernel.name!r:.80} links what is not there")

    def _check_end(self, found: list[Chunk]) -> bool:
        """Whether the file has its end, which must be the truth."""
        ends = [number for number, each in enumerate(found) if each.tag == DONE]
        if not ends:
            return False
        end = found[ends[0]]
        if ends[0] < len(found) - 1 or end.start + end.length < self._file.seek(0, io.SEEK_END):
            raise RecordingError("it goes on behind its end")
        try:
            done = msgspec.json.decode(payload_of(self._file, end), type=_Done)
        except _NOT_PLAIN as error:
            raise RecordingError(f"its end is damaged ({error})") from None
        if done.dispatches != self.count:
            raise RecordingError(f"it has {self.count} dispatches instead of {done.dispatches}")
        return True

    def _check(self, record: DispatchRecord) -> None:
        """Raises RecordingError for a dispatch that refers to what is not there."""
        if record.kernel >= len(self.header.kernels):
            raise RecordingError(f"there is no kernel {record.kernel}")
        for memory in record.memories:
            _check_contents(memory)
        for bound in (*record.bound, *(m for each in record.encoded for m in each.members)):
            _check_memory(record, bound.memory, bound.offset, 0)
        for each in record.encoded:
            _check_memory(record, each.memory, each.offset, each.length)
        linked = self.header.kernels[record.kernel].linked
        for table in (*record.tables, *(t for each in record.encoded for t in each.tables)):
            if any(each is not None and each not in linked for each in table.functions):
                raise RecordingError("a table holds a function that is not linked")
        for placed in (*record.textures, *(t for each in record.encoded for t in each.textures)):
            memories = record.memories
            if placed.memory >= len(memories) or memories[placed.memory].texture is None:
                raise RecordingError(f"memory {placed.memory} is no texture")


def _check_contents(memory: MemoryRecord) -> None:
    if memory.after is not None and memory.after.length != memory.before.length:
        raise RecordingError(f"memory {memory.label!r:.80} changes its size")
    made = memory.texture
    if made is not None and (
        made.levels > _MOST_LEVELS or length_of(made) != memory.before.length or not made.texel
    ):
        raise RecordingError(f"texture {memory.label!r:.80} is of another size")


def _check_memory(record: DispatchRecord, number: int, offset: int, length: int) -> None:
    if number >= len(record.memories):
        raise RecordingError(f"there is no memory {number}")
    if record.memories[number].texture is not None:
        raise RecordingError(f"memory {number} is a texture, not a buffer")
    size = record.memories[number].before.length
    if offset + length > size:
        raise RecordingError(f"byte {offset + length} of a memory of {size} bytes")


def _archive(file: io.BufferedReader) -> str:
    """What a ZIP archive is; recordings of versions 1 and 2 were some."""
    try:
        names = zipfile.ZipFile(file).namelist()
    except (zipfile.BadZipFile, NotImplementedError, OSError, ValueError, EOFError) as error:
        return f"it is no recording, but a damaged ZIP archive ({error})"
    if "recording.json" in names:
        return _of_version(2)
    return "it is a ZIP archive, so no recording"


def _of_version(version: int) -> str:
    if version > VERSION:
        return f"it is of version {version}, and this Assay reads {VERSION}: update it"
    return f"it is of version {version} or older, and this Assay reads {VERSION}: record it anew"
