"""Writes `.assay-trace` files: batch by batch while something runs, or a finished trace at once."""

from __future__ import annotations

from pathlib import Path
from typing import IO

from ..events.content import Content, columns_of
from ..events.errors import TraceError
from ..events.trace import Column
from .container import head_json, header, json_chunk, kind_json, rows_chunk, track_json


class ChunkWriter:
    """Writes chunks, before each the definitions that are new since the last."""

    def __init__(self, stream: IO[bytes], content: Content, *, packed: bool = False) -> None:
        self._stream = stream
        self._content = content
        self._packed = packed
        self._tracks = self._kinds = self._names = 0
        self._events = 0
        stream.write(header())
        stream.write(json_chunk(b"HEAD", head_json(content.title, content.clock, content.causes)))

    def rows(self, kind: int, columns: dict[str, Column]) -> None:
        """Write events of a kind."""
        self.definitions()
        declared = self._content.kinds[kind]
        self._stream.write(rows_chunk(kind, declared, columns, packed=self._packed))
        self._events += len(columns[columns_of(declared)[0][0]])

    def definitions(self) -> None:
        """Write tracks, kinds and names that are new."""
        content = self._content
        new = {
            "tracks": [track_json(track) for track in content.tracks[self._tracks :]],
            "kinds": [kind_json(kind) for kind in content.kinds[self._kinds :]],
            "names": content.names[self._names :],
        }
        if any(new.values()):
            self._stream.write(json_chunk(b"DEFS", new))
        self._tracks, self._kinds = len(content.tracks), len(content.kinds)
        self._names = len(content.names)

    def done(self) -> None:
        """Say that the recording is whole."""
        self.definitions()
        self._stream.write(json_chunk(b"DONE", {"events": self._events}))


class Spill:
    """A file that a recorder writes to while something runs; each batch reaches the system."""

    def __init__(self, path: Path, content: Content) -> None:
        self.path = path
        self._stream = path.open("wb")
        self._writer = ChunkWriter(self._stream, content)
        self._stream.flush()

    def rows(self, kind: int, columns: dict[str, Column]) -> None:
        """Write events of a kind. Raises TraceError if the file is closed."""
        if self._stream.closed:
            raise TraceError(f"{self.path}: the recording was closed; nothing more can be recorded")
        self._writer.rows(kind, columns)
        self._stream.flush()

    def close(self, *, complete: bool) -> None:
        """Write what is left and close; a second time does nothing."""
        if self._stream.closed:
            return
        with self._stream:
            if complete:
                self._writer.done()
            else:
                self._writer.definitions()


def write_container(content: Content, stream: IO[bytes]) -> None:
    """Write a finished content, compressed; as a recording that was finished if it was."""
    writer = ChunkWriter(stream, content, packed=True)
    for number, columns in enumerate(content.columns):
        if len(next(iter(columns.values()))):
            writer.rows(number, columns)
    if content.complete:
        writer.done()
    else:
        writer.definitions()
