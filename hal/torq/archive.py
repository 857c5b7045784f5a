"""The `.vmfb` around Torq executables: a ZIP, read without trusting any of it.

`module.fb` is IREE's host program; each other member that begins as an executable is one. Members
are stored; those of a model bundle around a `.vmfb` may be compressed.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from ..status import StatusError
from ..stored_zip import LOCAL_HEADER, stored_zip
from .format import IDENTIFIER, Executable
from .read import read_executable
from .write import write_executable

MODULE = "module.fb"
SUFFIX = "_torq_fb.fb"
_ZIP_MAGIC = b"PK\x03\x04"
_DIRECTORY_END = b"PK\x05\x06"
_END = 22
_LONGEST_END = _END + (1 << 16)
"""Bytes of what closes an archive, without and with a comment."""
_MOST_MEMBERS = 10_000
_LARGEST = 1 << 30
_ZIP_ERRORS = (
    zipfile.BadZipFile,
    NotImplementedError,
    RuntimeError,
    ValueError,
    EOFError,
    OSError,
    struct.error,
    OverflowError,
)
"""What zipfile raises for damaged directories."""
_SYNAP_SUFFIX = ".vmfb"


@dataclass(frozen=True, kw_only=True, slots=True)
class Member:
    """A file inside the archive."""

    name: str
    data: memoryview


@dataclass(frozen=True, kw_only=True, slots=True)
class Container:
    """All executables of a file by member name, and the host program if there is one."""

    executables: tuple[tuple[str, Executable], ...]
    module: bytes | memoryview | None = None


def file_is_container(path: Path) -> bool:
    """Whether a file is a Torq executable, or an archive with one in it, or what is left of one.

    Little of it is read: modules for other devices can be large.
    """
    try:
        with path.open("rb") as file:
            if file.read(8)[4:] == IDENTIFIER:
                return True
            return _has_executable(file) or (
                path.stat().st_size < _LARGEST and _was_container(memoryview(_from(file)))
            )
    except OSError:
        return False


def data_is_container(data: memoryview) -> bool:
    """Whether bytes are a Torq executable, or an archive with one in it, or what is left of one."""
    if bytes(data[4:8]) == IDENTIFIER:
        return True
    return _has_executable(io.BytesIO(data)) or _was_container(data)


def _from(file: BinaryIO) -> bytes:
    file.seek(0)
    return file.read()


def _has_executable(file: BinaryIO) -> bool:
    """Whether a file is a whole archive with an executable."""
    try:
        with zipfile.ZipFile(file) as archive:
            return any(_starts_executable(archive, entry) for entry in archive.infolist())
    except _ZIP_ERRORS:
        return False


def _was_container(data: memoryview) -> bool:
    """Whether bytes are an archive that lost its end, and had an executable."""
    if _has_end(data):
        return False
    return any(
        name.endswith(SUFFIX) or bytes(data[begin + 4 : begin + 8]) == IDENTIFIER
        for name, begin, _ in _from_front(data)
    )


def _starts_executable(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bool:
    if entry.compress_type != zipfile.ZIP_STORED or entry.file_size < 8:
        return False
    with archive.open(entry) as member:
        return member.read(8)[4:] == IDENTIFIER


def read_container(data: bytes | memoryview, name: str = "container") -> Container:
    """Every executable of a bare `.fb`/`.torq`, or of a `.vmfb`. Raises StatusError."""
    view = memoryview(data).cast("B").toreadonly()
    if bytes(view[4:8]) == IDENTIFIER:
        executable = read_executable(view, name)
        return Container(executables=((executable.name or name, executable),))
    if bytes(view[:4]) != _ZIP_MAGIC:
        raise StatusError(
            "INVALID_ARGUMENT",
            f"{name}: not a Torq executable: {len(view)} bytes that are neither a FlatBuffer with "
            f"the identifier {IDENTIFIER!r} nor a .vmfb archive",
        )
    found = _inner(members(view, name), name)
    executables = tuple(
        (member.name, read_executable(member.data, f"{name}: {member.name}"))
        for member in found
        if _holds_executable(member)
    )
    if not executables:
        listed = ", ".join(member.name for member in found) or "no members"
        raise StatusError(
            "INVALID_ARGUMENT", f"{name}: no Torq executable in the archive; it has {listed}"
        )
    module = next((member.data for member in found if member.name == MODULE), None)
    return Container(executables=executables, module=module)


def write_container(container: Container) -> bytes:
    """A `.vmfb`: the host program if there is one, then the executables, stored and aligned."""
    files = [] if container.module is None else [(MODULE, bytes(container.module))]
    files += [(name, write_executable(executable)) for name, executable in container.executables]
    return stored_zip(files)[0]


def host_archive(data: memoryview, name: str) -> memoryview | None:
    """The `.vmfb` whose executables `read_container` reads, if that has a host program.

    Raises StatusError.
    """
    if bytes(data[:4]) != _ZIP_MAGIC:
        return None
    found = members(data, name)
    archives = [data, *(member.data for member in found if _is_archive(member))]
    for archive in archives:
        inside = found if archive is data else members(archive, name)
        if any(map(_holds_executable, inside)):
            # The host program is read from the front, where IREE's runtime looks for it.
            return archive if inside[0].name == MODULE else None
    return None


def members(data: memoryview, name: str) -> tuple[Member, ...]:
    """The stored members of a ZIP as views of it. Raises StatusError for any other."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
    except _ZIP_ERRORS as error:
        problem = f"damaged archive: {error}"
        if not _has_end(data):
            problem = f"cut short: {_where_cut(data)}; copy the file again"
        raise StatusError("INVALID_ARGUMENT", f"{name}: {problem}") from error
    if len(entries) > _MOST_MEMBERS:
        raise StatusError("INVALID_ARGUMENT", f"{name}: an archive of {len(entries)} members")
    return tuple(
        _member(data, name, entry) for entry in entries if not entry.filename.endswith("/")
    )


def _has_end(data: memoryview) -> bool:
    """Whether what closes an archive is there, whole."""
    tail = bytes(data[-_LONGEST_END:])
    at = tail.rfind(_DIRECTORY_END)
    if at < 0 or len(tail) < at + _END:
        return False
    return len(tail) >= at + _END + int.from_bytes(tail[at + _END - 2 : at + _END], "little")


def _where_cut(data: memoryview) -> str:
    """How much of an archive is there that has lost its end."""
    found = list(_from_front(data))
    if not found:
        return f"its {len(data):,} bytes end before its first member"
    name, begin, size = found[-1]
    there = min(size, max(0, len(data) - begin))
    if there < size:
        return f"of {name}, {there:,} bytes are there and {size - there:,} are missing"
    return f"it ends behind {name}, and the list of its members is missing"


def _from_front(data: memoryview) -> Iterator[tuple[str, int, int]]:
    """(name, begin, bytes) of members as they stand one behind the other, cut short or not."""
    at = 0
    while bytes(data[at : at + 4]) == _ZIP_MAGIC and len(data) >= at + LOCAL_HEADER:
        size, _, name_length, extra_length = struct.unpack_from("<IIHH", data, at + 18)
        name = bytes(data[at + LOCAL_HEADER :][:name_length]).decode("utf-8", "replace")
        begin = at + LOCAL_HEADER + name_length + extra_length
        yield name, begin, size
        at = begin + size


def _member(data: memoryview, name: str, entry: zipfile.ZipInfo) -> Member:
    where = f"{name}: {entry.filename}"
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise StatusError("INVALID_ARGUMENT", f"{where}: compressed in an unknown way")
    if entry.flag_bits & 1:
        raise StatusError("INVALID_ARGUMENT", f"{where}: encrypted")
    header = bytes(data[entry.header_offset : entry.header_offset + LOCAL_HEADER])
    if len(header) < LOCAL_HEADER or header[:4] != _ZIP_MAGIC:
        raise StatusError("INVALID_ARGUMENT", f"{where}: its header is damaged")
    lengths = int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little")
    begin = entry.header_offset + LOCAL_HEADER + lengths
    if begin + entry.compress_size > len(data):
        raise StatusError("INVALID_ARGUMENT", f"{where}: runs past the end of the file")
    stored = data[begin : begin + entry.compress_size]
    if entry.compress_type == zipfile.ZIP_STORED:
        return Member(name=entry.filename, data=stored)
    return Member(name=entry.filename, data=_inflate(stored, entry.file_size, where))


def _inflate(stored: memoryview, size: int, where: str) -> memoryview:
    if size > _LARGEST:
        raise StatusError("INVALID_ARGUMENT", f"{where}: {size} bytes are more than {_LARGEST}")
    try:
        inflated = zlib.decompressobj(-zlib.MAX_WBITS).decompress(stored, size)
    except zlib.error as error:
        raise StatusError("INVALID_ARGUMENT", f"{where}: damaged: {error}") from error
    if len(inflated) != size:
        raise StatusError("INVALID_ARGUMENT", f"{where}: {len(inflated)} bytes, not {size}")
    return memoryview(inflated)


def _inner(found: Sequence[Member], name: str) -> Sequence[Member]:
    """A model bundle holds one archive more: its `.vmfb` members are opened, one level deep."""
    if any(_holds_executable(member) for member in found):
        return found
    return [
        Member(name=f"{member.name}/{inner.name}", data=inner.data)
        for member in found
        if _is_archive(member)
        for inner in members(member.data, f"{name}: {member.name}")
    ] or found


def _holds_executable(member: Member) -> bool:
    return bytes(member.data[4:8]) == IDENTIFIER


def _is_archive(member: Member) -> bool:
    return member.name.endswith(_SYNAP_SUFFIX) and bytes(member.data[:4]) == _ZIP_MAGIC
