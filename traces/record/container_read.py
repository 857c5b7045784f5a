"""Reads `.assay-trace` files, those that a crash left behind too; see `container`."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..events.content import Content, columns_of, joined
from ..events.errors import TraceError, TraceFileError
from ..events.schema import Type
from ..events.trace import Column
from ..events.words import counted
from .container import (
    CHUNK,
    HEADER,
    MAGIC,
    ROWS_HEAD,
    VERSION,
    cause_of,
    clock_of,
    kind_of,
    track_of,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Chunk:
    offset: int
    tag: bytes
    payload: memoryview


def read_container(data: bytes, file: str) -> Content:
    """The content of a file called `file` in messages. Raises TraceFileError.

    A file that ends early gives what its whole chunks hold, `complete` false and a note.
    """
    _check_header(data, file)
    return _Reader(file).read(data)


def _check_header(data: bytes, file: str) -> None:
    if not data.startswith(MAGIC):
        raise TraceFileError(file, 0, f"expected {MAGIC!r}, the first bytes of an Assay trace")
    if len(data) < HEADER.size:
        raise TraceFileError(file, len(data), f"ends inside its header of {HEADER.size} bytes")
    version = HEADER.unpack_from(data)[1]
    if version != VERSION:
        raise TraceFileError(
            file, len(MAGIC), f"version {version} of the format; this Assay reads {VERSION}"
        )


class _Reader:
    def __init__(self, file: str) -> None:
        self._file = file
        self._content: Content | None = None
        self._parts: list[list[dict[str, Column]]] = []
        self._events = 0
        self._done = False

    def read(self, data: bytes) -> Content:
        view = memoryview(data)
        offset = HEADER.size
        notes = []
        while offset < len(view) and not self._done:
            chunk = self._chunk(view, offset)
            if chunk is None:
                notes.append(f"cut off inside the chunk at byte {offset}")
                break
            self._take(chunk)
            offset += CHUNK.size + len(chunk.payload)
        if self._done and offset < len(view):
            raise self._error(offset, "expected the end of the file behind its DONE chunk")
        content = self._content
        if content is None:
            raise self._error(offset, "the file ends before its HEAD chunk: nothing was recorded")
        content.columns = [
            joined(kind, parts) for kind, parts in zip(content.kinds, self._parts, strict=True)
        ]
        content.complete = self._done
        if not self._done:
            saved = counted(self._events, "event")
            notes.append(f"the run did not finish; it saved {saved} before")
        content.notes = notes
        return content

    def _chunk(self, view: memoryview, offset: int) -> _Chunk | None:
        """The chunk at `offset`; None if the file ends inside it or it was not written whole."""
        if offset + CHUNK.size > len(view):
            return None
        tag, length, checksum = CHUNK.unpack_from(view, offset)
        payload = view[offset + CHUNK.size : offset + CHUNK.size + length]
        if len(payload) < length:
            return None
        if zlib.crc32(payload, zlib.crc32(tag)) != checksum:
            rest = view[offset + CHUNK.size + length :]
            if not any(rest):  # a last chunk of which a part never reached the disk
                return None
            raise self._error(
                offset, f"the checksum of chunk {tag!r} is wrong: the file was damaged"
            )
        return _Chunk(offset=offset, tag=tag, payload=payload)

    def _take(self, chunk: _Chunk) -> None:
        takers = {b"HEAD": self._head, b"DEFS": self._definitions, b"DONE": self._finish}
        if chunk.tag in (b"ROWS", b"ROWZ"):
            self._rows(chunk)
        elif chunk.tag in takers:
            try:
                takers[chunk.tag](chunk, json.loads(bytes(chunk.payload)))
            except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
                if isinstance(error, TraceFileError):
                    raise
                name = chunk.tag.decode()
                what = f"no {error} in it" if isinstance(error, KeyError) else str(error)
                raise self._error(chunk.offset, f"chunk {name} is malformed: {what}") from None
        else:
            raise self._error(
                chunk.offset, f"chunk {chunk.tag!r}; there are HEAD, DEFS, ROWS, ROWZ, DONE"
            )

    def _head(self, chunk: _Chunk, value: dict[str, Any]) -> None:
        if self._content is not None:
            raise self._error(chunk.offset, "a second HEAD chunk")
        self._content = Content(
            clock=clock_of(value["clock"]),
            title=str(value["title"]),
            causes=[cause_of(item) for item in value["causes"]],
        )

    def _known(self, chunk: _Chunk) -> Content:
        if self._content is None:
            raise self._error(chunk.offset, "expected the HEAD chunk first")
        return self._content

    def _definitions(self, chunk: _Chunk, value: dict[str, Any]) -> None:
        content = self._known(chunk)
        for item in value["tracks"]:
            track = track_of(item)
            if not -1 <= track.parent < len(content.tracks):
                raise TraceError(f"track {track.name!r} has parent {track.parent}, not yet defined")
            content.tracks.append(track)
        for item in value["kinds"]:
            content.kinds.append(kind_of(item))
            self._parts.append([])
        names = value["names"]
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise TraceError("names must be a list of text")
        content.names.extend(names)

    def _rows(self, chunk: _Chunk) -> None:
        content = self._known(chunk)
        if len(chunk.payload) < ROWS_HEAD.size:
            raise self._error(chunk.offset, "expected the numbers of the kind and of its events")
        number, count = ROWS_HEAD.unpack_from(chunk.payload)
        if number >= len(content.kinds):
            there = len(content.kinds)
            raise self._error(chunk.offset, f"events of kind {number}; {there} are defined")
        columns = columns_of(content.kinds[number])
        size = 8 * count * len(columns)
        body = bytes(chunk.payload[ROWS_HEAD.size :])
        if chunk.tag == b"ROWZ":
            body = self._unpacked(chunk, body, size)
        if len(body) != size:
            raise self._error(
                chunk.offset, f"{len(body)} bytes for {count} events; expected {size}"
            )
        values = np.frombuffer(body, "<i8").reshape(len(columns), count)
        self._parts[number].append(
            {name: _native(values[position], type) for position, (name, type) in enumerate(columns)}
        )
        self._events += count

    def _unpacked(self, chunk: _Chunk, body: bytes, size: int) -> bytes:
        unpacker = zlib.decompressobj()
        try:
            found = unpacker.decompress(body, size + 1)
        except zlib.error as error:
            raise self._error(chunk.offset, f"columns cannot be unpacked: {error}") from None
        return found

    def _finish(self, chunk: _Chunk, value: dict[str, Any]) -> None:
        self._known(chunk)
        if value["events"] != self._events:
            raise self._error(
                chunk.offset, f"{self._events} events before DONE, which says {value['events']}"
            )
        self._done = True

    def _error(self, offset: int, message: str) -> TraceFileError:
        return TraceFileError(self._file, offset, message)


def _native(values: np.ndarray, type: Type) -> Column:
    if type is Type.REAL:
        return values.view("<f8").astype(np.float64, copy=False)
    return values.astype(np.int64, copy=False)
