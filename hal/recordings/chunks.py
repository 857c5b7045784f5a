"""The file of a recording: append-only chunks, each with its lengths and checksums.

A file is a header of 12 bytes and chunks. All numbers are little-endian.

* header: `MAGIC` (8 bytes), version (u32);
* chunk: tag (4 bytes), length of the payload (u32), length once it is unpacked (u32), CRC-32 of the
  payload (u32), CRC-32 of these 16 bytes (u32), payload.

| tag | payload |
|---|---|
| `HEAD` | JSON: device, program; the first chunk |
| `DATA` | a piece of a block of contents, which is one stream of zlib's |
| `LAST` | the last piece of a block |
| `NEWS` | MessagePack, `news.News`: what was recorded since the last one; one stream of zlib's |
| `DONE` | JSON: how many dispatches there are; the last chunk of a recording that was finished |

What `NEWS` refers to lies before it, so a file without `DONE`, which is what a killed process left,
is good up to its last whole `NEWS`.
"""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from .errors import RecordingError

MAGIC: Final = b"\x89ASYREC\n"
HEADER: Final = struct.Struct("<8sI")
HEAD: Final = b"HEAD"
DATA: Final = b"DATA"
LAST: Final = b"LAST"
NEWS: Final = b"NEWS"
DONE: Final = b"DONE"
MOST: Final = 256 << 20
"""Bytes of a chunk's payload, packed or not."""

_CHUNK = struct.Struct("<4sIII")
_CHECK = struct.Struct("<I")
_TAGS = frozenset((HEAD, DATA, LAST, NEWS, DONE))


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """Where a chunk lies.

    Attributes:
        start, length: of its payload, in bytes of the file.
        unpacked: bytes of the payload once it is unpacked.
        check: CRC-32 of the payload.
    """

    tag: bytes
    start: int
    length: int
    unpacked: int
    check: int


def chunk(tag: bytes, payload: bytes, unpacked: int) -> bytes:
    """The bytes of a chunk."""
    head = _CHUNK.pack(tag, len(payload), unpacked, zlib.crc32(payload))
    return head + _CHECK.pack(zlib.crc32(head)) + payload


def chunks(file: io.BufferedReader) -> Iterator[Chunk]:
    """All whole chunks from where the file stands; payloads are not read.

    Raises:
        RecordingError: for a chunk whose header is damaged.
    """
    start = file.tell()
    size = file.seek(0, io.SEEK_END)
    whole = _CHUNK.size + _CHECK.size
    while start + whole <= size:
        file.seek(start)
        head, (check,) = file.read(_CHUNK.size), _CHECK.unpack(file.read(_CHECK.size))
        tag, length, unpacked, payload = _CHUNK.unpack(head)
        if zlib.crc32(head) != check or tag not in _TAGS or max(length, unpacked) > MOST:
            raise RecordingError(f"the chunk at byte {start} is damaged")
        start += whole
        if start + length > size:
            return
        yield Chunk(tag=tag, start=start, length=length, unpacked=unpacked, check=payload)
        start += length


def payload_of(file: io.BufferedReader, found: Chunk) -> bytes:
    """The payload of a chunk. Raises RecordingError if it is damaged."""
    file.seek(found.start)
    data = file.read(found.length)
    if len(data) != found.length or zlib.crc32(data) != found.check:
        raise RecordingError(f"the chunk {found.tag.decode()} at byte {found.start} is damaged")
    return data


class Unpacked:
    """A stream of zlib's that lies in the payloads of several chunks."""

    def __init__(self, file: io.BufferedReader) -> None:
        self._file = file
        self._stream = zlib.decompressobj()

    def piece(self, found: Chunk) -> bytes:
        """What the next chunk of the stream has, unpacked. Raises RecordingError."""
        packed = payload_of(self._file, found)
        try:
            data = self._stream.decompress(packed, found.unpacked + 1)
        except zlib.error as error:
            raise RecordingError(
                f"the chunk {found.tag.decode()} at byte {found.start} is damaged ({error})"
            ) from None
        if len(data) != found.unpacked or self._stream.unconsumed_tail:
            raise RecordingError(
                f"the chunk {found.tag.decode()} at byte {found.start} has not the "
                f"{found.unpacked} bytes that it is said to have"
            )
        return data
