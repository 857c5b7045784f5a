"""Contents of buffers: parts of many of them packed together, in blocks that unpack alone."""

from __future__ import annotations

import io
import zlib
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from .chunks import DATA, LAST, Chunk, Unpacked, chunk
from .errors import RecordingError
from .records import PART

BLOCK: Final = 1 << 20
"""Bytes after which a block ends, with the part that it has then."""
LEVEL: Final = 6
_KEPT = 8  # blocks that stay unpacked


class ContentsWriter:
    """Packs parts into blocks, and passes chunks on to `write`."""

    def __init__(self, write: Callable[[bytes], None]) -> None:
        self._write = write
        self._start()

    def add(self, part: memoryview) -> None:
        """Take a part."""
        self._packed.append(self._stream.compress(part))
        self._waiting += len(part)
        self._length += len(part)
        if self._length >= BLOCK:
            self._end(LAST, zlib.Z_FINISH)
            self._start()

    def flush(self) -> None:
        """Pass on all that was taken."""
        if self._waiting:
            self._end(DATA, zlib.Z_SYNC_FLUSH)

    def close(self) -> None:
        """Pass on all that was taken; the last block has its end."""
        if self._length:
            self._end(LAST, zlib.Z_FINISH)

    def _start(self) -> None:
        self._stream = zlib.compressobj(LEVEL)
        self._packed: list[bytes] = []
        self._waiting = 0  # bytes of parts that no chunk has
        self._length = 0  # of the block

    def _end(self, tag: bytes, how: int) -> None:
        self._packed.append(self._stream.flush(how))
        self._write(chunk(tag, b"".join(self._packed), self._waiting))
        self._packed, self._waiting = [], 0


@dataclass(frozen=True, slots=True)
class _Block:
    start: int  # among the bytes of all blocks
    pieces: Sequence[Chunk]

    @property
    def length(self) -> int:
        return sum(each.unpacked for each in self.pieces)


class ContentsReader:
    """Finds parts in blocks.

    Raises:
        RecordingError: where parts lie in no block.
    """

    def __init__(
        self, file: io.BufferedReader, pieces: Sequence[Chunk], lengths: Sequence[int]
    ) -> None:
        self._file = file
        self._lengths = lengths
        self._starts = list(accumulate(lengths, initial=0))
        self._blocks = list(_blocks(pieces))
        self._firsts = [each.start for each in self._blocks]
        self._unpacked: OrderedDict[int, bytes] = OrderedDict()
        if any(not 0 < each <= PART for each in lengths):
            raise RecordingError("a part has no length that parts have")
        end = sum(each.length for each in self._blocks)
        if self._starts[-1] > end:
            raise RecordingError(f"its parts have {self._starts[-1]} bytes, its blocks {end}")

    def part(self, number: int) -> memoryview:
        """The bytes of a part. Raises RecordingError."""
        if number >= len(self._lengths):
            raise RecordingError(f"part {number} is missing")
        length = self._lengths[number]
        block = bisect_right(self._firsts, self._starts[number]) - 1
        data = self._block(block)
        start = self._starts[number] - self._firsts[block]
        if start + length > len(data):
            raise RecordingError(f"part {number} of {length} bytes lies in two blocks")
        return memoryview(data)[start : start + length]

    def _block(self, number: int) -> bytes:
        if number in self._unpacked:
            self._unpacked.move_to_end(number)
            return self._unpacked[number]
        stream = Unpacked(self._file)
        data = b"".join(map(stream.piece, self._blocks[number].pieces))
        self._unpacked[number] = data
        if len(self._unpacked) > _KEPT:
            self._unpacked.popitem(last=False)
        return data


def _blocks(pieces: Sequence[Chunk]) -> Sequence[_Block]:
    found: list[_Block] = []
    start, begun = 0, list[Chunk]()
    for each in pieces:
        begun.append(each)
        if each.tag == LAST:
            found.append(_Block(start, begun))
            start, begun = start + found[-1].length, []
    if begun:
        found.append(_Block(start, begun))
    if any(block.length >= BLOCK + PART for block in found):
        raise RecordingError("a block is longer than blocks are")
    return found
