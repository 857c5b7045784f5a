"""Writing ZIP archives whose members are stored as they are, each at an aligned place."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence

ALIGNMENT = 64
"""Bytes; of each member's data, from the start of the file."""
LOCAL_HEADER = 30
"""Bytes before a member's name."""
_EPOCH = (1980, 1, 1, 0, 0, 0)


def stored_zip(files: Sequence[tuple[str, bytes]]) -> tuple[bytes, tuple[int, ...]]:
    """An archive of (name, data), and where the data of each begins in it."""
    output = io.BytesIO()
    starts = []
    with zipfile.ZipFile(output, "w", zipfile.ZIP_STORED) as archive:
        for name, data in files:
            entry = zipfile.ZipInfo(name, _EPOCH)
            begin = output.tell() + LOCAL_HEADER + len(name.encode())
            # An extra field of 4 bytes of header and some of padding brings the data to a boundary.
            padding = -(begin + 4) % ALIGNMENT
            entry.extra = b"\xfe\xca" + padding.to_bytes(2, "little") + bytes(padding)
            starts.append(begin + len(entry.extra))
            archive.writestr(entry, data)
    return output.getvalue(), tuple(starts)
