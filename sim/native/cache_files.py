"""Files of the cache folder: written whole or not at all, whatever stands in their place."""

from __future__ import annotations

import contextlib
import errno
import functools
import logging
import os
import shutil
import tempfile
from pathlib import Path

from .cache_folder import cache_folder

_log = logging.getLogger(__name__)
_FULL = (errno.ENOSPC, errno.EDQUOT)


def write_entry(path: Path, data: bytes) -> bool:
    """Put a file into the cache folder as far as the disk allows; whether it is there now.

    What was damaged into something else than a file, or stands where a folder should be, goes.
    """
    temporary: str | None = None
    try:
        _make_folder(path.parent)
        handle, temporary = tempfile.mkstemp(dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        _clear(path)
        os.replace(temporary, path)
    except OSError as error:
        # Without a cache everything still works, only slower.
        if error.errno in _FULL:
            _tell_full(cache_folder())
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        return False
    return True


def _make_folder(folder: Path) -> None:
    """A folder with those around it; below the cache folder, files in the way are removed."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        root = cache_folder()
        inside = [each for each in (folder, *folder.parents) if root in each.parents]
        for each in inside:
            if os.path.lexists(each) and not each.is_dir():
                each.unlink()
        folder.mkdir(parents=True, exist_ok=True)


def _clear(path: Path) -> None:
    """Remove a folder that stands where a file belongs."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)


@functools.cache
def _tell_full(folder: Path) -> None:
    """Say it once for each folder; what is logged goes to stderr, unless a program chose else."""
    _log.warning(
        "note: the disk under %s is full: what is compiled is not kept, and every run compiles it "
        "again; make room there, or set ASSAY_CACHE_DIR to a folder on another disk",
        folder,
    )
