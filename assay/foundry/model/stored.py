"""Tensors as files hold them."""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.compiler.foundry.errors import FoundryError
from assay.compiler.foundry.formats import Format, Packed

Bytes = NDArray[np.uint8]


@dataclass(frozen=True, slots=True, eq=False)
class Stored:
    """A tensor of a file: `data` are its bytes there, in a format that keeps all in buffer 0."""

    name: str
    format: Format
    shape: tuple[int, ...]
    data: Bytes

    @property
    def packed(self) -> Packed:
        """As a matrix; what has one dimension is a row."""
        *rows, columns = self.shape
        return Packed(self.data, np.empty(0, np.uint8), int(np.prod(rows, dtype=int)), columns)

    @property
    def values(self) -> NDArray[np.float32]:
        """What it stands for, in its shape."""
        return self.format.unpack(self.packed).reshape(self.shape)


@dataclass(frozen=True, slots=True, eq=False)
class StoredFile:
    """A file: `data` is all of it, mapped into memory, and its tensors are views of that."""

    path: Path
    data: Bytes
    metadata: Mapping[str, Any]
    tensors: Mapping[str, Stored]

    def tensor(self, name: str) -> Stored:
        """Raises FoundryError if the file has none of that name."""
        if name not in self.tensors:
            raise FoundryError("model-file", f"{self.path} has no tensor {name}")
        return self.tensors[name]


def mapped(path: Path) -> Bytes:
    """A file's bytes in memory, from the beginning of a page on; changes stay in memory.

    Raises FoundryError for a file that cannot be read, or is empty.
    """
    try:
        with path.open("rb") as file:
            memory = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    except (OSError, ValueError) as error:
        raise FoundryError("model-file", f"{path} cannot be read: {error}") from None
    return np.frombuffer(memory, np.uint8)


def whole_pages(data: Bytes) -> Bytes:
    """Mapped bytes up to the end of their last page, which is mapped too. Keep `data` alive."""
    length = -(-data.size // mmap.PAGESIZE) * mmap.PAGESIZE
    memory = (ctypes.c_uint8 * length).from_address(data.ctypes.data)
    return np.frombuffer(memoryview(memory), np.uint8)
