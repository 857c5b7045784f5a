"""What the simdgroups of one core do, as slices: functions, and in them why time passes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.hal.metal.timed import Prediction
from assay.hw.apple.core.result import CAUSES, SIMDGROUP_CAUSES, PartitionSlices
from assay.hw.apple.core.shared import PARTITIONS
from assay.sim.lanes import LANES
from assay.traces import Recorder, Role
from assay.traces.events import kinds as k
from assay.traces.events.schema import ABSENT

from ..result import DispatchResult
from .arrays import ArrayUse, array_uses
from .core_rows import BARRIER, Integers, Rows, cut, rows_of
from .counter_sum import CounterSum
from .epochs import BarrierWaits, barrier_waits, epoch_bounds, late_text
from .flights import mean_in_flight

MOST_ROWS = 200_000
"""Slices of simdgroups in one trace, before equal ones are joined."""

_SEEN = 0.05
"""If less than this share of a dispatch is missing from the picture, it is not worth a mark."""

_IN_FLIGHT, _RESIDENT = "bytes in flight", "resident simdgroups"
_WAITING = "waiting for memory"
_MEMORY = tuple(CAUSES.index(cause) for cause in ("l1", "l2", "slc", "dram"))


def shares(wanted: Sequence[int], room: int) -> list[int]:
    """How much of `room` each gets of what it wants; who wants little leaves more to the others."""
    found = [0] * len(wanted)
    order = sorted(range(len(wanted)), key=wanted.__getitem__)
    for position, number in enumerate(order):
        found[number] = min(wanted[number], room // (len(order) - position))
        room -= found[number]
    return found


class CoreWriter:
    """Writes dispatches that one core works on; those of several queues may do so at once."""

    def __init__(self, recorder: Recorder, core: int) -> None:
        self._recorder = recorder
        self._core = core
        self._places = _Places(recorder, core)
        self._sums = {name: CounterSum() for name in (_RESIDENT, _WAITING, _IN_FLIGHT)}

    def write(
        self, dispatch: DispatchResult, prediction: Prediction, span: tuple[int, int], most: int
    ) -> None:
        """Write what the core does from the first cycle of `span` on, at most so many slices."""
        timeline = dispatch.time.timeline
        assert timeline is not None
        begin, end = span
        shown, until = cut(timeline, most)
        width, height, depth = dispatch.threadgroup
        rows = rows_of(
            shown,
            kernel=dispatch.kernel,
            sources=dispatch.sources,
            per_group=-(-width * height * depth // LANES),
            at=begin,
        )
        if len(rows.begin):
            _Dispatch(self._recorder, rows).write(dispatch.kernel, prediction, self._places)
            self._count(rows)
            self._partitions(shown.partitions, begin)
            # What the core waits for from beyond its L1, as means of short times.
            at, values = mean_in_flight(shown.flights, float(shown.end.max()))
            self._sums[_IN_FLIGHT].add(at + begin, np.diff(values, prepend=0.0))
        last = int(rows.end.max(initial=begin))
        if end - last > _SEEN * (end - begin):
            text = _missing(dispatch, until)
            self._recorder.instant(
                k.UNSEEN, self._core, text, last, ticks=end - last, seen=last - begin
            )

    def finish(self) -> None:
        """Write what all dispatches together make: the counters."""
        for name, total in self._sums.items():
            at, values = total.points()
            if len(at):
                unit = "B" if name == _IN_FLIGHT else "simdgroups"
                track = self._recorder.track(name, self._core, Role.COUNTER, unit=unit, order=-1)
                self._recorder.counters().extend(track=track, time=at, value=values)

    def _partitions(self, slices: PartitionSlices, at: int) -> None:
        """What the partitions spend their time on, the dispatch beginning with cycle `at`."""
        begin = np.rint(slices.begin).astype(np.int64) + at
        duration = np.rint(slices.end).astype(np.int64) + at - begin
        kept = duration > 0
        recorder = self._recorder
        tracks = [
            recorder.track(f"partition {number}", self._core, Role.PARTITION, order=-1)
            for number in range(PARTITIONS)
        ]
        words = [recorder.name(cause.replace("_", " ")) for cause in CAUSES]
        causes = [recorder.cause(cause) for cause in CAUSES]
        cause = slices.cause[kept]
        recorder.slices(k.SHARE).extend(
            track=np.array(tracks, np.int64)[slices.partition[kept]],
            name=np.array(words, np.int64)[cause],
            begin=begin[kept],
            duration=duration[kept],
            cause=np.array(causes, np.int64)[cause],
        )

    def _count(self, rows: Rows) -> None:
        """Simdgroups on the core, and those among them that wait for memory."""
        first, last = rows.runs()
        self._sums[_RESIDENT].add_spans(rows.begin[first], rows.end[last])
        waiting = np.isin(rows.cause, _MEMORY)
        self._sums[_WAITING].add_spans(rows.begin[waiting], rows.end[waiting])


def _missing(dispatch: DispatchResult, until: float | None) -> str:
    """Why the picture of a dispatch ends before the dispatch does."""
    time = dispatch.time
    if until is None and time.sampled < time.threadgroups:
        of = f"{time.sampled:,} of {time.threadgroups:,} threadgroups"
        return f"goes on likewise: {of} of {dispatch.kernel} were simulated"
    return f"{dispatch.kernel} goes on; more is not shown"


class _Places:
    """Where threadgroups are on the core: each takes the first place that is free."""

    def __init__(self, recorder: Recorder, core: int) -> None:
        self._recorder = recorder
        self._core = core
        self._busy: list[int] = []  # until when, by place

    def take(self, begin: int, end: int) -> int:
        """The track of the place of a threadgroup."""
        busy = self._busy
        place = next((n for n, until in enumerate(busy) if until <= begin), len(busy))
        busy[place : place + 1] = [end]
        return self._recorder.track(f"threadgroup place {place}", self._core)


class _Dispatch:
    """One dispatch on the core."""

    def __init__(self, recorder: Recorder, rows: Rows) -> None:
        self._recorder = recorder
        self._rows = rows
        self._names = np.array([recorder.name(name) for name in rows.names], np.int64)
        self._places: dict[int, int] = {}  # track of each threadgroup's place on the core
        self._tracks = np.full(int(rows.stream.max()) + 1, -1, np.int64)  # of each stream

    def write(self, kernel: str, prediction: Prediction, places: _Places) -> None:
        """Write all of it but the counters."""
        rows = self._rows
        tape = prediction.tape
        positions = tape.threadgroups if tape is not None else ()
        self._threadgroups(kernel, positions, places)
        self._phases()
        resumed = self._steps()
        waits = barrier_waits(rows)
        self._barriers(waits, resumed)
        if tape is not None:
            bounds = epoch_bounds(rows, waits)
            uses = array_uses(tape)
            # Tracks are in the order in which they are made: stages of one array side by side.
            for use in sorted(uses, key=lambda use: (use.threadgroup, use.name, use.stage)):
                self._array(use, bounds)

    def _threadgroups(
        self, kernel: str, positions: tuple[tuple[int, int, int], ...], places: _Places
    ) -> None:
        rows = self._rows
        spans = {}
        for number in np.unique(rows.group):
            mine = rows.group == number
            spans[int(number)] = int(rows.begin[mine].min()), int(rows.end[mine].max())
        for number, (begin, end) in sorted(spans.items(), key=lambda each: (each[1], each[0])):
            track = self._places[number] = places.take(begin, end)
            x, y, z = positions[number] if number < len(positions) else (number, 0, 0)
            name = f"{kernel} ({x}, {y}, {z})"
            self._recorder.slice(k.THREADGROUP, track, name, begin, end - begin, x=x, y=y, z=z)
            for stream in range(number * rows.per_group, (number + 1) * rows.per_group):
                if stream < len(self._tracks):
                    label = f"simdgroup {stream % rows.per_group}"
                    self._tracks[stream] = self._recorder.track(label, track, Role.SIMDGROUP)

    def _phases(self) -> None:
        rows = self._rows
        first, last = rows.runs(rows.phase)
        self._recorder.slices(k.PHASE).extend(
            track=self._tracks[rows.stream[first]],
            name=self._names[rows.phase[first]],
            begin=rows.begin[first],
            duration=rows.end[last] - rows.begin[first],
            line=rows.line[first],
            file=self._names[rows.file[first]],
        )

    def _steps(self) -> Integers:
        """Write all but waits at barriers; for each row the reference of its slice, or -1."""
        rows = self._rows
        first, last = rows.runs(rows.phase, rows.cause, rows.line, rows.file)
        kept = rows.cause[first] != BARRIER
        first, last = first[kept], last[kept]
        names = SIMDGROUP_CAUSES
        causes = np.array([self._recorder.cause(cause) for cause in names], np.int64)
        words = [self._recorder.name(cause.replace("_", " ")) for cause in names]
        references = self._recorder.slices(k.STEP).extend(
            track=self._tracks[rows.stream[first]],
            name=np.array(words, np.int64)[rows.cause[first]],
            begin=rows.begin[first],
            duration=rows.end[last] - rows.begin[first],
            cause=causes[rows.cause[first]],
            line=rows.line[first],
            file=self._names[rows.file[first]],
        )
        of_row = np.full(len(rows.begin), -1, np.int64)
        for ends in (first, last):
            of_row[ends] = references
        return of_row

    def _barriers(self, waits: BarrierWaits, steps: Integers) -> None:
        """Waits, and from what the last arriver did before to what each waiter does behind."""
        rows = self._rows
        first, last = waits.first, waits.last
        texts = {int(row): late_text(rows, int(row)) for row in np.unique(waits.late)}
        self._recorder.slices(k.BARRIER_WAIT).extend(
            track=self._tracks[rows.stream[first]],
            name="barrier",
            begin=rows.begin[first],
            duration=rows.end[last] - rows.begin[first],
            cause="barrier",
            epoch=waits.epoch,
            line=rows.line[first],
            file=self._names[rows.file[first]],
            waiting_for=[texts[int(row)] for row in waits.late],
        )
        behind = np.minimum(last + 1, len(rows.begin) - 1)
        late = np.maximum(waits.late, 0)
        known = (waits.late >= 0) & (rows.stream[behind] == rows.stream[first])
        known &= rows.stream[late] != rows.stream[first]
        known &= (steps[behind] >= 0) & (steps[late] >= 0)
        self._recorder.flows(k.RELEASE).extend(
            source=steps[late[known]], destination=steps[behind[known]]
        )

    def _array(self, use: ArrayUse, bounds: dict[int, list[int]]) -> None:
        """An array is in use from the barrier before until the barrier behind."""
        place, times = self._places.get(use.threadgroup), bounds.get(use.threadgroup, [])
        if place is None or use.epoch + 1 >= len(times):
            return
        parent = self._recorder.track("threadgroup memory", place, order=1)
        track = self._recorder.track(use.label, parent, Role.ARRAY)
        begin, end = times[use.epoch], times[use.epoch + 1]
        self._recorder.slice(
            k.ARRAY_USE,
            track,
            f"{use.access} {use.label}",
            begin,
            end - begin,
            epoch=use.epoch,
            stage=use.stage if use.stage >= 0 else ABSENT,
            bytes=use.read + use.written,
            access=use.access,
        )
