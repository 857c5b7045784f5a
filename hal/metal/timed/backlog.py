"""Tapes of dispatches that wait for their turn: equal ones once, large ones on disk."""

from __future__ import annotations

import tempfile
import weakref
from dataclasses import dataclass, replace

import numpy as np

from assay.hw.apple.core.sampled import SampledDispatch
from assay.sim.simt.emit.tape import Tape

_MOST_BYTES = 256 << 20  # of tapes that stay in memory


@dataclass(frozen=True, slots=True, weakref_slot=True, kw_only=True, eq=False)
class Taped:
    """What a dispatch did, and, for a timeline, what its first threadgroups did with places.

    `dispatch` has the sample that is taped.
    """

    dispatch: SampledDispatch
    tape: Tape
    digest: bytes
    shown: Tape | None = None


class Backlog:
    """Keeps tapes as long as they are waited for."""

    def __init__(self, most: int = _MOST_BYTES) -> None:
        self._most = most
        self._bytes = 0
        self._known: weakref.WeakValueDictionary[object, Taped] = weakref.WeakValueDictionary()

    def kept(self, key: object, taped: Taped) -> Taped:
        """`taped`, or its equal; `key` with the digest says which are equal."""
        found = self._known.get((key, taped.digest))
        if found is not None:
            return found
        size = _size(taped.tape) + _size(taped.shown)
        if self._bytes + size > self._most:
            shown = taped.shown
            taped = replace(
                taped,
                tape=_on_disk(taped.tape),
                shown=None if shown is None else _on_disk(shown),
            )
        else:
            self._bytes += size
            weakref.finalize(taped, self._forget, size).atexit = False
        self._known[key, taped.digest] = taped
        return taped

    def _forget(self, size: int) -> None:
        self._bytes -= size


def _size(tape: Tape | None) -> int:
    return 0 if tape is None else tape.words.nbytes


def _on_disk(tape: Tape) -> Tape:
    """The same with its words in a file that has no name and goes when nobody reads it."""
    if not tape.words.size:
        return tape
    with tempfile.TemporaryFile(prefix="assay-") as file:
        tape.words.tofile(file)
        file.flush()
        words = np.memmap(file, tape.words.dtype, "r+", shape=tape.words.shape)
    return replace(tape, words=words)
