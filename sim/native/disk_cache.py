"""Compiled results kept on disk between runs: checked when read, replaced whole when written."""

from __future__ import annotations

import hashlib
from pathlib import Path

from .cache_files import write_entry
from .cache_folder import cache_folder
from .cache_limit import count_written, mark_used

_MAGIC = b"ASSAYC01"


def digest(*parts: bytes | str) -> str:
    """A key of everything that decides a result; parts cannot run into each other."""
    state = hashlib.sha256()
    for part in parts:
        raw = part.encode() if isinstance(part, str) else part
        state.update(len(raw).to_bytes(8, "little"))
        state.update(raw)
    return state.hexdigest()


class DiskCache:
    """One kind of entries, in a folder of its own.

    Safe with several processes: an entry appears whole or not at all. An entry that was damaged,
    or a folder that cannot be written, is as if there were none. What was not used for long goes
    when the folder exceeds `ASSAY_CACHE_LIMIT`.
    """

    def __init__(self, kind: str) -> None:
        self._kind = kind

    def _path(self, key: str) -> Path:
        return cache_folder() / self._kind / key[:2] / key

    def get(self, key: str) -> bytes | None:
        """The entry's bytes, or None."""
        path = self._path(key)
        try:
            raw = path.read_bytes()
        except OSError:
            return None
        head, payload = raw[:40], raw[40:]
        if head != _MAGIC + hashlib.sha256(payload).digest():
            return None
        mark_used(path)
        return payload

    def put(self, key: str, payload: bytes) -> None:
        """Keep an entry, as far as the disk allows."""
        if write_entry(self._path(key), _MAGIC + hashlib.sha256(payload).digest() + payload):
            count_written(len(payload), cache_folder())
