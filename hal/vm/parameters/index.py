"""What all parameter file formats come down to: keys and where their bytes are."""

from __future__ import annotations

import mmap
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ...status import StatusError, out_of_range
from .gguf import read_gguf
from .irpa import read_irpa
from .ranges import Found, Splat
from .safetensors import read_safetensors

_READERS = {".irpa": read_irpa, ".safetensors": read_safetensors, ".gguf": read_gguf}


@dataclass(frozen=True, kw_only=True, slots=True)
class ParameterEntry:
    """One parameter: a view of its bytes, or a pattern that repeats for `length` bytes."""

    key: str
    length: int
    data: memoryview | None
    pattern: bytes

    def span(self, offset: int, length: int) -> memoryview:
        """A byte range of the parameter."""
        if offset < 0 or length < 0 or offset + length > self.length:
            raise out_of_range(
                f"parameter `{self.key}` range out of bounds: offset {offset}, length {length}, "
                f"the parameter has {self.length} bytes"
            )
        if self.data is not None:
            return self.data[offset : offset + length]
        width = len(self.pattern)
        whole = self.pattern * (length // width + 2)
        return memoryview(whole)[offset % width : offset % width + length]


class ParameterIndex:
    """The parameters of one scope."""

    def __init__(self, scope: str, entries: Mapping[str, ParameterEntry]) -> None:
        self.scope = scope
        self.entries = dict(entries)

    def lookup(self, key: str) -> ParameterEntry:
        """The parameter with this key."""
        entry = self.entries.get(key)
        if entry is None:
            near = ", ".join(sorted(self.entries)[:5]) or "none"
            raise StatusError(
                "NOT_FOUND",
                f"parameter `{key}` not found in scope `{self.scope}`; there are "
                f"{len(self.entries)} parameters: {near}"
                + (", ..." if len(self.entries) > 5 else ""),
            )
        return entry


def open_parameters(path: Path) -> dict[str, ParameterEntry]:
    """Read a parameter file's index; the bytes stay in the file until they are used.

    The format goes by the name's ending. Raises StatusError if the file cannot be used.
    """
    reader = _READERS.get(path.suffix)
    if reader is None:
        raise StatusError(
            "INVALID_ARGUMENT",
            f"{path}: unknown kind of parameter file; expected a name ending in "
            + ", ".join(sorted(_READERS)),
        )
    data = _mapped(path)
    return {key: _entry(path, data, key, found) for key, found in reader(data, str(path)).items()}


def _entry(path: Path, data: memoryview, key: str, found: Found) -> ParameterEntry:
    if isinstance(found, Splat):
        return ParameterEntry(key=key, length=found.length, data=None, pattern=found.pattern)
    offset, length = found
    if offset < 0 or length < 0 or offset + length > len(data):
        raise StatusError(
            "INVALID_ARGUMENT",
            f"{path}: parameter `{key}` lies at {offset} with {length} bytes, "
            f"outside the file's {len(data)}",
        )
    return ParameterEntry(key=key, length=length, data=data[offset : offset + length], pattern=b"")


def _mapped(path: Path) -> memoryview:
    try:
        with path.open("rb") as file:
            if file.seek(0, 2) == 0:
                return memoryview(b"")
            return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except OSError as error:
        raise StatusError(
            "NOT_FOUND", f"{path}: cannot read the parameter file: {error.strerror}"
        ) from error
