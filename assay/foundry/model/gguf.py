"""Reads `.gguf` files, versions 2 and 3: metadata, and tensors where they lie.

Layout: ggml, `docs/gguf.md`. Little-endian; dimensions stand innermost first.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Any, Final

import numpy as np

from assay.compiler.foundry.errors import FoundryError
from assay.compiler.foundry.formats import format_of

from .stored import Stored, StoredFile, mapped

_MAGIC: Final = b"GGUF"
_VERSIONS: Final = (2, 3)
_SCALARS: Final = {
    0: "<B",
    1: "<b",
    2: "<H",
    3: "<h",
    4: "<I",
    5: "<i",
    6: "<f",
    7: "<?",
    10: "<Q",
    11: "<q",
    12: "<d",
}
"""Numbers by the number of their type."""
_STRING, _ARRAY = 8, 9
TYPES: Final[Mapping[int, str]] = {
    0: "f32",
    1: "f16",
    2: "q4_0",
    3: "q4_1",
    8: "q8_0",
    12: "q4_k",
    13: "q5_k",
    14: "q6_k",
    30: "bf16",
    39: "mxfp4",
    40: "nvfp4",
}
"""Formats of tensors by ggml's number of their type."""
_BYTES: Final = {
    "f32": (1, 4),
    "f16": (1, 2),
    "bf16": (1, 2),
    "q4_0": (32, 18),
    "q4_1": (32, 20),
    "q8_0": (32, 34),
    "q4_k": (256, 144),
    "q5_k": (256, 176),
    "q6_k": (256, 210),
    "mxfp4": (32, 17),
    "nvfp4": (64, 36),
}


def read_gguf(path: Path) -> StoredFile:
    """The file's metadata and tensors. Raises FoundryError for a file that is none, or damaged."""
    data = mapped(path)
    reader = _Reader(path, data)
    try:
        return _read(path, reader)
    except (struct.error, UnicodeDecodeError, OverflowError) as error:
        raise FoundryError("model-file", f"{path} is damaged: {error}") from None


def _read(path: Path, reader: _Reader) -> StoredFile:
    if bytes(reader.data[:4]) != _MAGIC:
        raise FoundryError("model-file", f"{path} is no .gguf file: it does not begin with GGUF")
    reader.at = 4
    version = reader.number("<I")
    if version not in _VERSIONS:
        raise FoundryError("model-file", f"{path} is GGUF {version}; versions 2 and 3 are read")
    tensors, pairs = reader.number("<Q"), reader.number("<Q")
    metadata = {}
    for _ in range(pairs):
        key = reader.string()
        metadata[key] = reader.value(reader.number("<I"))
    infos = []
    for _ in range(tensors):
        name = reader.string()
        sizes = tuple(reader.number("<Q") for _ in range(reader.number("<I")))
        infos.append((name, sizes[::-1], reader.number("<I"), reader.number("<Q")))
    alignment = int(metadata.get("general.alignment", 32))
    begin = -(-reader.at // alignment) * alignment
    found = {name: _stored(path, reader, name, begin, *rest) for name, *rest in infos}
    return StoredFile(path, reader.data, metadata, found)


def _stored(
    path: Path, reader: _Reader, name: str, begin: int, shape: tuple[int, ...], kind: int, at: int
) -> Stored:
    if kind not in TYPES:
        raise FoundryError(
            "model-file",
            f"{path}: {name} has ggml's type {kind}; read are {', '.join(TYPES.values())}",
        )
    weights, size = _BYTES[TYPES[kind]]
    count = prod(shape)
    whole = count // weights * size
    if not shape or shape[-1] % weights or begin + at + whole > reader.data.size:
        raise FoundryError("model-file", f"{path} is damaged: {name} {shape} does not fit in it")
    place = begin + at
    return Stored(name, format_of(TYPES[kind]), shape, reader.data[place : place + whole])


class _Reader:
    """Values one after the other."""

    def __init__(self, path: Path, data: np.ndarray[Any, np.dtype[np.uint8]]) -> None:
        self.path, self.data, self.at = path, data, 0

    def number(self, kind: str) -> Any:
        size = struct.calcsize(kind)
        (found,) = struct.unpack(kind, self.data[self.at : self.at + size].tobytes())
        self.at += size
        return found

    def string(self) -> str:
        length = self.number("<Q")
        self.at += length
        if self.at > self.data.size:
            raise struct.error("a string ends behind the file")
        return self.data[self.at - length : self.at].tobytes().decode()

    def value(self, kind: int) -> Any:
        if kind == _STRING:
            return self.string()
        if kind == _ARRAY:
            of, count = self.number("<I"), self.number("<Q")
            if of in _SCALARS:
                return self._numbers(np.dtype(_SCALARS[of]), count)
            return [self.value(of) for _ in range(count)]
        if kind not in _SCALARS:
            raise FoundryError("model-file", f"{self.path}: metadata has the unknown type {kind}")
        return self.number(_SCALARS[kind])

    def _numbers(self, kind: np.dtype[Any], count: int) -> list[Any]:
        begin, self.at = self.at, self.at + count * kind.itemsize
        if self.at > self.data.size:
            raise struct.error("an array ends behind the file")
        found: list[Any] = self.data[begin : self.at].view(kind).tolist()
        return found
