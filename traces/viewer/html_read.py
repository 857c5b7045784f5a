"""Reads the trace in a page that `html_write` made: what the viewer draws is all that it holds."""

from __future__ import annotations

import base64
import binascii
import json
import re
import struct
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..events.content import REFERENCE_SHIFT, Content, joined
from ..events.errors import TraceFileError
from ..events.schema import ABSENT, Argument, Form, Kind, Type
from ..events.trace import Column, Integers
from ..record.container import cause_of, clock_of, kind_of, track_of
from .html_write import LIMIT, VERSION

_PAYLOAD = re.compile(rb'id="payload" data-version="(\d+)">([^<]*)</script>')
_FIXED = {"u8": "<u1", "u16": "<u2", "u32": "<u4", "f32": "<f4", "f64": "<f8", "i64": "<i8"}
_LARGEST = 4 << 30
"""Bytes that a page may unpack to."""
_MOST_BYTES = 9
"""Of a number in LEB128: 63 bits."""


def read_html(data: bytes, file: str) -> Content:
    """The content of a page called `file` in messages. Raises TraceFileError."""
    found = _PAYLOAD.search(data)
    if found is None:
        raise TraceFileError(file, None, "holds no trace: its end is missing")
    if int(found[1]) != VERSION:
        said = found[1].decode()
        raise TraceFileError(file, None, f"holds version {said} of a trace; this reads {VERSION}")
    try:
        header, columns = _unpacked(found[2], file)
        if "schema" not in (header["kinds"] or [{"schema": None}])[0]:
            raise TraceFileError(
                file, None, "was made by an Assay whose pages only browsers read: make it anew"
            )
        return _Reader(header, columns).content()
    except (KeyError, TypeError, ValueError, IndexError, OverflowError, AttributeError) as error:
        if isinstance(error, TraceFileError):
            raise
        raise TraceFileError(file, None, f"the trace in the page is damaged: {error!r}") from None


def _unpacked(text: bytes, file: str) -> tuple[dict[str, Any], NDArray[np.uint8]]:
    """Header and columns of a payload."""
    try:
        packed = base64.b64decode(text, validate=True)
        unpacker = zlib.decompressobj(wbits=31)
        data = unpacker.decompress(packed, _LARGEST)
    except (binascii.Error, zlib.error) as error:
        raise TraceFileError(file, None, f"the trace in the page is damaged: {error}") from None
    if not unpacker.eof:
        raise TraceFileError(file, None, "the trace in the page is cut off, or is too large")
    (length,) = struct.unpack_from("<I", data) if len(data) >= 4 else (0,)
    header = json.loads(data[4 : 4 + length])
    if not isinstance(header, dict) or int(header["events"]) > LIMIT:
        raise TraceFileError(file, None, "the trace in the page is damaged: its header")
    return header, np.frombuffer(data, np.uint8)[4 + length :]


@dataclass(frozen=True, slots=True)
class _Reader:
    """A page's header, and the bytes of its columns; all `_...` of events are in their order."""

    header: dict[str, Any]
    data: NDArray[np.uint8]

    def content(self) -> Content:
        """All of it."""
        header = self.header
        content = Content(
            clock=clock_of(header["clock"]),
            title=str(header["title"]),
            tracks=[track_of({**track, "order": 0}) for track in header["tracks"]],
            kinds=[kind_of(kind["schema"]) for kind in header["kinds"]],
            causes=[cause_of(cause) for cause in header["causes"]],
            names=[str(name) for name in header["names"]],
            complete=bool(header["complete"]),
            notes=[str(note) for note in header["notes"]],
        )
        events = self._events()
        self._check(events["kind"], len(content.kinds), "kind")
        content.columns = [
            self._columns(number, kind, events) for number, kind in enumerate(content.kinds)
        ]
        first = next((n for n, k in enumerate(content.kinds) if k.form is Form.COUNTER), None)
        if first is not None:
            content.columns[first] = self._counters()
        return content

    def _events(self) -> dict[str, Integers]:
        """Slices and instants: track, begin, duration, name, kind, cause, row among their kind."""
        rows, columns = self.header["rows"], self.header["events_columns"]
        events = {name: self._integers(columns[name]) for name in columns if name != "paint"}
        first = np.array(rows["first"], np.int64)
        count = len(events["begin"])
        if any(len(column) != count for column in events.values()):
            raise ValueError("its columns differ in length")
        events["begin"] = _sums(events["begin"], first) + int(self.header["origin"])
        events["track"] = np.repeat(np.array(rows["track"], np.int64), np.diff(first, append=count))
        events["row"] = _rows(events["kind"])
        return events

    def _columns(self, number: int, kind: Kind, events: dict[str, Integers]) -> dict[str, Column]:
        """The columns of a kind; of counters none, as they do not say of which kind they are."""
        if kind.form is Form.FLOW:
            return self._flows(number, events)
        mine = np.flatnonzero(events["kind"] == number)
        if kind.form is Form.COUNTER:
            return joined(kind, [])
        found: dict[str, Column] = {"track": events["track"][mine], "name": events["name"][mine]}
        if kind.form is Form.SLICE:
            found["begin"] = events["begin"][mine]
            found["duration"] = events["duration"][mine]
            found["cause"] = events["cause"][mine] - 1
        else:
            found["time"] = events["begin"][mine]
        known = {each["name"]: each["column"] for each in self.header["kinds"][number]["arguments"]}
        for argument in kind.arguments:
            column = self._argument(argument, known.get(argument.name), len(mine))
            if len(column) != len(mine):
                raise ValueError(f"{len(column)} values of {argument.name}, not {len(mine)}")
            found[argument.name] = column
        return found

    def _argument(self, argument: Argument, entry: dict[str, Any] | None, count: int) -> Column:
        if argument.type is Type.REAL:
            return np.full(count, np.nan) if entry is None else self._reals(entry)
        if argument.type is Type.TEXT:
            return np.full(count, -1, np.int64) if entry is None else self._integers(entry) - 1
        return np.full(count, ABSENT, np.int64) if entry is None else self._integers(entry)

    def _flows(self, number: int, events: dict[str, Integers]) -> dict[str, Column]:
        columns = self.header["flows"]
        source = np.cumsum(self._integers(columns["source"]))
        destination = source + self._integers(columns["destination"])
        mine = self._integers(columns["kind"]) == number
        ends = {"source": source[mine], "destination": destination[mine]}
        references = (events["kind"] << REFERENCE_SHIFT) + events["row"]
        for name, places in ends.items():
            self._check(places, len(references), f"{name} of a flow")
        return {name: references[places] for name, places in ends.items()}

    def _counters(self) -> dict[str, Column]:
        columns = self.header["counters"]
        first, time = np.array(columns["first"], np.int64), self._integers(columns["time"])
        tracks = np.array(columns["track"], np.int64)
        return {
            "track": np.repeat(tracks, np.diff(first, append=len(time))),
            "time": _sums(time, first) + int(self.header["origin"]),
            "value": self._reals(columns["value"]),
        }

    def _reals(self, entry: dict[str, Any]) -> NDArray[np.float64]:
        if entry["as"] in ("f32", "f64"):
            return self._fixed(entry).astype(np.float64)
        return self._integers(entry).astype(np.float64)

    def _integers(self, entry: dict[str, Any]) -> Integers:
        """Numbers; where the column says so unfolded, ABSENT for those that are not there."""
        whole = _leb128(self._bytes(entry)) if entry["as"] == "leb128" else self._fixed(entry)
        values = whole.astype(np.int64)
        if len(values) != entry["count"]:
            raise ValueError("a column has another length than it says")
        if not entry.get("zigzag"):
            return values
        folded = values - 1
        return np.where(values == 0, ABSENT, (folded >> 1) ^ -(folded & 1))

    def _fixed(self, entry: dict[str, Any]) -> NDArray[Any]:
        return np.frombuffer(self._bytes(entry).tobytes(), _FIXED[entry["as"]])

    def _bytes(self, entry: dict[str, Any]) -> NDArray[np.uint8]:
        begin, size = int(entry["at"]), int(entry["size"])
        if begin < 0 or size < 0 or begin + size > len(self.data):
            raise ValueError("a column lies outside of it")
        return self.data[begin : begin + size]

    def _check(self, numbers: Integers, count: int, what: str) -> None:
        if len(numbers) and not 0 <= int(numbers.min()) <= int(numbers.max()) < count:
            raise ValueError(f"a {what} that it has not")


def _leb128(data: NDArray[np.uint8]) -> Integers:
    """Numbers of seven bits a byte, the least first; the top bit is on all but the last."""
    ends = np.flatnonzero(data < 128)
    if not len(data):
        return np.empty(0, np.int64)
    if not len(ends) or ends[-1] != len(data) - 1:
        raise ValueError("a number is cut off")
    starts = np.concatenate(([0], ends[:-1] + 1))
    place = np.arange(len(data)) - np.repeat(starts, ends - starts + 1)
    if int(place.max()) >= _MOST_BYTES:
        raise ValueError("a number has too many bits")
    return np.add.reduceat((data & 127).astype(np.int64) << (7 * place), starts)


def _sums(differences: Integers, first: Integers) -> Integers:
    """Numbers of which each but those at `first` is given as the difference to that before."""
    if not len(differences):
        return differences
    sums = np.cumsum(differences)
    base = sums[first] - differences[first]
    return sums - np.repeat(base, np.diff(first, append=len(sums)))


def _rows(kinds: Integers) -> Integers:
    """Which of the events of its kind each event is."""
    order = np.argsort(kinds, kind="stable")
    ordered = kinds[order]
    first = np.flatnonzero(np.diff(ordered, prepend=-1))
    rows = np.empty(len(kinds), np.int64)
    rows[order] = np.arange(len(kinds)) - np.repeat(first, np.diff(first, append=len(kinds)))
    return rows
