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
_MOST_BYTES = 64 << 20  # of all archives, however little their compressed forms take


def sources_in(section: bytes) -> dict[str, str]:
    """The files of a section, by their absolute paths and as the compiler was told them.

    What is damaged is left out.
    """
    found: dict[str, str] = {}
    left = _MOST_BYTES
    for archive in _archives(section):
        raw = _unpacked(archive, left)
        left -= len(raw)
        files = dict(_files(raw))
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
    while at + _GROUP.size <= len(section):
        size, tag, length = _GROUP.unpack_from(section, at)
        payload = section[at + _GROUP.size : at + _GROUP.size + length]
        start = payload.find(b"\0") + 1  # behind the identifier
        if tag == b"SARC" and start:
            yield payload[start:]
        at += 4 + size


def _unpacked(archive: bytes, most: int) -> bytes:
    """So many bytes of an archive at most."""
    if most <= 0:
        return b""
    try:
        return bz2.BZ2Decompressor().decompress(archive, most)
    except (OSError, EOFError):
        return b""


def _files(raw: bytes) -> Iterator[tuple[str, str]]:
    """Path and text of each file in an archive."""
    try:
        with tarfile.open(fileobj=io.BytesIO(raw)) as opened:
            for member in opened:
                content = opened.extractfile(member) if member.isfile() else None
                if content is not None:
                    yield "/" + member.name.lstrip("/"), content.read().decode("utf-8", "replace")
    except (OSError, EOFError, ValueError, tarfile.TarError):
        return
