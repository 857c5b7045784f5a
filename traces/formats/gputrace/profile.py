"""The times that Xcode measured when it profiled a capture: `*.gpuprofiler_raw/streamData`.

A property list of an NSKeyedArchiver, whose data are arrays of records. Source:
`docs/STREAMDATA_FORMAT.md` of tmc/gputrace.
"""

from __future__ import annotations

import plistlib
from collections.abc import Iterator
from dataclasses import dataclass
from struct import Struct
from typing import Any, Final

_PIPELINE: Final = (Struct("<16xI"), 40)
_FUNCTION: Final = (Struct("<28xI"), 48)
_COMMAND: Final = (Struct("<12xIQI"), 32)


class ProfileError(ValueError):
    """The message says what is wrong with a profile."""


@dataclass(frozen=True, slots=True)
class Timed:
    """A dispatch with its times, in microseconds from the first one's begin."""

    kernel: str
    encoder: int
    begin: int
    end: int


def timed_of(data: bytes) -> list[Timed]:
    """The dispatches of a profile, in order. Raises ProfileError."""
    archive = _Archive(data)
    names = archive.strings("strings")
    functions = [index for (index,) in archive.records("functionInfo", *_FUNCTION)]
    pipelines = [index for (index,) in archive.records("pipelineStateInfo", *_PIPELINE)]
    found: list[Timed] = []
    before = 0
    for pipeline, end, encoder in archive.records("gpuCommandInfo", *_COMMAND):
        if not before <= end < 1 << 50:
            raise ProfileError(f"dispatch {len(found)} ends before the one in front of it")
        kernel = _at(names, _at(functions, _at(pipelines, pipeline)))
        found.append(Timed(kernel or f"pipeline {pipeline}", encoder, before, end))
        before = end
    return found


def _at(items: list[Any], index: Any) -> Any:
    """What a list has at a place that a file says; None if there is nothing."""
    return items[index] if isinstance(index, int) and index < len(items) else None


class _Archive:
    """What NSKeyedArchiver wrote: objects that name each other by number."""

    def __init__(self, data: bytes) -> None:
        try:
            self._objects = plistlib.loads(data)["$objects"]
            self._root = self._objects[1]
            self._root.keys()
        except Exception as error:  # whatever plistlib raises for damaged lists
            raise ProfileError(f"it is no archive that can be read ({error!r})") from None

    def _object(self, key: str) -> Any:
        found = self._root.get(key)
        return self._followed(found)

    def _followed(self, item: Any) -> Any:
        if not isinstance(item, plistlib.UID):
            return item
        return _at(self._objects, item.data)

    def strings(self, key: str) -> list[str]:
        """An array of strings."""
        array = self._object(key)
        items = array.get("NS.objects", []) if isinstance(array, dict) else []
        return [str(self._followed(each)) for each in items]

    def records(self, name: str, struct: Struct, size: int) -> Iterator[tuple[Any, ...]]:
        """The records of an array of bytes, of the size that the archive says for them."""
        data = self._object(f"{name}Data")
        data = data.get("NS.data", b"") if isinstance(data, dict) else data
        each = self._object(f"{name}Size")
        size = each if isinstance(each, int) else size
        if not isinstance(data, bytes) or size < struct.size or len(data) % size:
            raise ProfileError(f"{name}Data is missing, or has no whole records")
        for at in range(0, len(data), size):
            yield struct.unpack_from(data, at)
