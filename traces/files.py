"""Trace files by their names: which writer and which reader; writes are all or nothing."""

from __future__ import annotations

import contextlib
import gzip
import os
import re
import tempfile
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO, cast

from .events.build import build
from .events.content import Content
from .events.content_of import content_of
from .events.errors import TraceError, TraceFileError
from .events.trace import Trace
from .formats.chrome_read import is_json, read_chrome
from .formats.chrome_write import write_chrome
from .formats.gputrace import read_gputrace
from .formats.perfetto.read import is_perfetto, read_perfetto
from .formats.perfetto.write import write_perfetto
from .formats.xctrace_read import is_xctrace, read_xctrace
from .garbage import no_collection
from .record.container import MAGIC, SUFFIX
from .record.container_read import read_container
from .record.spill import write_container
from .viewer.html_read import read_html
from .viewer.html_write import is_page, write_html

HTML = ".html"
WRITERS: dict[str, Callable[[Trace, IO[bytes]], None]] = {
    ".pftrace": write_perfetto,
    ".json": write_chrome,
    SUFFIX: lambda trace, stream: write_container(content_of(trace), stream),
    HTML: write_html,
}
"""Writers by the suffix of the file."""

_GZIP = b"\x1f\x8b"
_LARGEST = 4 << 30
"""Bytes that a compressed file may unpack to."""
_OLD_S = 3600.0
"""Seconds after which nobody writes a file any more that nobody touched."""


def suffixes() -> tuple[str, ...]:
    """Suffixes of files that can be written; each but `.html` also with `.gz` behind."""
    return tuple(WRITERS)


def check_suffix(path: Path) -> str:
    """The suffix that says the format. Raises TraceError if there is no such format."""
    name = path.name.removesuffix(".gz")
    suffix = next((s for s in suffixes() if name.endswith(s)), None)
    if suffix is None or (suffix == HTML and path.name.endswith(".gz")):
        known = ", ".join(suffixes())
        raise TraceError(
            f"{path}: the name says no trace format; there are {known}, all but .html also with .gz"
        )
    return suffix


def write_trace(trace: Trace, path: Path) -> None:
    """Write a trace in the format that the name says; an existing file is replaced when done.

    Raises TraceError if there is no such format, OSError if it cannot be written.
    """
    suffix = check_suffix(path)
    try:
        real = Path(os.path.realpath(path))
        _replace(real, suffix, WRITERS[suffix], trace, packed=path.name.endswith(".gz"))
    except OSError as error:  # which names the temporary file, or none
        raise OSError(error.errno, error.strerror, str(path)) from None


def _replace(
    path: Path,
    suffix: str,
    writer: Callable[[Trace, IO[bytes]], None],
    trace: Trace,
    *,
    packed: bool,
) -> None:
    """Write beside a file and then put it in its place; a link has been followed before."""
    _remove_left_behind(path, suffix)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=suffix)
    os.close(handle)
    temporary = Path(name)
    try:
        _write(writer, trace, temporary, packed=packed)
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _remove_left_behind(path: Path, suffix: str) -> None:
    """Remove what processes were writing in place of a file when they were killed."""
    left = re.compile(re.escape(f".{path.name}.") + r"\w{8}" + re.escape(suffix))
    with contextlib.suppress(OSError):  # no such folder or closed to us: writing tells it
        for beside in path.parent.iterdir():
            if left.fullmatch(beside.name) and time.time() - beside.stat().st_mtime > _OLD_S:
                beside.unlink(missing_ok=True)


def read_trace(path: Path) -> Trace:
    """The trace in a file, whatever its name: the first bytes say the format.

    Raises TraceFileError if it is none or malformed, OSError if it cannot be read.
    """
    try:
        if path.is_dir():
            return build(read_gputrace(path))
        return build(read_content(path.read_bytes(), str(path)))
    except TraceFileError:
        raise
    except TraceError as error:
        raise TraceFileError(str(path), None, str(error)) from None


def read_content(data: bytes, file: str) -> Content:
    """The content of a file called `file` in messages. Raises TraceFileError."""
    notes = []
    if data.startswith(_GZIP):
        data, note = _unpacked(data, file)
        notes = [note] if note else []
    with no_collection():
        content = _content(data, file)
    content.notes = [*notes, *content.notes]
    return content


def _content(data: bytes, file: str) -> Content:
    if data.startswith(MAGIC):
        return read_container(data, file)
    if is_page(data):
        return read_html(data, file)
    if is_json(data):
        return read_chrome(data, file)
    if is_xctrace(data):
        return read_xctrace(data, file)
    if is_perfetto(data):
        return read_perfetto(data, file)
    if not data:
        raise TraceFileError(file, 0, "is empty")
    raise TraceFileError(file, 0, _unknown(data))


def _write(
    writer: Callable[[Trace, IO[bytes]], None], trace: Trace, path: Path, *, packed: bool
) -> None:
    if not packed:
        with path.open("wb") as stream:
            writer(trace, stream)
        return
    # No time and no name of the machine's go into the file: equal traces give equal files.
    with path.open("wb") as raw, gzip.GzipFile("", "wb", 6, raw, mtime=0) as stream:
        writer(trace, cast(IO[bytes], stream))


def _unpacked(data: bytes, file: str) -> tuple[bytes, str]:
    """What a gzip file holds, up to where it was cut off, and a note if it was."""
    found, rest = [], data
    size = 0
    while rest.startswith(_GZIP):
        unpacker = zlib.decompressobj(wbits=31)
        try:
            part = unpacker.decompress(rest, _LARGEST - size + 1)
        except zlib.error as error:
            offset = len(data) - len(rest)
            raise TraceFileError(file, offset, f"the gzip data are damaged: {error}") from None
        size += len(part)
        if size > _LARGEST:
            raise TraceFileError(file, None, f"unpacks to more than {_LARGEST >> 30} GiB")
        found.append(part)
        if not unpacker.eof:
            return b"".join(found), f"the gzip data are cut off at byte {len(data)}"
        rest = unpacker.unused_data
    return b"".join(found), ""


def _unknown(data: bytes) -> str:
    head = data[:256].lstrip().lower()
    if head.startswith((b"<!doctype", b"<html")):
        return (
            "is a web page that shows no trace, or only the beginning of one; pages that --trace "
            "NAME.html wrote are read whole"
        )
    if data.startswith(b"SQLite format 3"):
        return "is a database; export it as Chrome JSON or Perfetto from the tool that made it"
    if data.startswith(b"PK\x03\x04"):
        return "is a ZIP archive; unpack it first"
    return (
        f"begins with {data[:8]!r}; expected an Assay trace, a Perfetto trace, Chrome JSON "
        "or XML of xctrace, possibly packed by gzip"
    )


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
