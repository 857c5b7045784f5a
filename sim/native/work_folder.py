"""Folders for work in progress: gone with the process that made them, however it ends."""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final

_PREFIX: Final = "assay-work-"
_OWNER: Final = ".owner"
# Without locks, or without an owner's file, only age tells that nobody works in a folder any more.
_OLD_S: Final = 24 * 3600.0


@contextlib.contextmanager
def work_folder() -> Iterator[Path]:
    """A new temporary folder, removed at the end; those of processes that were killed go first."""
    _sweep_once(tempfile.gettempdir())
    with tempfile.TemporaryDirectory(prefix=_PREFIX) as name:
        folder = Path(name)
        with _owned(folder):
            yield folder


def sweep(place: Path) -> None:
    """Remove the work folders in `place` whose processes are no more."""
    with contextlib.suppress(OSError), os.scandir(place) as entries:
        for entry in entries:
            if entry.name.startswith(_PREFIX) and _is_abandoned(entry):
                shutil.rmtree(entry.path, ignore_errors=True)


@functools.cache
def _sweep_once(place: str) -> None:
    sweep(Path(place))


@contextlib.contextmanager
def _owned(folder: Path) -> Iterator[None]:
    """Hold the lock that tells others that the folder is in use: it ends with the process."""
    made = folder / f"{_OWNER}.new"
    with made.open("wb") as file:
        # Locked before it has its name: nobody finds the file without its lock.
        if _lock(file):
            made.rename(folder / _OWNER)
        yield


def _is_abandoned(entry: os.DirEntry[str]) -> bool:
    try:
        known = entry.stat(follow_symlinks=False)
        if not entry.is_dir(follow_symlinks=False) or not _is_ours(known):
            return False
        owner = Path(entry.path) / _OWNER
        if not owner.exists():
            return time.time() - known.st_mtime > _OLD_S
        with owner.open("rb") as file:
            return _lock(file)
    except OSError:  # gone meanwhile, or closed to us
        return False


def _is_ours(known: os.stat_result) -> bool:
    """Whether a folder belongs to this user: temporary places are shared."""
    return sys.platform == "win32" or known.st_uid == os.getuid()


def _lock(file: IO[bytes]) -> bool:
    """Whether a file is locked now by this process; False where there are no such locks."""
    if sys.platform == "win32":
        return False
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
