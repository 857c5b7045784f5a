"""Which files are executables of the NPU."""

from __future__ import annotations

from pathlib import Path

SUFFIXES = (".torq", ".fb", ".synap")


def is_executable(source: object) -> bool:
    """Whether this is an executable of the NPU, or an archive with one: a path, or its bytes."""
    if isinstance(source, bytes | bytearray | memoryview):
        from assay.hal.torq.archive import data_is_container

        return data_is_container(memoryview(source))
    if not isinstance(source, str | Path) or (isinstance(source, str) and "\n" in source):
        return False
    path = Path(source)
    if path.suffix in SUFFIXES:
        return True
    if path.suffix != ".vmfb" or not path.is_file():
        return False
    from assay.hal.torq.archive import file_is_container

    return file_is_container(path)
