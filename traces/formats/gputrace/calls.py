"""The calls of a capture: its file `capture`, and the names in `device-resources-*`.

Records are found by the codes of their calls. Source: `docs/trace-format.md`,
`docs/research/RECORD_FORMATS.md` and `internal/trace/mtsp.go` of tmc/gputrace, who compared traces
of Xcode with programs that are known; Apple documents none of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from struct import Struct
from typing import Final

MAGIC: Final = b"MTSP"
_SET_PIPELINE: Final = b"Ct\0\0"
_MADE_PIPELINE: Final = b"Ctt\0"
_NAMED: Final = b"CS\0\0"
_DISPATCH: Final = b"C@3ul@3ul\0\0\0"
_CALLS: Final = re.compile(b"|".join(map(re.escape, (_DISPATCH, _SET_PIPELINE, _NAMED))))
_TWO: Final = Struct("<QQ")
_GRID: Final = Struct("<Q6Q")
_PIPELINE_AT: Final = 0x20  # in the record of its making, from the code on
_FUNCTION_AT: Final = 0x0C
_ADDRESS: Final = Struct("<Q")
_LONGEST_NAME: Final = 4096
_MOST_THREADS: Final = 1 << 32
"""Along one axis: more is no grid but other bytes that look like the code of a dispatch."""


@dataclass(frozen=True, slots=True)
class Call:
    """One dispatch.

    Attributes:
        encoder: which encoder it is of, a number from 0 on, in the order of their first dispatches.
        kernel: its name; the encoder's label where the capture does not tell it; may be empty.
        grid: threads or threadgroups: the capture's record is the same for both.
        threadgroup: threads of one.
    """

    encoder: int
    kernel: str
    grid: tuple[int, int, int]
    threadgroup: tuple[int, int, int]


def calls_of(capture: bytes, resources: list[bytes]) -> list[Call]:
    """The dispatches of a capture, in order."""
    functions = _names(resources)
    kernels = {
        pipeline: functions[function]
        for pipeline, function in _pipelines([*resources, capture])
        if function in functions
    }
    labels: dict[int, str] = {}
    current: dict[int, int] = {}
    encoders: dict[int, int] = {}
    found = []
    for match in _CALLS.finditer(capture):
        code, at = match.group(), match.end()
        if code == _NAMED:
            named = _named(capture, at)
            if named is not None:
                labels[named[0]] = named[1]
        elif code == _SET_PIPELINE and at + _TWO.size <= len(capture):
            encoder, pipeline = _TWO.unpack_from(capture, at)
            current[encoder] = pipeline
        elif code == _DISPATCH and at + _GRID.size <= len(capture):
            encoder, *sizes = _GRID.unpack_from(capture, at)
            if not all(0 < size <= _MOST_THREADS for size in sizes):
                continue
            number = encoders.setdefault(encoder, len(encoders))
            kernel = kernels.get(current.get(encoder, 0)) or labels.get(encoder, "")
            grid, threadgroup = sizes[:3], sizes[3:]
            found.append(Call(number, kernel, _three(grid), _three(threadgroup)))
    return found


def _three(sizes: list[int]) -> tuple[int, int, int]:
    x, y, z = sizes
    return x, y, z


def _names(resources: list[bytes]) -> dict[int, str]:
    """Functions by their addresses."""
    found: dict[int, str] = {}
    for data in resources:
        for match in re.finditer(re.escape(_NAMED), data):
            named = _named(data, match.end())
            if named is not None:
                found.setdefault(*named)
    return found


def _named(data: bytes, at: int) -> tuple[int, str] | None:
    """An address and what it is called, if a name is there."""
    if at + _ADDRESS.size > len(data):
        return None
    (address,) = _ADDRESS.unpack_from(data, at)
    at += _ADDRESS.size
    end = data.find(b"\0", at, at + _LONGEST_NAME)
    text = data[at:end] if end > at else b""
    if not text or not text.isascii() or not text.decode().isprintable():
        return None
    return address, text.decode()


def _pipelines(files: list[bytes]) -> Iterator[tuple[int, int]]:
    """Pipelines with the functions that they were made of."""
    for data in files:
        for match in re.finditer(re.escape(_MADE_PIPELINE), data):
            at = match.start()
            if at + _PIPELINE_AT + _ADDRESS.size <= len(data):
                (function,) = _ADDRESS.unpack_from(data, at + _FUNCTION_AT)
                (pipeline,) = _ADDRESS.unpack_from(data, at + _PIPELINE_AT)
                yield pipeline, function
