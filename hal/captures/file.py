"""The file: a header, then records with payloads; nothing that it says is followed unchecked."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from struct import Struct
from types import TracebackType
from typing import Final, Self

from .codes import MAGIC, OPTIONAL, VERSION, RecordKind
from .errors import CaptureError

SUFFIX: Final = ".ireereplay"
_FILE: Final = Struct("<IHHIIQ")
_RECORD: Final = Struct("<7QIHH5I4xQ")


@dataclass(frozen=True, slots=True)
class Record:
    """One call, or one object that came of a call.

    Attributes:
        offset: its place in the file.
        operation: the number of what was called; 0 if it is no call.
        subject: the object that was called.
        related: the object that was made, or is the call's other one.
        status: IREE's code of what the call gave back, 0 for success.
        payload_kind: how the payload is to be read.
    """

    offset: int
    kind: int
    operation: int
    subject: int
    related: int
    status: int
    payload_kind: int
    payload: memoryview


class Capture:
    """A capture that is open for reading.

    Raises:
        CaptureError: for a file that is none, is cut short, damaged, or of another version.
        OSError: if it cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with path.open("rb") as file:
            try:
                self._map: mmap.mmap | bytes = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            except ValueError:  # empty
                self._map = b""
        self._start = self._header()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._map = b""  # unmapped when the last payload goes

    def records(self) -> Iterator[Record]:
        """All records, in the order in which they were written. Raises CaptureError."""
        data, offset = memoryview(self._map), self._start
        while offset < len(data):
            if len(data) - offset < _RECORD.size:
                raise self._damaged(offset, "a record's header is cut short")
            fields = _RECORD.unpack_from(data, offset)
            length, payload_length, header_length = fields[0], fields[1], fields[7]
            if header_length < _RECORD.size or length != header_length + payload_length:
                raise self._damaged(offset, f"a record of {length} bytes has wrong lengths")
            if length > len(data) - offset:
                raise self._damaged(offset, f"a record of {length} bytes is cut short")
            kind, flags = fields[8], fields[9]
            if kind in tuple(RecordKind):
                yield Record(
                    offset=offset,
                    kind=kind,
                    operation=fields[12],
                    subject=fields[5],
                    related=fields[6],
                    status=fields[13],
                    payload_kind=fields[10],
                    payload=data[offset + header_length : offset + length],
                )
            elif not flags & OPTIONAL:
                raise self._damaged(offset, f"records of kind {kind} are not known")
            offset += length

    def _header(self) -> int:
        """Where records begin."""
        if len(self._map) < _FILE.size:
            raise CaptureError(f"{self.path}: this is no capture of IREE's: it is too short")
        magic, major, minor, header_length, _, length = _FILE.unpack_from(self._map)
        if magic != MAGIC:
            raise CaptureError(f"{self.path}: this is no capture of IREE's")
        if major != VERSION:
            raise CaptureError(
                f"{self.path}: captures of version {major}.{minor} cannot be read, only those of "
                f"version {VERSION}"
            )
        if length == 0:
            raise CaptureError(
                f"{self.path}: the capture was not closed: the program that wrote it did not end"
            )
        if length != len(self._map) or not _FILE.size <= header_length <= length:
            raise CaptureError(
                f"{self.path}: the capture is damaged: it has {len(self._map)} bytes and says "
                f"{length}"
            )
        return int(header_length)

    def _damaged(self, offset: int, why: str) -> CaptureError:
        return CaptureError(f"{self.path}: the capture is damaged at byte {offset}: {why}")
