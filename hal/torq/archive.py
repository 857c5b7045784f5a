"""The `.vmfb` around Torq executables: a ZIP, read without trusting any of it.

`module.fb` is IREE's host program; each other member that begins as an executable is one. Members
are stored; those of a model bundle around a `.vmfb` may be compressed.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..status import StatusError
from .format import IDENTIFIER, Executable
from .read import read_executable
from .write import write_executable

MODULE = "module.fb"
SUFFIX = "_torq_fb.fb"
_ALIGNMENT = 64
_ZIP_MAGIC = b"PK\x03\x04"
_EPOCH = (1980, 1, 1, 0, 0, 0)
_MOST_MEMBERS = 10_000
_LOCAL_HEADER = 30
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
    """Whether a file is a Torq executable, or an archive with one in it.

    Little of it is read: modules for other devices can be large.
    """
    try:
        with path.open("rb") as file:
            if file.read(8)[4:] == IDENTIFIER:
                return True
        with zipfile.ZipFile(path) as archive:
            return any(_starts_executable(archive, entry) for entry in archive.infolist())
    except _ZIP_ERRORS:
        return False


def data_is_container(data: memoryview) -> bool:
    """Whether bytes are a Torq executable, or an archive with one in it."""
    if bytes(data[4:8]) == IDENTIFIER:
        return True
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return any(_starts_executable(archive, entry) for entry in archive.infolist())
    except _ZIP_ERRORS:
        return False


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
    output = io.BytesIO()
    files = [] if container.module is None else [(MODULE, bytes(container.module))]
    files += [(name, write_executable(executable)) for name, executable in container.executables]
    with zipfile.ZipFile(output, "w", zipfile.ZIP_STORED) as archive:
        for name, data in files:
            entry = zipfile.ZipInfo(name, _EPOCH)
            begin = output.tell() + _LOCAL_HEADER + len(name.encode())
            # An extra field of 4 bytes of header and some of padding brings the data to a boundary.
            padding = -(begin + 4) % _ALIGNMENT
            entry.extra = b"\xfe\xca" + padding.to_bytes(2, "little") + bytes(padding)
            archive.writestr(entry, data)
    return output.getvalue()


def members(data: memoryview, name: str) -> tuple[Member, ...]:
    """The stored members of a ZIP as views of it. Raises StatusError for any other."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
    except _ZIP_ERRORS as error:
        raise StatusError("INVALID_ARGUMENT", f"{name}: damaged archive: {error}") from error
    if len(entries) > _MOST_MEMBERS:
        raise StatusError("INVALID_ARGUMENT", f"{name}: an archive of {len(entries)} members")
    return tuple(
        _member(data, name, entry) for entry in entries if not entry.filename.endswith("/")
    )


def _member(data: memoryview, name: str, entry: zipfile.ZipInfo) -> Member:
    where = f"{name}: {entry.filename}"
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise StatusError("INVALID_ARGUMENT", f"{where}: compressed in an unknown way")
    if entry.flag_bits & 1:
        raise StatusError("INVALID_ARGUMENT", f"{where}: encrypted")
    header = bytes(data[entry.header_offset : entry.header_offset + _LOCAL_HEADER])
    if len(header) < _LOCAL_HEADER or header[:4] != _ZIP_MAGIC:
        raise StatusError("INVALID_ARGUMENT", f"{where}: its header is damaged")
    lengths = int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little")
    begin = entry.header_offset + _LOCAL_HEADER + lengths
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
        if member.name.endswith(_SYNAP_SUFFIX) and bytes(member.data[:4]) == _ZIP_MAGIC
        for inner in members(member.data, f"{name}: {member.name}")
    ] or found


def _holds_executable(member: Member) -> bool:
    return bytes(member.data[4:8]) == IDENTIFIER
