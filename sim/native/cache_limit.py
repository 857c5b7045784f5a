"""Keeps the folder of compiled results below a size: what was not used for longest goes first.

Processes need not agree on anything: an entry that another process removes is as if it had never
been there, and one that is removed twice is gone once.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import os
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_log = logging.getLogger(__name__)
DEFAULT_LIMIT: Final = 2 << 30
_UNITS: Final = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_SIZE = re.compile(r"\s*(\d+)\s*([KMG]?)(?:i?B)?\s*", re.IGNORECASE)
# Entries are named by digests; other files in the folder are not ours.
_ENTRY = re.compile(r"[0-9a-f]{64}(?:\.pch|\.sha256)?")
_LEFT_BEHIND = re.compile(r"tmp\w{8}")
# When pruning, leave room, so that not every new entry makes it necessary again.
_KEPT_SHARE: Final = 0.75
_PERIOD_S: Final = 3600.0
_SHARE_PER_PROCESS: Final = 16
_STAMP: Final = "pruned"

_written = 0


def mark_used(path: Path) -> None:
    """Remember that an entry is in use; precise to the hour."""
    with contextlib.suppress(OSError):
        if time.time() - path.stat().st_mtime > _PERIOD_S:
            os.utime(path)


def count_written(size: int, folder: Path) -> None:
    """Count `size` bytes that went into the folder, and prune it now and then."""
    global _written
    _written += size
    limit = limit_of(os.environ.get("ASSAY_CACHE_LIMIT"))
    if _written > limit // _SHARE_PER_PROCESS or _is_due(folder / _STAMP):
        _written = 0
        with contextlib.suppress(OSError):
            (folder / _STAMP).touch()
            prune(folder, limit)


@functools.cache
def limit_of(text: str | None) -> int:
    """Bytes that `ASSAY_CACHE_LIMIT` allows: a number, perhaps with K, M or G behind it."""
    match = _SIZE.fullmatch(text or "")
    if match is None:
        if text:
            _log.warning("ASSAY_CACHE_LIMIT=%s is no size such as 500M or 4G", text)
        return DEFAULT_LIMIT
    return int(match[1]) * _UNITS[match[2].upper()]


def prune(folder: Path, limit: int) -> None:
    """Remove entries, those not used for longest first, if all together exceed `limit` bytes.

    What killed processes left behind goes in any case.
    """
    _remove_left_behind(folder)
    entries = sorted(_entries(folder))
    total = sum(size for _, size, _ in entries)
    if total <= limit:
        return
    for _, size, path in entries:
        if total <= limit * _KEPT_SHARE:
            return
        # Removed meanwhile by another process, or in use on a system that forbids it.
        with contextlib.suppress(OSError):
            path.unlink()
        total -= size


def _is_due(stamp: Path) -> bool:
    try:
        return time.time() - stamp.stat().st_mtime > _PERIOD_S
    except OSError:
        return True


def _remove_left_behind(folder: Path) -> None:
    """Remove what processes were writing when they were killed: files, or folders of files."""
    now = time.time()
    for path in folder.glob("*/**/*"):
        if not _LEFT_BEHIND.fullmatch(path.name):
            continue
        with contextlib.suppress(OSError):
            if now - path.lstat().st_mtime < _PERIOD_S:
                continue  # another process may be writing it
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()


def _entries(folder: Path) -> Iterator[tuple[float, int, Path]]:
    """(time of last use, bytes, path) of every entry."""
    for path in folder.glob("*/**/*"):
        if not _ENTRY.fullmatch(path.name):
            continue
        with contextlib.suppress(OSError):
            known = path.stat()
            if path.is_file():
                yield known.st_mtime, known.st_size, path
