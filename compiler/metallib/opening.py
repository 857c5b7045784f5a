"""Opens files of compiled kernels, whoever made them."""

from __future__ import annotations

from mmap import mmap
from pathlib import Path

from ..air import AirLibrary, mapped
from ..msl import KernelLibrary
from .source_library import SourceLibrary
from .stored import MAGIC, is_stored, unpacked


def open_library(path: Path) -> KernelLibrary:
    """The kernels of a file: a library, one inside of a program, bitcode, or of `assay metal`.

    Raises:
        CompileError: if it cannot be read, is none of these, or is damaged.
    """
    return opened(mapped(path), str(path))


def opened(data: bytes | mmap, name: str) -> KernelLibrary:
    """The kernels in a file's bytes; `name` is what messages call it. Raises CompileError."""
    if is_stored(data[: len(MAGIC)]):
        return SourceLibrary(unpacked(bytes(data), name), name)
    return AirLibrary(data, name)
