"""What `assay metal` writes: preprocessed source with what it was compiled for.

A file is a magic, a version, SHA-256 of the rest, and compressed JSON of its units, each a source
file after preprocessing. Opening one compiles its text as any other source is compiled: what is
untrusted there is untrusted source. No Mac reads such a file, and none of its own begins so.
"""

from __future__ import annotations

import hashlib
import json
import struct
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from ..msl.errors import CompileError
from ..msl.options import CompileOptions

MAGIC = b"ASSAYMTL"
_HEADER = struct.Struct("<8sI32s")
_VERSION = 1
_MOST_BYTES = 256 << 20  # of the JSON, however little its compressed form takes
_NEWER = "it was written by another version of Assay; compile it again"


class StoredLibraryError(CompileError):
    """A file is none of `assay metal`, or damaged; `str()` says where and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """One source file.

    Attributes:
        file_name: as the compiler was told it.
        text: after preprocessing, with the lines of the files that it came from.
        fast_math: whether multiplications and additions may be fused.
        language_version: of MSL, major and minor.
        sources: the files that it came from, as they are, by name.
        undefined: what to say, when it is linked, of functions that it calls and nothing defines.
    """

    file_name: str
    text: str = field(repr=False)
    fast_math: bool
    language_version: tuple[int, int]
    sources: Mapping[str, str] = field(repr=False)
    undefined: tuple[str, ...] = ()

    @property
    def options(self) -> CompileOptions:
        """What its text is compiled with."""
        return CompileOptions(fast_math=self.fast_math, language_version=self.language_version)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredLibrary:
    """Units in their order, and the version of Assay that wrote them."""

    made_by: str
    units: tuple[Unit, ...]


def is_stored(data: bytes | memoryview) -> bool:
    """Whether a file begins as those of `assay metal` do."""
    return bytes(data[: len(MAGIC)]) == MAGIC


def packed(library: StoredLibrary) -> bytes:
    """A library as a file."""
    text = json.dumps(asdict(library), ensure_ascii=False, sort_keys=True)
    payload = zlib.compress(text.encode("utf-8", "surrogateescape"), 9)
    return _HEADER.pack(MAGIC, _VERSION, hashlib.sha256(payload).digest()) + payload


def unpacked(data: bytes | memoryview, name: str) -> StoredLibrary:
    """The library in a file, which messages call `name`. Raises StoredLibraryError."""
    if len(data) < _HEADER.size or not is_stored(data):
        raise StoredLibraryError(f"{name}: damaged or truncated, or no file of assay metal")
    _, version, digest = _HEADER.unpack_from(data)
    if version != _VERSION:
        raise StoredLibraryError(f"{name}: {_NEWER}")
    payload = bytes(data[_HEADER.size :])
    if hashlib.sha256(payload).digest() != digest:
        raise StoredLibraryError(f"{name}: damaged or truncated: its hash is another")
    try:
        stream = zlib.decompressobj()
        raw = stream.decompress(payload, _MOST_BYTES)
        if stream.unconsumed_tail or not stream.eof:
            raise StoredLibraryError(f"{name}: it has more than {_MOST_BYTES >> 20} MiB of source")
        return _library(json.loads(raw))
    except (zlib.error, ValueError, KeyError, TypeError, RecursionError):
        raise StoredLibraryError(f"{name}: damaged: what it holds is not understood") from None


def _library(record: Mapping[str, object]) -> StoredLibrary:
    units = record["units"]
    if not isinstance(units, list):
        raise TypeError
    return StoredLibrary(
        made_by=_text(record["made_by"]), units=tuple(_unit(dict(each)) for each in units)
    )


def _unit(record: Mapping[str, object]) -> Unit:
    sources, version = record["sources"], record["language_version"]
    undefined = record.get("undefined", [])  # files of before have none
    if not isinstance(sources, dict) or not isinstance(version, list):
        raise TypeError
    if not isinstance(undefined, list):
        raise TypeError
    major, minor = (int(number) for number in version)
    return Unit(
        file_name=_text(record["file_name"]),
        text=_text(record["text"]),
        fast_math=record["fast_math"] is True,
        language_version=(major, minor),
        sources={_text(name): _text(text) for name, text in sources.items()},
        undefined=tuple(_text(each) for each in undefined),
    )


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value
