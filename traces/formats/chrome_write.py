"""Writes Chrome's JSON trace format: for tools that read nothing else.

Times are microseconds with three decimals, so a tick is a nanosecond there too. The format knows
processes and threads only: a root track is a process, every track below it a thread, named by its
path. Slices that overlap go to one thread per lane. The tree, units and kinds stand in
`otherData`, for our own reader.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import IO, Any

import numpy as np

from ..events.schema import ABSENT, Argument, Role, Type
from ..events.trace import Column, Integers, Trace
from .extras import CAUSE, facts_json, lanes_of

_BLOCK = 1 << 16
SLICE = "slice"
"""The argument of a flow that names a slice by its position, for our own reader."""
FIRST_THREAD = 1
"""The number of the first lane of the first track."""


def write_chrome(trace: Trace, stream: IO[bytes]) -> None:
    """Write a trace as Chrome JSON, block by block."""
    stream.write(b'{"traceEvents":[\n')
    separator = b""
    for lines in _Lines(trace).blocks():
        if lines:
            stream.write(separator + ",\n".join(lines).encode())
            separator = b",\n"
    facts = json.dumps({"assay": facts_json(trace)}, separators=(",", ":"))
    stream.write(f'\n],\n"displayTimeUnit":"ns",\n"otherData":{facts}}}\n'.encode())


class _Lines:
    """Events as lines of JSON."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._lanes = lanes_of(trace)
        self._first = FIRST_THREAD + np.cumsum(self._lanes) - self._lanes
        self._process = _processes(trace)
        self._names = [json.dumps(name) for name in trace.names]
        self._kinds = [json.dumps(kind.name) for kind in trace.kinds]

    def blocks(self) -> Iterator[list[str]]:
        yield list(self._metadata())
        for name, lines in (
            ("slices", self._slices),
            ("instants", self._instants),
            ("counters", self._counters),
            ("flows", self._flows),
        ):
            count = len(getattr(self._trace, name))
            for start in range(0, count, _BLOCK):
                yield lines(np.arange(start, min(start + _BLOCK, count)))

    def _metadata(self) -> Iterator[str]:
        for position, track in enumerate(self._trace.tracks):
            process = int(self._process[position])
            if track.parent < 0:
                yield _meta("process_name", process, 0, {"name": track.name})
                yield _meta("process_sort_index", process, 0, {"sort_index": position})
            if track.role is Role.COUNTER:
                continue
            for lane in range(int(self._lanes[position])):
                thread = int(self._first[position]) + lane
                name = ".".join(track.path[1:]) or track.name
                yield _meta("thread_name", process, thread, {"name": name})
                yield _meta("thread_sort_index", process, thread, {"sort_index": thread})

    def _slices(self, rows: Integers) -> list[str]:
        columns = self._trace.slices
        causes = [""] * len(rows)
        for number, cause in enumerate(self._trace.causes):
            for place in np.flatnonzero(columns.cause[rows] == number).tolist():
                causes[place] = f'"{CAUSE}":"{cause.name}"'
        thread = self._first[columns.track[rows]] + columns.lane[rows]
        return [
            f'{{"ph":"X","pid":{process},"tid":{tid},"ts":{_us(begin)},"dur":{_us(duration)},'
            f'"name":{self._names[name]},"cat":{self._kinds[kind]},"args":{{{args}}}}}'
            for process, tid, begin, duration, name, kind, args in zip(
                self._process[columns.track[rows]].tolist(),
                thread.tolist(),
                columns.begin[rows].tolist(),
                columns.duration[rows].tolist(),
                columns.name[rows].tolist(),
                columns.kind[rows].tolist(),
                self._arguments(columns.kind[rows], columns.payload[rows], causes),
                strict=True,
            )
        ]

    def _instants(self, rows: Integers) -> list[str]:
        columns = self._trace.instants
        return [
            f'{{"ph":"i","s":"t","pid":{process},"tid":{tid},"ts":{_us(time)},'
            f'"name":{self._names[name]},"cat":{self._kinds[kind]},"args":{{{args}}}}}'
            for process, tid, time, name, kind, args in zip(
                self._process[columns.track[rows]].tolist(),
                self._first[columns.track[rows]].tolist(),
                columns.time[rows].tolist(),
                columns.name[rows].tolist(),
                columns.kind[rows].tolist(),
                self._arguments(columns.kind[rows], columns.payload[rows], [""] * len(rows)),
                strict=True,
            )
        ]

    def _counters(self, rows: Integers) -> list[str]:
        columns = self._trace.counters
        names = [json.dumps(".".join(track.path[1:]) or track.name) for track in self._trace.tracks]
        units = [json.dumps(track.unit or "value") for track in self._trace.tracks]
        return [
            f'{{"ph":"C","pid":{process},"id":{track},"ts":{_us(time)},'
            f'"name":{names[track]},"args":{{{units[track]}:{_number(value)}}}}}'
            for process, track, time, value in zip(
                self._process[columns.track[rows]].tolist(),
                columns.track[rows].tolist(),
                columns.time[rows].tolist(),
                columns.value[rows].tolist(),
                strict=True,
            )
        ]

    def _flows(self, rows: Integers) -> list[str]:
        flows, slices = self._trace.flows, self._trace.slices
        lines = []
        for row in rows.tolist():
            kind = self._kinds[int(flows.kind[row])]
            for phase, at in (("s", int(flows.source[row])), ("f", int(flows.destination[row]))):
                track = int(slices.track[at])
                thread = int(self._first[track] + slices.lane[at])
                lines.append(
                    f'{{"ph":"{phase}","bp":"e","id":{row + 1},"pid":{int(self._process[track])},'
                    f'"tid":{thread},"ts":{_us(int(slices.begin[at]))},"name":{kind},"cat":{kind},'
                    f'"args":{{"{SLICE}":{at}}}}}'
                )
        return lines

    def _arguments(self, kinds: Integers, payloads: Integers, lines: list[str]) -> list[str]:
        """What stands in `args` of each event: what `lines` hold, then the arguments."""
        for kind in np.unique(kinds).tolist():
            places = np.flatnonzero(kinds == kind)
            for argument in self._trace.kinds[kind].arguments:
                column = self._trace.arguments[kind][argument.name][payloads[places]]
                key = json.dumps(argument.name)
                for place, value in self._given(argument, places, column):
                    comma = "," if lines[place] else ""
                    lines[place] += f"{comma}{key}:{value}"
        return lines

    def _given(
        self, argument: Argument, places: Integers, column: Column
    ) -> Iterator[tuple[int, str]]:
        pairs = zip(places.tolist(), column.tolist(), strict=True)
        if argument.type is Type.TEXT:
            return ((place, self._names[value]) for place, value in pairs if value >= 0)
        if argument.type is Type.REAL:
            return ((place, _number(value)) for place, value in pairs if value == value)
        return ((place, str(value)) for place, value in pairs if value != ABSENT)


def _processes(trace: Trace) -> Integers:
    """The process of each track: that of its root."""
    found = np.zeros(len(trace.tracks), np.int64)
    for position, track in enumerate(trace.tracks):
        found[position] = found[track.parent] if track.parent >= 0 else position + 1
    return found


def _us(ticks: int) -> str:
    whole, rest = divmod(ticks, 1000)
    return f"{whole}.{rest:03d}" if rest else str(whole)


def _number(value: float) -> str:
    """A number in JSON, which has no infinities: those become text."""
    return json.dumps(value if abs(value) != float("inf") and value == value else str(value))


def _meta(name: str, process: int, thread: int, args: dict[str, Any]) -> str:
    event = {"ph": "M", "pid": process, "tid": thread, "name": name, "args": args}
    return json.dumps(event, separators=(",", ":"))
