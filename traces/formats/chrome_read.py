"""Reads Chrome's JSON trace format: ours whole, and what other tools export.

Profilers of real hardware export it, or are converted to it. Times in it are microseconds; the
trace is in nanoseconds. Files that were cut off are read up to the last whole event.
"""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from ..events.clock import Clock
from ..events.content import Content
from ..events.errors import TraceError, TraceFileError
from ..events.kinds import DATA
from ..events.schema import Form, Role
from ..record.gather import Event, Gatherer, flat
from ..record.recorder import Recorder
from .chrome_write import FIRST_THREAD, SLICE
from .extras import CAUSE, Facts, facts_of

_NS_PER_US = 1000


@dataclass(frozen=True, slots=True)
class _End:
    """One end of a flow: a time on a track, or for our files the position of the slice."""

    key: tuple[object, ...]
    begins: bool
    track: int
    time: int
    enclosing: bool
    slice: int | None
    name: str


@dataclass(slots=True)
class _Threads:
    """Names that metadata events give."""

    processes: dict[object, str] = field(default_factory=dict)
    threads: dict[tuple[object, object], str] = field(default_factory=dict)


def is_json(data: bytes) -> bool:
    """Whether a file begins like JSON."""
    return data.lstrip()[:1] in (b"{", b"[")


def read_chrome(data: bytes, file: str) -> Content:
    """The content of a file called `file` in messages. Raises TraceFileError."""
    value, notes = _parsed(data, file)
    events = value.get("traceEvents") if isinstance(value, dict) else value
    if not isinstance(events, list):
        raise TraceFileError(
            file, None, "is JSON, but no trace: expected a list of events, or `traceEvents`"
        )
    other = value.get("otherData") if isinstance(value, dict) else None
    facts = None
    if isinstance(other, dict) and "assay" in other:
        try:
            facts = facts_of(other["assay"])
        except TraceError as error:
            raise TraceFileError(file, None, str(error)) from None
    return _Reader(file, facts, notes).read(events)


def _parsed(data: bytes, file: str) -> tuple[Any, list[str]]:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise TraceFileError(file, error.start, "is not UTF-8 text, as JSON must be") from None
    try:
        return json.loads(text), []
    except RecursionError:
        raise TraceFileError(file, None, "is JSON nested too deeply for a trace") from None
    except json.JSONDecodeError as error:
        whole = text.rfind("}", 0, len(text))
        for ending in ("]", "]}"):
            cut = whole
            for _ in range(3):  # the last brace may be one of an object inside the cut event
                if cut < 0:
                    break
                try:
                    value = json.loads(text[: cut + 1] + ending)
                except (json.JSONDecodeError, RecursionError):
                    cut = text.rfind("}", 0, cut)
                else:
                    return value, [f"cut off at byte {len(data)}: read up to the last whole event"]
        offset = len(text[: error.pos].encode())
        raise TraceFileError(file, offset, f"is no JSON: {error.msg}") from None


class _Reader:
    def __init__(self, file: str, facts: Facts | None, notes: list[str]) -> None:
        self._file = file
        self._facts = facts
        clock = Clock.nanoseconds() if facts is None else facts.clock
        if facts is None:
            self._recorder = Recorder(clock)
            self._gatherer = Gatherer(recorder=self._recorder)
        else:
            self._recorder = Recorder(clock, title=facts.title, causes=facts.causes)
            known = {kind.name: kind for kind in facts.kinds}
            self._gatherer = Gatherer(recorder=self._recorder, known=known)
        self._gatherer.notes += notes
        self._named = _Threads()
        self._tracks: dict[tuple[object, ...], int] = {}
        self._open: dict[tuple[object, ...], list[Event]] = {}
        self._ends: list[_End] = []
        self._skipped: Counter[str] = Counter()
        self._start = 0
        self._last = 0

    def read(self, events: list[Any]) -> Content:
        """The content of the events of a file."""
        self._define_tracks()
        records = [self._checked(number, event) for number, event in enumerate(events)]
        for record in records:
            if record["ph"] == "M":
                self._metadata(record)
        times = [record["ts"] for record in records if "ts" in record]
        self._start = min([0, *times])
        if self._start < 0:
            self._gatherer.notes.append(f"times were moved by {-self._start} ns to begin at zero")
        if self._facts is None:
            # Events need not be in order; begins and ends are matched in the order of time.
            records.sort(key=lambda record: record.get("ts", 0))
        for record in records:
            self._take(record)
        self._close()
        self._gatherer.emit()
        self._emit_flows()
        content = self._recorder.content()
        content.notes = self._gatherer.notes
        content.complete = self._facts is None or self._facts.complete
        return content

    def _define_tracks(self) -> None:
        if self._facts is None:
            return
        thread = FIRST_THREAD
        for position, (track, lanes) in enumerate(
            zip(self._facts.tracks, self._facts.lanes, strict=True)
        ):
            made = self._recorder.define(track)
            self._tracks["counter", position] = made
            for _ in range(lanes):
                self._tracks["thread", thread] = made
                thread += 1

    def _checked(self, number: int, event: Any) -> dict[str, Any]:
        """An event with its times in nanoseconds. Raises TraceFileError naming its number."""
        if not isinstance(event, dict) or not isinstance(event.get("ph"), str):
            raise TraceFileError(
                self._file,
                None,
                f"event {number} is no object with a phase (`ph`): {_short(event)}",
            )
        record = dict(event)
        for key in ("ts", "dur"):
            if key in record:
                record[key] = self._nanoseconds(number, key, record[key])
        if not isinstance(record.get("args", {}), dict):
            record["args"] = {"args": record["args"]}
        if "ts" not in record and record["ph"] != "M":
            raise TraceFileError(self._file, None, f"event {number} has no time (`ts`)")
        return record

    def _nanoseconds(self, number: int, key: str, value: Any) -> int:
        try:
            found = round(float(value) * _NS_PER_US)
        except (TypeError, ValueError, OverflowError):
            found = 1 << 62
        if abs(found) >= 1 << 62:
            raise TraceFileError(
                self._file,
                None,
                f"event {number}: `{key}` is {_short(value)}; expected microseconds",
            )
        return found

    def _metadata(self, record: dict[str, Any]) -> None:
        args, process, thread = record.get("args", {}), record.get("pid"), record.get("tid")
        if record.get("name") == "process_name":
            self._named.processes[_key(process)] = str(args.get("name", ""))
        elif record.get("name") == "thread_name":
            self._named.threads[_key(process), _key(thread)] = str(args.get("name", ""))

    def _take(self, record: dict[str, Any]) -> None:
        phase = record["ph"]
        if phase == "X":
            self._slice(record, self._thread(record), record.get("dur", 0))
        elif phase == "B":
            key = ("thread", _key(record.get("pid")), _key(record.get("tid")))
            self._open.setdefault(key, []).append(self._slice(record, self._thread(record), 0))
        elif phase == "E":
            key = ("thread", _key(record.get("pid")), _key(record.get("tid")))
            self._end(key, record)
        elif phase == "b":
            event = self._slice(record, self._async(record), 0)
            event.overlapping = True
            self._open.setdefault(_async_key(record), []).append(event)
        elif phase == "e":
            self._end(_async_key(record), record)
        elif phase in ("i", "I", "n", "R"):
            self._event(Form.INSTANT, record, self._thread(record), 0)
        elif phase == "C":
            self._counter(record)
        elif phase in ("s", "t", "f"):
            self._flow(record)
        elif phase != "M":
            self._skipped[phase] += 1

    def _slice(self, record: dict[str, Any], track: int, duration: int) -> Event:
        if duration < 0:
            self._skipped["negative duration"] += 1
            duration = 0
        self._last = max(self._last, record["ts"] - self._start + duration)
        return self._event(Form.SLICE, record, track, duration)

    def _event(self, form: Form, record: dict[str, Any], track: int, duration: int) -> Event:
        arguments = record.get("args", {})
        cause = ""
        if self._facts is not None:
            cause = str(arguments.get(CAUSE, ""))
        event = Event(
            form=form,
            track=track,
            name=str(record.get("name", "")),
            begin=record["ts"] - self._start,
            duration=duration,
            category=str(record.get("cat", "")),
            arguments=arguments if self._facts is not None else flat(arguments),
            cause=cause,
        )
        self._gatherer.events.append(event)
        return event

    def _end(self, key: tuple[object, ...], record: dict[str, Any]) -> None:
        stack = self._open.get(key)
        if not stack:
            self._skipped["end without begin"] += 1
            return
        event = stack.pop()
        event.duration = record["ts"] - self._start - event.begin
        self._last = max(self._last, record["ts"] - self._start)

    def _thread(self, record: dict[str, Any]) -> int:
        process, thread = _key(record.get("pid")), _key(record.get("tid"))
        if self._facts is not None:
            found = self._tracks.get(("thread", thread))
            if found is None:
                raise TraceFileError(self._file, None, f"no track has thread {thread!r}")
            return found
        name = self._named.threads.get((process, thread)) or f"thread {thread}"
        return self._made(("thread", process, thread), process, name, Role.FOREIGN)

    def _async(self, record: dict[str, Any]) -> int:
        process, category = _key(record.get("pid")), str(record.get("cat", ""))
        return self._made(("async", process, category), process, category, Role.FOREIGN)

    def _made(self, key: tuple[object, ...], process: object, name: str, role: Role) -> int:
        found = self._tracks.get(key)
        if found is None:
            title = self._named.processes.get(process) or f"process {process}"
            root = self._tracks.get(("process", process))
            if root is None:
                root = self._recorder.new_track(title)
                self._tracks["process", process] = root
            found = self._recorder.new_track(name, root, role)
            self._tracks[key] = found
        return found

    def _counter(self, record: dict[str, Any]) -> None:
        process, name = _key(record.get("pid")), str(record.get("name", ""))
        for series, value in record.get("args", {}).items():
            try:
                number = float(value)
            except (TypeError, ValueError):
                self._skipped["counter that is no number"] += 1
                continue
            if self._facts is not None:
                track = self._tracks.get(("counter", _key(record.get("id"))), -1)
            else:
                identity = ("counter", process, name, _key(record.get("id")), series)
                label = name if series in ("value", name) else f"{name} {series}"
                track = self._made(identity, process, label, Role.COUNTER)
            self._recorder.counters()(track, record["ts"] - self._start, number)

    def _flow(self, record: dict[str, Any]) -> None:
        at = record.get("args", {}).get(SLICE) if self._facts is not None else None
        self._ends.append(
            _End(
                key=(
                    str(record.get("cat", "")),
                    str(record.get("name", "")),
                    str(record.get("id")),
                ),
                begins=record["ph"] == "s",
                track=self._thread(record),
                time=record["ts"] - self._start,
                enclosing=record["ph"] != "f" or record.get("bp") == "e",
                slice=at if isinstance(at, int) else None,
                name=str(record.get("name", "")),
            )
        )

    def _close(self) -> None:
        """Say what was left out, and end what never ended."""
        unfinished = [event for stack in self._open.values() for event in stack]
        for event in unfinished:
            event.duration = max(self._last - event.begin, 0)
        notes = self._gatherer.notes
        if unfinished:
            notes.append(f"{len(unfinished)} slices have no end; they are drawn to the last event")
        for what, count in sorted(self._skipped.items()):
            label = f"of phase {what!r}" if len(what) == 1 else f"({what})"
            notes.append(f"{count:,} events {label} were left out")
        if not self._gatherer.events and not self._recorder.content().tracks:
            raise TraceFileError(self._file, None, "holds no event that could be shown")

    def _emit_flows(self) -> None:
        known = {kind.name: kind for kind in self._gatherer.known.values()}
        finder = _Finder(self._gatherer.events)
        passed: dict[tuple[object, ...], Event] = {}
        lost = 0
        for end in sorted(self._ends, key=lambda end: (not end.begins, end.time)):
            event = finder.find(end)
            if event is None:
                lost += 1
                continue
            if not end.begins and end.key in passed:
                source = passed[end.key]
                kind = known.get(end.name, DATA)
                kind = kind if kind.form is Form.FLOW else DATA
                self._recorder.flow(kind, source.reference, event.reference)
            passed[end.key] = event
        if lost:
            self._gatherer.notes.append(f"{lost} ends of flows lie in no slice and were left out")


class _Finder:
    """Finds the slice that an end of a flow means."""

    def __init__(self, events: list[Event]) -> None:
        self._slices = [event for event in events if event.form is Form.SLICE]
        self._by_track: dict[int, list[Event]] | None = None
        self._begins: dict[int, list[int]] = {}

    def find(self, end: _End) -> Event | None:
        """The slice around the end's time, or the next one; None if there is none."""
        if end.slice is not None:
            return self._slices[end.slice] if 0 <= end.slice < len(self._slices) else None
        if self._by_track is None:
            self._by_track = self._sorted()
        events = self._by_track.get(end.track, [])
        begins = self._begins.get(end.track, [])
        if not end.enclosing:
            position = bisect_left(begins, end.time)
            return events[position] if position < len(events) else None
        last = bisect_right(begins, end.time)
        around = (events[position] for position in range(last - 1, -1, -1))
        return next((e for e in around if e.begin + e.duration >= end.time), None)

    def _sorted(self) -> dict[int, list[Event]]:
        found: dict[int, list[Event]] = {}
        for event in sorted(self._slices, key=lambda e: (e.track, e.begin, -e.duration)):
            found.setdefault(event.track, []).append(event)
        self._begins = {track: [e.begin for e in events] for track, events in found.items()}
        return found


def _async_key(record: dict[str, Any]) -> tuple[object, ...]:
    identity = record.get("id2", record.get("id"))
    return ("async", _key(record.get("pid")), str(record.get("cat", "")), str(identity))


def _key(value: object) -> object:
    """Processes and threads are numbers or text; anything else becomes text."""
    return value if isinstance(value, int | str) else str(value)


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
