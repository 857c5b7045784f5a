"""Which files are executables of the NPU."""

from __future__ import annotations

from pathlib import Path

SUFFIXES = (".torq", ".fb", ".synap")


def is_executable(source: object) -> bool:
    """Whether this is an executable of the NPU, or an archive with one: a path, or its bytes."""
    from assay.hal.torq.archive import data_is_container, file_is_container

    if isinstance(source, bytes | bytearray | memoryview):
        return data_is_container(memoryview(source))
    if not isinstance(source, str | Path) or (isinstance(source, str) and "\n" in source):
        return False
    path = Path(source)
    if path.suffix in SUFFIXES:
        return True
    return path.suffix == ".vmfb" and path.is_file() and file_is_container(path)
