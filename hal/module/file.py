"""Module files: a FlatBuffer, segments behind it, and a checksum at the end.

    u32 size | FlatBuffer | zeros to a multiple of 64 | segments, each so aligned | SHA-256

The checksum is that of the size and the FlatBuffer, which has one for each segment: a segment is
held against its own when it is used, so what is not chosen costs nothing but its bytes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import flatbuffers

from ..flatbuffer import FlatBuffer
from ..status import StatusError
from .codec import decode, encode
from .records import IDENTIFIER, VERSION, Module, Segment, is_assay
from .verify import verify

ALIGNMENT: Final = 64
_DIGEST: Final = 32
_PREFIX: Final = 4
_VERSION_SLOT: Final = 0


@dataclass(frozen=True, slots=True)
class ModuleFile:
    """A module and the bytes of its segments; `name` is what messages call the file."""

    name: str
    module: Module
    segments: tuple[memoryview, ...] = field(repr=False)

    def segment(self, number: int) -> memoryview:
        """The bytes of a segment. Raises StatusError if they are not those that were written."""
        data = self.segments[number]
        if hashlib.sha256(data).digest() != self.module.segments[number].sha256:
            raise StatusError(
                "DATA_LOSS",
                f"{self.name}: segment {number} ({len(data)} bytes) has a wrong checksum: the file "
                "was changed or damaged; build it again",
            )
        return data


def write_module(module: Module, segments: Sequence[bytes | memoryview]) -> bytes:
    """The file of a module, whose own `segments` are replaced. Raises StatusError if it is none."""
    placed, at = [], 0
    for data in segments:
        placed.append(Segment(at, len(data), hashlib.sha256(data).digest()))
        at = _aligned(at + len(data))
    module = replace(module, segments=tuple(placed))
    verify(module, module.name)
    builder: Any = flatbuffers.Builder(1 << 16)
    builder.FinishSizePrefixed(encode(builder, module), file_identifier=IDENTIFIER)
    head = bytes(builder.Output())
    parts: list[bytes | memoryview] = [head, bytes(_aligned(len(head)) - len(head))]
    for data in segments:
        parts += [data, bytes(_aligned(len(data)) - len(data))]
    return b"".join([*parts, hashlib.sha256(head).digest()])


def read_file(path: Path) -> ModuleFile:
    """The module in a file. Raises StatusError."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise StatusError("NOT_FOUND", f"{path}: cannot be read: {error.strerror}") from error
    return read_module(data, str(path))


def read_module(data: bytes | bytearray | memoryview, name: str = "module") -> ModuleFile:
    """The module in bytes, every field of it checked. Raises StatusError."""
    contents = memoryview(data).cast("B").toreadonly()
    if not is_assay(bytes(contents[:12])):
        raise StatusError(
            "INVALID_ARGUMENT", f"{name}: not an Assay module; `assay build` makes them of models"
        )
    size = _PREFIX + int.from_bytes(contents[:_PREFIX], "little")
    end = len(contents) - _DIGEST
    if _aligned(size) > end:
        raise _damaged(name, f"it is cut short: {size} bytes are needed, {len(contents)} are there")
    head = contents[:size]
    buffer = FlatBuffer(head[_PREFIX:], name)
    root = buffer.root(IDENTIFIER)
    if hashlib.sha256(head).digest() != contents[end:]:
        raise _damaged(name, "its checksum is wrong: it was cut short, changed or damaged")
    version = root.number(_VERSION_SLOT, "i")
    if version != VERSION:
        raise StatusError(
            "INCOMPATIBLE",
            f"{name}: modules of version {version} cannot be read, only {VERSION}; build it again",
        )
    module = decode(Module, root)
    segments = _segments(module, contents[_aligned(size) : end], name)
    verify(module, name)
    return ModuleFile(name, module, segments)


def _segments(module: Module, area: memoryview, name: str) -> tuple[memoryview, ...]:
    """The bytes of the segments, which lie one behind the other and fill the area."""
    found, at = [], 0
    for number, segment in enumerate(module.segments):
        if segment.offset != at or segment.size < 0 or at + segment.size > len(area):
            raise _damaged(
                name,
                f"segment {number} is {segment.size} bytes at {segment.offset}; it must begin at "
                f"{at} and end within {len(area)}",
            )
        if len(segment.sha256) != _DIGEST:
            raise _damaged(name, f"segment {number} has no checksum")
        found.append(area[at : at + segment.size])
        at = _aligned(at + segment.size)
    if at != len(area):
        raise _damaged(name, f"its segments end at {at} of {len(area)} bytes")
    return tuple(found)


def _aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


def _damaged(name: str, detail: str) -> StatusError:
    return StatusError("DATA_LOSS", f"{name}: {detail}")
