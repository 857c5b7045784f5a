"""Which bytes of buffers a watched dispatch touched, as its shadow memory has them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from ...check import layout as k
from ...check.shadow import GRANULE, Records
from ...native.touched_pages import touched_parts

if TYPE_CHECKING:
    from .access_sites import AccessSite
    from .executable import Executable
    from .observation import Observation

Spans = NDArray[np.int64]
"""Rows (first byte, byte behind the last), in order and apart from each other."""

# Read-only buffers up to this size are recorded in any case.
_ALWAYS: Final = 64 << 20
_PIECE: Final = 1 << 16  # records that are looked at together


@dataclass(frozen=True, slots=True, kw_only=True)
class Accesses:
    """What one dispatch did to one buffer in one way.

    Attributes:
        handle: of the buffer.
        write, atomic: the way.
        spans: the bytes, from the start of the buffer on.
        sites: where in the source, each with the first byte and the one behind the last.
    """

    handle: int
    write: bool
    atomic: bool
    spans: Spans
    sites: tuple[tuple[AccessSite, int, int], ...]


class AccessLog:
    """Takes the accesses of one dispatch.

    Args:
        may_be_written: whether anybody writes the buffer of a handle; those that are large and
            only read are left out if nobody does.
    """

    def __init__(self, may_be_written: Callable[[int], bool]) -> None:
        self._may_be_written = may_be_written
        self.found: list[Accesses] = []

    def wants(self, handle: int, size: int) -> bool:
        """Whether reads of a buffer that the kernel does not write are to be recorded."""
        return size <= _ALWAYS or self._may_be_written(handle)

    def take(self, observation: Observation, executable: Executable) -> None:
        """Note what the shadows have of the dispatch that has just ended."""
        shadows = observation.shadows
        for handle in observation.watched:
            records = shadows.records(handle)
            if records is None:
                continue
            for write, rows in ((True, records[0]), (False, records[1])):
                self._take(handle, write, rows, shadows.tag, executable)

    def _take(
        self, handle: int, write: bool, rows: Records, tag: int, executable: Executable
    ) -> None:
        touched = _touched(rows, tag)
        if not touched.size:
            return
        records = rows[touched]
        for atomic in (False, True):
            chosen = (records & np.uint64(k.FLAG_ATOMIC) != 0) == atomic
            if chosen.any():
                places, these = touched[chosen], records[chosen]
                self.found.append(
                    Accesses(
                        handle=handle,
                        write=write,
                        atomic=atomic,
                        spans=_spans(places, these),
                        sites=_sites(places, these, executable),
                    )
                )


def _touched(rows: Records, tag: int) -> NDArray[np.intp]:
    """Granules with records of a dispatch; looked for in pieces, most of which may be empty."""
    found = []
    for number in np.flatnonzero(touched_parts(rows, _PIECE)):
        start = int(number) * _PIECE
        piece = rows[start : start + _PIECE]
        found.append(start + np.flatnonzero(piece >> np.uint64(k.TAG_SHIFT) == tag))
    return np.concatenate(found) if found else np.zeros(0, np.intp)


def _spans(places: NDArray[np.intp], records: Records) -> Spans:
    """Bytes of granules, of some only those that the record's mask names."""
    masks = (records >> np.uint64(k.MASK_SHIFT)).astype(np.int64) & k.FULL_GRANULE
    if (masks == k.FULL_GRANULE).all():
        return runs_of(places) * GRANULE
    bits = masks[:, None] >> np.arange(GRANULE) & 1
    bytes_ = places[:, None] * GRANULE + np.arange(GRANULE)
    return runs_of(bytes_[bits != 0])


def runs_of(numbers: NDArray[np.int64]) -> Spans:
    """Runs of successive numbers, which ascend."""
    if not numbers.size:
        return np.zeros((0, 2), np.int64)
    cuts = np.flatnonzero(np.diff(numbers) != 1)
    firsts = numbers[np.concatenate(([0], cuts + 1))]
    lasts = numbers[np.concatenate((cuts, [numbers.size - 1]))]
    return np.stack((firsts, lasts + 1), axis=1).astype(np.int64)


def _sites(
    places: NDArray[np.intp], records: Records, executable: Executable
) -> tuple[tuple[AccessSite, int, int], ...]:
    numbers = (records >> np.uint64(k.SITE_SHIFT)).astype(np.int64) & k.MAX_SITES
    found = []
    for number in np.unique(numbers):
        at = places[numbers == number]
        start, end = int(at[0]) * GRANULE, (int(at[-1]) + 1) * GRANULE
        found.append((executable.watched(int(number)), start, end))
    return tuple(found)
