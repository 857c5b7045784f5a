"""Barriers of threadgroups in a timeline: when each let its simdgroups go, and who came last."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.hw.apple.core.result import SIMDGROUP_CAUSES

from .core_rows import BARRIER, Integers, Rows


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BarrierWaits:
    """Waits at barriers, columns of one length; `first` and `last` are rows.

    Attributes:
        first, last: rows of each wait.
        epoch: barriers that its simdgroup had passed before.
        late: the row before the wait of the simdgroup that came last, -1 if it is not known.
    """

    first: Integers
    last: Integers
    epoch: Integers
    late: Integers


def barrier_waits(rows: Rows) -> BarrierWaits:
    """All waits at barriers. Simdgroups of a threadgroup pass the same barriers in one order."""
    first, last = rows.runs(rows.phase, rows.line, rows.met)
    waits = rows.cause[first] == BARRIER
    first, last = first[waits], last[waits]
    return BarrierWaits(first=first, last=last, epoch=rows.met[first] - 1, late=_late(rows, first))


def _late(rows: Rows, first: Integers) -> Integers:
    """For each wait the row that the last arriver of its barrier spent before it."""
    if not len(first):
        return np.zeros(0, np.int64)
    last = rows.group[first] * rows.per_group + rows.awaited[first]
    # Rows are sorted by stream, and in a stream `met` never falls: both make one key to search.
    width = int(rows.met.max()) + 1
    before = np.searchsorted(rows.stream * width + rows.met, last * width + rows.met[first]) - 1
    known = (rows.awaited[first] >= 0) & (before >= 0) & (rows.stream[before] == last)
    return np.where(known, before, -1)


def late_text(rows: Rows, row: int) -> str:
    """Who came last, and what it was doing."""
    if row < 0:
        return ""
    number = int(rows.stream[row]) % rows.per_group
    phase = rows.names[int(rows.phase[row])]
    cause = SIMDGROUP_CAUSES[int(rows.cause[row])].replace("_", " ")
    line = int(rows.line[row])
    place = f" at line {line}" if line else ""
    return f"simdgroup {number}, in {phase}{place} ({cause})"


def epoch_bounds(rows: Rows, waits: BarrierWaits) -> dict[int, list[int]]:
    """For each threadgroup when it began, when each barrier let it go, and when it ended."""
    found: dict[int, list[int]] = {}
    group = rows.group
    for number in np.unique(group):
        mine = np.flatnonzero(group == number)
        of_group = np.flatnonzero(group[waits.first] == number)
        times = np.zeros(int(rows.met[mine].max()) + 2, np.int64)
        # Who had something else to wait for behind the barrier shows no wait: then it opened no
        # earlier than the last one came.
        starts = mine[np.diff(rows.stream[mine] * len(times) + rows.met[mine], prepend=-1) != 0]
        np.maximum.at(times, rows.met[starts], rows.begin[starts])
        np.maximum.at(times, waits.epoch[of_group] + 1, rows.end[waits.last[of_group]])
        times[0], times[-1] = rows.begin[mine].min(), rows.end[mine].max()
        found[int(number)] = np.maximum.accumulate(times).tolist()
    return found
