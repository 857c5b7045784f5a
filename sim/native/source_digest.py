"""Digests of folders of source, which a process asks for before it finds anything in the cache.

Reading hundreds of files takes longer than all else that a cached kernel needs. So the digest of
their contents is kept by what tells that none of them changed: sizes, times, places on the disk.
"""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Iterator
from pathlib import Path

from .disk_cache import DiskCache, digest

# A file that changes twice between two ticks of the clock that its times come from looks unchanged.
_SETTLED = 2_000_000_000  # nanoseconds


@functools.cache
def source_digest(*folders: Path) -> str:
    """A digest of the names and contents of all files below some folders, but for Python's caches.

    Raises:
        OSError: for folders or files that cannot be read.
    """
    found = [(folder, *each) for folder in folders for each in sorted(_files(os.fspath(folder)))]
    cache = DiskCache("sources")
    looks = digest(*(repr((path, _look(stat))) for _, path, stat in found))
    known = cache.get(looks)
    if known is not None:
        return known.decode()
    parts: list[bytes | str] = []
    for folder, path, _ in found:
        parts += [path.removeprefix(os.path.join(folder, "")), Path(path).read_bytes()]
    made = digest(*parts)
    newest = max((max(stat.st_mtime_ns, stat.st_ctime_ns) for _, _, stat in found), default=0)
    if newest < time.time_ns() - _SETTLED:
        cache.put(looks, made.encode())
    return made


def _files(folder: str) -> Iterator[tuple[str, os.stat_result]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                if entry.name != "__pycache__":
                    yield from _files(entry.path)
            else:
                yield entry.path, entry.stat()


def _look(stat: os.stat_result) -> tuple[int, ...]:
    return stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino, stat.st_dev
