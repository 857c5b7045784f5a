"""The `.assay-trace` format: append-only chunks, each with its length and a checksum.

A file is a header of 16 bytes and chunks. All numbers are little-endian.

* header: `MAGIC` (8 bytes), version (u32), zero (u32);
* chunk: tag (4 bytes), length of the payload (u32), CRC-32 of tag and payload (u32), payload.

| tag | payload |
|---|---|
| `HEAD` | JSON: title, clock, causes; the first chunk |
| `DEFS` | JSON: tracks, kinds and names that are new; their numbers go on counting |
| `ROWS` | number of the kind (u32), of events (u32), columns of the kind, 8 bytes a value |
| `ROWZ` | the same, the columns compressed by zlib |
| `DONE` | JSON: number of events; the last chunk of a recording that was finished |

A file without `DONE` is what a crash left: everything up to its last whole chunk is good.
"""

from __future__ import annotations

import json
import struct
import zlib
from typing import Any

import numpy as np

from ..events.clock import Clock
from ..events.content import TrackDefinition, columns_of
from ..events.schema import Argument, Cause, Form, Group, Kind, Role, Type
from ..events.trace import Column

MAGIC = b"\x89ASSAY\r\n"
VERSION = 1
HEADER = struct.Struct("<8sII")
CHUNK = struct.Struct("<4sII")
ROWS_HEAD = struct.Struct("<II")
SUFFIX = ".assay-trace"


def header() -> bytes:
    """The first bytes of a file."""
    return HEADER.pack(MAGIC, VERSION, 0)


def chunk(tag: bytes, payload: bytes) -> bytes:
    """One chunk."""
    return CHUNK.pack(tag, len(payload), zlib.crc32(payload, zlib.crc32(tag))) + payload


def json_chunk(tag: bytes, value: object) -> bytes:
    """One chunk whose payload is JSON."""
    return chunk(tag, json.dumps(value, separators=(",", ":")).encode())


def rows_chunk(number: int, kind: Kind, columns: dict[str, Column], *, packed: bool) -> bytes:
    """One chunk of events of a kind."""
    parts = [
        np.ascontiguousarray(columns[name]).astype(
            "<" + ("f8" if type is Type.REAL else "i8"), copy=False
        )
        for name, type in columns_of(kind)
    ]
    body = b"".join(part.tobytes() for part in parts)
    head = ROWS_HEAD.pack(number, len(parts[0]))
    if packed:
        return chunk(b"ROWZ", head + zlib.compress(body, 1))
    return chunk(b"ROWS", head + body)


def head_json(title: str, clock: Clock, causes: list[Cause]) -> dict[str, Any]:
    """The payload of `HEAD`."""
    return {
        "title": title,
        "clock": {"name": clock.name, "unit": clock.unit, "hz": clock.hz},
        "causes": [{"name": c.name, "group": c.group.value, "text": c.text} for c in causes],
    }


def track_json(track: TrackDefinition) -> dict[str, Any]:
    """A track in `DEFS`."""
    return {
        "name": track.name,
        "parent": track.parent,
        "role": track.role.value,
        "unit": track.unit,
        "capacity": track.capacity,
        "order": track.order,
    }


def kind_json(kind: Kind) -> dict[str, Any]:
    """A kind in `DEFS`."""
    return {
        "name": kind.name,
        "form": kind.form.value,
        "category": kind.category,
        "text": kind.text,
        "arguments": [
            {"name": a.name, "text": a.text, "unit": a.unit, "type": a.type.value}
            for a in kind.arguments
        ],
        "overlapping": kind.overlapping,
        "tiled": kind.tiled,
        "caused": kind.caused,
        "around": kind.around,
    }


def clock_of(value: dict[str, Any]) -> Clock:
    """The clock in `HEAD`."""
    return Clock(name=str(value["name"]), unit=str(value["unit"]), hz=int(value["hz"]))


def cause_of(value: dict[str, Any]) -> Cause:
    """A cause in `HEAD`."""
    return Cause(name=str(value["name"]), group=Group(value["group"]), text=str(value["text"]))


def track_of(value: dict[str, Any]) -> TrackDefinition:
    """A track in `DEFS`."""
    capacity = value["capacity"]
    return TrackDefinition(
        name=str(value["name"]),
        parent=int(value["parent"]),
        role=Role(value["role"]),
        unit=str(value["unit"]),
        capacity=None if capacity is None else int(capacity),
        order=int(value["order"]),
    )


def kind_of(value: dict[str, Any]) -> Kind:
    """A kind in `DEFS`."""
    return Kind(
        name=str(value["name"]),
        form=Form(value["form"]),
        category=str(value["category"]),
        text=str(value["text"]),
        arguments=tuple(
            Argument(str(a["name"]), str(a["text"]), str(a["unit"]), Type(a["type"]))
            for a in value["arguments"]
        ),
        overlapping=bool(value["overlapping"]),
        tiled=bool(value["tiled"]),
        caused=bool(value["caused"]),
        around=bool(value["around"]),
    )
