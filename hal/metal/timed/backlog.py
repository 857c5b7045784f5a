"""Recordings of dispatches that wait for their turn: equal ones once, large ones on disk."""

from __future__ import annotations

import tempfile
import weakref
from dataclasses import dataclass, replace

import numpy as np

from assay.sim.simt.emit.tape import Recording

_MOST_BYTES = 256 << 20  # of recordings that stay in memory


@dataclass(frozen=True, slots=True, weakref_slot=True, kw_only=True, eq=False)
class Recorded:
    """What a dispatch did, and, for a timeline, what its first threadgroups did with places."""

    recording: Recording
    digest: bytes
    shown: Recording | None = None


class Backlog:
    """Keeps recordings as long as somebody waits for them."""

    def __init__(self, most: int = _MOST_BYTES) -> None:
        self._most = most
        self._bytes = 0
        self._known: weakref.WeakValueDictionary[object, Recorded] = weakref.WeakValueDictionary()

    def kept(self, key: object, recorded: Recorded) -> Recorded:
        """`recorded`, or its equal; `key` with the digest says which are equal."""
        found = self._known.get((key, recorded.digest))
        if found is not None:
            return found
        size = _size(recorded.recording) + _size(recorded.shown)
        if self._bytes + size > self._most:
            shown = recorded.shown
            recorded = replace(
                recorded,
                recording=_on_disk(recorded.recording),
                shown=None if shown is None else _on_disk(shown),
            )
        else:
            self._bytes += size
            weakref.finalize(recorded, self._forget, size).atexit = False
        self._known[key, recorded.digest] = recorded
        return recorded

    def _forget(self, size: int) -> None:
        self._bytes -= size


def _size(recording: Recording | None) -> int:
    return 0 if recording is None else recording.words.nbytes


def _on_disk(recording: Recording) -> Recording:
    """The same with its words in a file that has no name and goes when nobody reads it."""
    if not recording.words.size:
        return recording
    with tempfile.TemporaryFile(prefix="assay-") as file:
        recording.words.tofile(file)
        file.flush()
        words = np.memmap(file, recording.words.dtype, "r+", shape=recording.words.shape)
    return replace(recording, words=words)
