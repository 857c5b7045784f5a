"""Opens files of compiled kernels, whoever made them."""

from __future__ import annotations

from mmap import ACCESS_READ, mmap
from pathlib import Path

from ..air import AirFormatError, AirLibrary
from ..msl import KernelLibrary
from .source_library import SourceLibrary
from .stored import MAGIC, is_stored, unpacked


def open_library(path: Path) -> KernelLibrary:
    """The kernels of a file: a library, one inside of a program, bitcode, or of `assay metal`.

    Raises:
        CompileError: if it cannot be read, is none of these, or is damaged.
    """
    try:
        with path.open("rb") as file:
            data = mmap(file.fileno(), 0, access=ACCESS_READ)
    except (OSError, ValueError) as error:  # an empty file has no memory
        reason = getattr(error, "strerror", None) or error
        raise AirFormatError(f"{path}: cannot be read: {reason}") from None
    return opened(data, str(path))


def opened(data: bytes | mmap, name: str) -> KernelLibrary:
    """The kernels in a file's bytes; `name` is what messages call it. Raises CompileError."""
    if is_stored(data[: len(MAGIC)]):
        return SourceLibrary(unpacked(bytes(data), name), name)
    return AirLibrary(data, name)
