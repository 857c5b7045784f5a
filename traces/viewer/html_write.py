"""Writes a trace as one HTML file that shows itself: no server, no network, no library.

The file holds the viewer (`view.html` with the style and the scripts in it) and the trace as one
gzipped blob in base64: a 32-bit length, a JSON header, the columns. `payload.js` reads it.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import json
import re
import struct
from dataclasses import asdict, dataclass
from importlib.resources import files
from typing import IO

import numpy as np

from ..events.errors import TraceError
from ..events.schema import ABSENT, Form, Kind, Type
from ..events.trace import Column, Integers, Trace
from ..record.container import kind_json
from .encode import EXACT, Blob, deltas
from .paints import Paints, paint

VERSION = 1
"""Of the payload; the viewer refuses others."""
LIMIT = 10_000_000
"""Events above which a browser is no pleasure."""
SCRIPTS = (
    "palette",
    "format",
    "payload",
    "model",
    "analysis",
    "lines",
    "plan",
    "pick",
    "paint",
    "overlay",
    "panels",
    "state",
    "view",
    "controls",
    "start",
)
"""The scripts of the page, in this order, in one scope."""
_LEVEL = 4  # of gzip: higher ones take twice as long and save some percent


def write_html(trace: Trace, stream: IO[bytes]) -> None:
    """Write a trace as a page. Raises TraceError if it is too large, before anything is written."""
    stream.write(page(trace).encode())


def is_page(data: bytes) -> bool:
    """Whether a file is a whole page that `write_html` wrote."""
    return b'id="payload" data-version=' in data and data.rstrip().endswith(b"</html>")


def page(trace: Trace) -> str:
    """The page as text. Raises TraceError over `LIMIT` events or 2**53 ticks."""
    if trace.events > LIMIT:
        raise TraceError(
            f"{trace.events:,} events are too many for an HTML page, which takes {LIMIT:,};"
            " write a .pftrace file instead"
        )
    first, last = trace.span
    if last - first >= EXACT:
        raise TraceError(
            f"the trace lasts {last - first:,} ticks; an HTML page takes less than {EXACT:,}:"
            " record on a coarser clock, or write a .pftrace file instead"
        )
    payload = base64.b64encode(gzip.compress(encode(trace), _LEVEL, mtime=0)).decode()
    return _filled(trace, payload)


def _filled(trace: Trace, payload: str) -> str:
    """The template with title, style, scripts and payload in place."""
    script = "\n".join(_resource(f"{name}.js") for name in SCRIPTS)
    script = f'(() => {{\n"use strict";\n{script}}})();\n'
    style = _resource("view.css")
    values = {
        "TITLE": html.escape(_printable(trace.title) or "Timeline"),
        "SCRIPT-HASH": _hash(script),
        "STYLE-HASH": _hash(style),
        "VERSION": str(VERSION),
        "STYLE": style,
        "SCRIPT": script,
        "PAYLOAD": payload,
    }
    # In one pass: what is put in is not looked at again, whatever a title may hold.
    return re.sub(r"\{\{([A-Z-]+)\}\}", lambda mark: values[mark[1]], _resource("view.html"))


def _resource(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """What the content security policy lets run: this text and nothing else."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _printable(text: str) -> str:
    """Without what XML and HTML do not allow: controls and lone surrogates."""
    text = text.encode("utf-8", "replace").decode()
    return "".join(" " if ord(letter) < 32 else letter for letter in text)


def encode(trace: Trace) -> bytes:
    """The payload before it is compressed: length of the header, header, columns."""
    blob = Blob()
    body = _Body.of(trace, blob)
    header = {
        "version": VERSION,
        "title": trace.title,
        "complete": trace.complete,
        "notes": list(trace.notes),
        "clock": {"name": trace.clock.name, "unit": trace.clock.unit, "hz": trace.clock.hz},
        "origin": str(body.origin),
        "span": trace.span[1] - trace.span[0],
        "events": trace.events,
        "names": list(trace.names),
        "causes": [
            {"name": cause.name, "group": cause.group.value, "text": cause.text}
            for cause in trace.causes
        ],
        "paints": [asdict(entry) for entry in body.paints.legend],
        "tracks": [
            {
                "name": track.name,
                "parent": track.parent,
                "role": track.role.value,
                "unit": track.unit,
                "capacity": track.capacity,
            }
            for track in trace.tracks
        ],
        "rows": body.rows(),
        "events_columns": body.event_columns(),
        "kinds": [body.kind(number) for number in range(len(trace.kinds))],
        "counters": body.counters(),
        "flows": body.flows(),
    }
    text = json.dumps(header, separators=(",", ":")).encode("ascii")
    text += b" " * (-len(text) % 4)
    return b"".join([struct.pack("<I", len(text)), text, *blob.parts])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Body:
    """Slices and instants of a trace in one sequence of events, ordered by row."""

    trace: Trace
    blob: Blob
    paints: Paints
    origin: int
    order: Integers  # positions among slices, then instants
    key: Integers  # of each ordered event: its row, in (track, instants first, lane, depth)
    row_first: Integers
    depths: int

    @classmethod
    def of(cls, trace: Trace, blob: Blob) -> _Body:
        """Put the events of a trace in order."""
        slices, instants = trace.slices, trace.instants
        depths = int(slices.depth.max(initial=0)) + 1
        lanes = int(slices.lane.max(initial=0)) + 2
        of_slices = (slices.track * lanes + slices.lane + 1) * depths + slices.depth
        of_instants = instants.track * lanes * depths
        keys = np.concatenate((of_slices, of_instants))
        order = np.argsort(keys, kind="stable")
        key = keys[order]
        first = np.flatnonzero(np.diff(key, prepend=-1))
        return cls(
            trace=trace,
            blob=blob,
            paints=paint(trace),
            origin=trace.span[0],
            order=order,
            key=key,
            row_first=first,
            depths=depths,
        )

    def _ordered(self, of_slices: Integers, of_instants: Integers) -> Integers:
        return np.concatenate((of_slices, of_instants))[self.order]

    def rows(self) -> dict[str, object]:
        """Which track a row belongs to, where it starts, how deep it nests."""
        slices = self.trace.slices
        lanes = int(slices.lane.max(initial=0)) + 2
        keys = self.key[self.row_first]
        return {
            "first": self.row_first.tolist(),
            "track": (keys // (self.depths * lanes)).tolist(),
            "depth": (keys % self.depths).tolist(),
            "instants": [int(lane == 0) for lane in (keys // self.depths % lanes).tolist()],
        }

    def event_columns(self) -> dict[str, object]:
        """Begin as differences in its row, duration, name, kind, cause plus one, paint.

        What the viewer needs of causes is in the paints; `html_read` wants them as they are.
        """
        slices, instants = self.trace.slices, self.trace.instants
        begin = self._ordered(slices.begin, instants.time) - self.origin
        nothing = np.zeros(len(instants), np.int64)
        paints = np.concatenate((self.paints.slices, self.paints.instants))[self.order]
        return {
            "begin": self.blob.unsigned(deltas(begin, self.row_first)),
            "duration": self.blob.unsigned(self._ordered(slices.duration, nothing)),
            "name": self.blob.unsigned(self._ordered(slices.name, instants.name)),
            "kind": self.blob.unsigned(self._ordered(slices.kind, instants.kind)),
            "cause": self.blob.unsigned(self._ordered(slices.cause + 1, nothing)),
            "paint": self.blob.unsigned(paints.astype(np.int64)),
        }

    def kind(self, number: int) -> dict[str, object]:
        """A kind, and those of its arguments that any event has, in the order of events."""
        kind = self.trace.kinds[number]
        return {
            "name": kind.name,
            "text": kind.text,
            "schema": kind_json(kind),
            "arguments": self._arguments(kind, self._payload(number, kind)),
        }

    def _payload(self, number: int, kind: Kind) -> Integers:
        """Rows of arguments of the events of a kind, in the order of events."""
        slices, instants = self.trace.slices, self.trace.instants
        if kind.form is Form.SLICE:
            places = self.order[self.order < len(slices)]
            kinds, payload = slices.kind[places], slices.payload[places]
        elif kind.form is Form.INSTANT:
            places = self.order[self.order >= len(slices)] - len(slices)
            kinds, payload = instants.kind[places], instants.payload[places]
        else:
            return np.zeros(0, np.int64)
        return np.compress(kinds == number, payload)

    def _arguments(self, kind: Kind, payload: Integers) -> list[dict[str, object]]:
        found: list[dict[str, object]] = []
        for argument in kind.arguments if len(payload) else ():
            values = self.trace.arguments[self.trace.kinds.index(kind)][argument.name][payload]
            if (column := self._argument(argument.type, values)) is not None:
                entry = {"name": argument.name, "text": argument.text, "unit": argument.unit}
                found.append({**entry, "type": argument.type.value, "column": column})
        return found

    def _argument(self, type: Type, values: Column) -> dict[str, int | str] | None:
        """An encoded column; None if no event has the argument."""
        if type is Type.REAL:
            real = values.astype(np.float64)
            return None if np.isnan(real).all() else self.blob.reals(real)
        whole = values.astype(np.int64)
        if type is Type.TEXT:
            return None if (whole < 0).all() else self.blob.unsigned(whole + 1)
        return None if (whole == ABSENT).all() else self.blob.integers(whole)

    def counters(self) -> dict[str, object]:
        """Values of counters, one stretch per track."""
        counters = self.trace.counters
        first = np.flatnonzero(np.diff(counters.track, prepend=-1))
        times = deltas(counters.time - self.origin, first)
        return {
            "first": first.tolist(),
            "track": counters.track[first].tolist(),
            "time": self.blob.unsigned(times),
            "value": self.blob.reals(counters.value),
        }

    def flows(self) -> dict[str, object]:
        """Arrows between events, sorted by where they start."""
        flows = self.trace.flows
        place = np.empty(len(self.order), np.int64)
        place[self.order] = np.arange(len(self.order))
        source, destination = place[flows.source], place[flows.destination]
        order = np.lexsort((destination, source))
        return {
            "source": self.blob.unsigned(np.diff(source[order], prepend=0)),
            "destination": self.blob.integers(destination[order] - source[order]),
            "kind": self.blob.unsigned(flows.kind[order]),
        }
