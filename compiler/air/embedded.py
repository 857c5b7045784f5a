"""Sources that a library carries: archives of the files that each of its parts was made from.

The section `HSRD` has a number of archives, the linker's command, its folder, and then groups of
one tag `SARC` each: an identifier and a compressed `ustar` archive, in which sources stand by their
paths, and the folder that the compiler ran in.
"""

from __future__ import annotations

import bz2
import io
import struct
import tarfile
from collections.abc import Iterator

_GROUP = struct.Struct("<I4sI")
_FOLDER = "/metal-working-dir.txt"
_MOST_BYTES = 64 << 20  # of one archive, however little its compressed form takes
_MOST_ARCHIVES = 1 << 12


def sources_in(section: bytes) -> dict[str, str]:
    """The files of a section, by their absolute paths and as the compiler was told them.

    What is damaged is left out.
    """
    found: dict[str, str] = {}
    for archive in _archives(section):
        files = dict(_files(archive))
        folder = files.pop(_FOLDER, "").strip("\0\n") + "/"
        for path, text in files.items():
            found.setdefault(path, text)
            if path.startswith(folder):
                found.setdefault(path.removeprefix(folder), text)
    return found


def _archives(section: bytes) -> Iterator[bytes]:
    """The compressed archives of a section."""
    at = 4
    for _ in range(2):  # the linker's command and folder
        end = section.find(b"\0", at)
        if end < 0:
            return
        at = end + 1
    for _ in range(_MOST_ARCHIVES):
        if at + _GROUP.size > len(section):
            return
        size, tag, length = _GROUP.unpack_from(section, at)
        payload = section[at + _GROUP.size : at + _GROUP.size + length]
        start = payload.find(b"\0") + 1  # behind the identifier
        if tag == b"SARC" and start:
            yield payload[start:]
        at += 4 + size


def _files(archive: bytes) -> Iterator[tuple[str, str]]:
    """Path and text of each file in a compressed archive."""
    try:
        raw = bz2.BZ2Decompressor().decompress(archive, _MOST_BYTES)
        with tarfile.open(fileobj=io.BytesIO(raw)) as opened:
            for member in opened:
                content = opened.extractfile(member) if member.isfile() else None
                if content is not None:
                    yield "/" + member.name.lstrip("/"), content.read().decode("utf-8", "replace")
    except (OSError, EOFError, tarfile.TarError):
        return
