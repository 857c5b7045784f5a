"""Recordings taken apart into plain data and put together again, also as no recorder would."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from assay.hal.recordings import Bytes, Recording
from assay.hal.recordings.chunks import DONE, HEAD, HEADER, LAST, MAGIC, NEWS, chunk
from assay.hal.recordings.contents import BLOCK, LEVEL
from assay.hal.recordings.forms import Strings, form_of
from assay.hal.recordings.records import PART, VERSION

Change = Callable[[bytes], bytes]


@dataclass
class Plain:
    """What a recording says, as plain data.

    Attributes:
        head: device and program.
        parts: contents by number.
        libraries, kernels, dispatches: as JSON has them.
        said: how many dispatches the end says there are; the truth if None.
    """

    head: dict[str, Any]
    parts: list[bytes]
    libraries: list[dict[str, Any]]
    kernels: list[dict[str, Any]]
    dispatches: list[dict[str, Any]]
    version: int = VERSION
    said: int | None = None


def taken_apart(path: Path) -> Plain:
    """What a recording says."""
    with Recording(path) as recording:
        header = msgspec.to_builtins(recording.header)
        dispatches = [msgspec.to_builtins(each) for each in recording.dispatches()]
        count = len(recording._parts._lengths)
        parts = [bytes(recording._parts.part(number)) for number in range(count)]
        return Plain(
            head={name: header[name] for name in ("device", "program")},
            parts=parts,
            libraries=header["libraries"],
            kernels=header["kernels"],
            dispatches=dispatches,
        )


def put_together(plain: Plain, path: Path) -> Path:
    """A recording that says this."""
    strings = Strings()
    forms, columns = [], []
    for each in plain.dispatches:
        row = dict(each)
        begin, end = (round(row.pop(name) * 1e9) for name in ("begin", "end"))
        numbers: list[int] = []
        forms.append(form_of({**row, "times": [begin, end - begin]}, numbers, strings))
        columns.append([[number] for number in numbers])
    news = {
        "parts": list(map(len, plain.parts)),
        "strings": strings.new,
        "forms": forms,
        "libraries": plain.libraries,
        "kernels": plain.kernels,
        "rows": list(range(len(forms))),
        "columns": columns,
    }
    data = b"".join(plain.parts)
    assert len(data) < BLOCK + PART
    said = len(forms) if plain.said is None else plain.said
    text = HEADER.pack(MAGIC, plain.version)
    text += _chunk(HEAD, plain.head, packed=False)
    text += chunk(LAST, zlib.compress(data), len(data)) if data else b""
    text += _chunk(NEWS, news, packed=True)
    text += _chunk(DONE, {"dispatches": said}, packed=False)
    path.write_bytes(text)
    return path


def with_other_part(path: Path, by: Change, recorded: bytes) -> Path:
    """The recording, beside it, with other bytes where it has the part `recorded`."""
    plain = taken_apart(path)
    assert plain.parts.count(recorded) == 1
    plain.parts = [by(each) if each == recorded else each for each in plain.parts]
    return put_together(plain, path.with_suffix(".changed"))


def packed_size(parts: Iterable[bytes]) -> int:
    """Bytes of buffers' contents, each once, packed together as a recording can at best."""
    data = b"".join(dict.fromkeys(parts))
    blocks = (data[at : at + BLOCK] for at in range(0, len(data), BLOCK))
    return sum(len(zlib.compress(block, LEVEL)) for block in blocks)


def contents(path: Path, which: str, dispatch: int = 0) -> list[bytes]:
    """What the memories of a dispatch held "before" or "after"."""
    with Recording(path) as recording:
        record = list(recording.dispatches())[dispatch]
        found: list[Bytes | None] = [getattr(each, which) for each in record.memories]
        return [bytes(recording.contents(each)) for each in found if each is not None]


def _chunk(tag: bytes, value: object, *, packed: bool) -> bytes:
    data = msgspec.msgpack.encode(value) if packed else json.dumps(value).encode()
    return chunk(tag, zlib.compress(data) if packed else data, len(data))
