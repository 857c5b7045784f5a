"""Which lines of memory threadgroups have in common, told from some of them.

Each line that the first taped threadgroup touches is looked up in what its neighbours along x,
y and z touch. A line that those along x touch too belongs to the whole row, and so on: eight
categories, by the axes along which a line stays the same, and one for lines that only close
neighbours have: halos, and lines that several threadgroups have a part of each. What an access of
the first threadgroup was found to be counts for the same access of all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from assay.sim.simt.emit.tape import LINE_BYTES

from .sample import Position, Sample

CATEGORIES = 9
_LOCAL = 8
_LINE_WORDS = LINE_BYTES // 4
_UNIT = 1 << 15  # shares are in parts of so many


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """What the lines are spread over: cores, threadgroups on them at a time, cache bytes.

    `sector` is how many bytes are moved of a line of which less is wanted.
    """

    cores: int
    resident: int
    l2: int
    slc: int
    sector: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Sharing:
    """What the core model needs to know of lines.

    Attributes:
        site_shares: per access, growing: lines whose draw is below the i-th are of category i.
        weight: bytes in the shared caches that a line of a category stands for.
        payers: of `_UNIT` fetches of such a line, those that this core does itself.
        sector_payers: the same of one sector, which may be wanted by fewer.
        l2: of `_UNIT` first touches, those that find the line in L2.
        slc: the same for SLC or L2.
        footprint: bytes that the whole dispatch touches.
    """

    site_shares: NDArray[np.uint16]
    weight: NDArray[np.int64]
    payers: NDArray[np.int64]
    sector_payers: NDArray[np.int64]
    l2: NDArray[np.int64]
    slc: NDArray[np.int64]
    footprint: float


Lines = tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.uint8]]


def sharing(
    grid: Position,
    sample: Sample,
    machine: Machine,
    sites: int,
    lines_of: Callable[[int], Lines],
    most: float,
    *,
    warm: bool,
) -> Sharing:
    """Tell what is shared.

    Args:
        grid: threadgroups in x, y, z.
        sample: which were taped.
        machine: what they run on.
        sites: accesses of the program.
        lines_of: access, line and words touched of all lines of a taped threadgroup.
        most: bytes that the dispatch can touch at most.
        warm: whether the caches hold what an earlier run of the same dispatch left there.
    """
    touched, lines, words = lines_of(0)
    kinds = _categories(lines, sample, lines_of)
    counts = np.zeros((sites, CATEGORIES))
    np.add.at(counts, (touched, kinds), 1)
    per_group = counts.sum(axis=0)
    parts = _LINE_WORDS / np.maximum(1, words[kinds == _LOCAL])
    close = float(1 / (1 / np.maximum(2, parts)).mean()) if len(parts) else 2.0
    spans = _Spans(grid, sample, machine, per_group, most, close)
    on_cores = np.array([spans.cores(category) for category in range(CATEGORIES)])
    payers = (_UNIT / on_cores).astype(np.int64)
    reuse = [spans.reuse(category) for category in range(CATEGORIES)]
    again = spans.footprint if warm else float("inf")
    return Sharing(
        site_shares=_shares(counts),
        weight=(LINE_BYTES * machine.cores / on_cores).astype(np.int64),
        payers=payers,
        sector_payers=_sector_payers(payers, parts, machine),
        l2=_first_touches(reuse, again, machine.l2),
        slc=_first_touches(reuse, again, machine.slc),
        footprint=spans.footprint,
    )


def _categories(
    lines: NDArray[np.uint64], sample: Sample, lines_of: Callable[[int], Lines]
) -> NDArray[np.int64]:
    kinds = np.zeros(len(lines), np.int64)
    local = np.zeros(len(lines), bool)
    for axis in range(3):
        if sample.near[axis] < 0:
            continue
        near = np.isin(lines, lines_of(sample.near[axis])[1], assume_unique=True)
        far = near
        if sample.far[axis] >= 0:
            far = np.isin(lines, lines_of(sample.far[axis])[1], assume_unique=True)
        kinds |= (near & far).astype(np.int64) << axis
        local |= near & ~far
    return np.where(local & (kinds == 0), _LOCAL, kinds)


def _sector_payers(
    payers: NDArray[np.int64], parts: NDArray[np.float64], machine: Machine
) -> NDArray[np.int64]:
    """`payers`, but for sectors; of lines that close neighbours have, each wants one of `parts`.

    Of parts no larger than a sector those that lie in it want it; larger ones are of two
    neighbours.
    """
    found = payers.copy()
    if len(parts):
        in_line = LINE_BYTES / machine.sector
        wanting = np.where(parts < in_line, 2.0, np.maximum(1.0, parts / in_line))
        found[_LOCAL] = _UNIT * (1 / np.minimum(wanting, machine.cores)).mean()
    return found


def _shares(counts: NDArray[np.float64]) -> NDArray[np.uint16]:
    """Growing shares per access; an access that was not seen is like all together."""
    total = counts.sum(axis=1, keepdims=True)
    everything = counts.sum(axis=0) if counts.sum() else np.eye(CATEGORIES)[0]
    known = np.where(total > 0, counts, everything)
    growing = np.cumsum(known / known.sum(axis=1, keepdims=True), axis=1)
    return np.round(growing * _UNIT).astype(np.uint16)


def _first_touches(
    reuse: Sequence[tuple[float, float]], again: float, capacity: int
) -> NDArray[np.int64]:
    """Of `_UNIT` first touches those that a cache of `capacity` bytes answers, by category."""
    found = (
        first * _held(again, capacity) + (1 - first) * _held(distance, capacity)
        for first, distance in reuse
    )
    return np.array([round(_UNIT * share) for share in found], np.int64)


def _held(distance: float, capacity: int) -> float:
    """Share of lines still held after so many other bytes; replacement is not quite by age."""
    return min(1.0, max(0.0, 2.0 - distance / capacity))


class _Spans:
    """How far sharing reaches in time and over cores, by category."""

    def __init__(
        self,
        grid: Position,
        sample: Sample,
        machine: Machine,
        per_group: NDArray[np.float64],
        most: float,
        close: float,
    ) -> None:
        """`close` threadgroups share a line that only neighbours have, as a harmonic mean."""
        self._close = close
        self._grid = grid
        self._total = prod(grid)
        self._window = min(self._total, machine.cores * machine.resident)
        first = sample.positions[0]
        start = first[0] + grid[0] * (first[1] + grid[1] * first[2])
        start = max(0, min(start, self._total - self._window))
        numbers = start + np.arange(self._window)
        width, height = grid[0], grid[1]
        self._together = (numbers % width, numbers // width % height, numbers // (width * height))
        self._cores = machine.cores
        self._first = first
        bytes_by = per_group * LINE_BYTES
        # Nobody asks about categories of no line.
        sharers = [self._sharers(m) if bytes_by[m] else (1.0, 1.0) for m in range(CATEGORIES)]
        self._window_bytes = sum(
            bytes_by[m] * self._window / sharers[m][0] for m in range(CATEGORIES)
        )
        whole = sum(bytes_by[m] * self._total / self._all(m) for m in range(CATEGORIES))
        self.footprint = min(float(whole), most)
        self._known = sharers

    def cores(self, category: int) -> float:
        """Cores that touch a line at about the same time."""
        return self._known[category][1]

    def reuse(self, category: int) -> tuple[float, float]:
        """Share of touches that are the dispatch's first, and bytes between other touches."""
        together = self._known[category][0]
        everyone = self._all(category)
        if together >= everyone:
            return 1.0, 0.0
        strides = (1, self._grid[0], self._grid[0] * self._grid[1])
        gaps = (strides[a] for a in range(3) if category >> a & 1 and self._grid[a] > 1)
        gap = max(self._window, min(gaps, default=1))
        return together / everyone, min(gap / self._window * self._window_bytes, self.footprint)

    def _all(self, category: int) -> float:
        if category == _LOCAL:
            return self._close
        return float(prod(self._grid[a] for a in range(3) if category >> a & 1))

    def _sharers(self, category: int) -> tuple[float, float]:
        """Threadgroups that share a line at a time, and the cores that they are on."""
        if category == 0:
            return 1.0, 1.0
        if category == _LOCAL:
            return min(self._close, self._window), min(self._close, self._cores)
        same = np.ones(self._window, bool)
        for axis in range(3):
            if not category >> axis & 1:
                same &= self._together[axis] == self._first[axis]
        found = np.flatnonzero(same)
        cores = np.unique(found % self._cores)
        return float(max(1, len(found))), float(max(1, len(cores)))
