"""Writes recordings, part by part as they come."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import threading
import zipfile
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from .records import (
    DISPATCHES,
    FORMAT,
    HEADER,
    PART,
    PARTS,
    VERSION,
    Bytes,
    DeviceInfo,
    DispatchRecord,
    Header,
    KernelRecord,
    LibraryRecord,
)

_EPOCH = (1980, 1, 1, 0, 0, 0)  # ZIP's first; what is in the file does not depend on the clock
_LEVEL = 6
_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
}


def check_target(path: Path) -> None:
    """Refuse what a recording must not take the place of: a folder, a device, a pipe.

    Raises:
        OSError: for these, and for links that lead nowhere but to themselves.
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISREG(mode):
        kind = _KINDS.get(stat.S_IFMT(mode), "no regular file")
        code = errno.EISDIR if stat.S_ISDIR(mode) else errno.EEXIST
        raise OSError(code, f"is {kind}; expected a file, or a name for a new one", str(path))


class RecordingWriter:
    """A recording that is being made; it has its name once it is closed.

    What was recorded until an error is kept: leaving the block closes the file in any case.
    Without a dispatch it takes the place of no other file. Where the name is a link's, what that
    leads to is written. Any thread may add; what comes once it is closed is left out, as programs
    may run on that are ended.

    Attributes:
        has_left: whether another file of that name was left, as there was no dispatch.

    Raises:
        OSError: if the file cannot be written, or is a folder, a device or a pipe.
    """

    def __init__(self, path: Path, device: DeviceInfo, program: str) -> None:
        check_target(path)
        self._path = path.resolve()
        self._device = device
        self._program = program
        self.has_left = False
        self._unfinished = self._path.with_name(f".{self._path.name}.{os.getpid()}")
        try:
            self._zip = zipfile.ZipFile(self._unfinished, "w", zipfile.ZIP_DEFLATED, True, _LEVEL)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(path)) from None
        self._parts: dict[bytes, int] = {}
        self._libraries: list[LibraryRecord] = []
        self._kernels: list[KernelRecord] = []
        self._lines: list[bytes] = []
        self._left_out: dict[str, int] = {}
        self._lock = threading.RLock()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def dispatches(self) -> int:
        """How many are in the file."""
        return len(self._lines)

    @property
    def left_out(self) -> dict[str, int]:
        """Dispatches that are not in the file, by the reason."""
        return dict(self._left_out)

    def add_bytes(self, data: bytes | bytearray | memoryview) -> Bytes:
        """Keep contents; parts that the file has already are not written again."""
        view = memoryview(data).cast("B")
        with self._lock:
            parts = tuple(self._part(view[at : at + PART]) for at in range(0, len(view), PART))
        return Bytes(length=len(view), parts=parts)

    def add_library(self, library: LibraryRecord) -> int:
        """Keep what kernels are compiled from; its number."""
        with self._lock:
            self._libraries.append(library)
            return len(self._libraries) - 1

    def add_kernel(self, kernel: KernelRecord) -> int:
        """Keep which function of a library is run; its number."""
        with self._lock:
            self._kernels.append(kernel)
            return len(self._kernels) - 1

    def add_dispatch(self, dispatch: DispatchRecord) -> None:
        """Keep a dispatch; what it refers to was added before."""
        line = msgspec.json.encode(dispatch)
        with self._lock:
            if not self._is_closed:
                self._lines.append(line)

    def leave_out(self, reason: str) -> None:
        """Count a dispatch that runs and is not kept."""
        with self._lock:
            if not self._is_closed:
                self._left_out[reason] = self._left_out.get(reason, 0) + 1

    def close(self) -> None:
        """Finish the file and give it its name; nothing the second time."""
        with self._lock:
            if not self._is_closed:
                self._close()

    @property
    def _is_closed(self) -> bool:
        return self._zip.fp is None

    def _close(self) -> None:
        header = Header(
            device=self._device,
            program=self._program,
            libraries=tuple(self._libraries),
            kernels=tuple(self._kernels),
            left_out=self._left_out,
        )
        self._write(DISPATCHES, b"".join(line + b"\n" for line in self._lines))
        marked = {"format": FORMAT, "version": VERSION, **msgspec.to_builtins(header)}
        self._write(HEADER, msgspec.json.encode(marked))
        self._zip.close()
        if not self._lines and self._path.exists():
            self._unfinished.unlink()
            self.has_left = True
        else:
            self._unfinished.replace(self._path)

    def _part(self, data: memoryview) -> int:
        digest = hashlib.blake2b(data, digest_size=16).digest()
        number = self._parts.get(digest)
        if number is None:
            number = self._parts[digest] = len(self._parts)
            if not self._is_closed:
                self._write(f"{PARTS}{number}", data)
        return number

    def _write(self, name: str, data: bytes | memoryview) -> None:
        entry = zipfile.ZipInfo(name, _EPOCH)
        entry.compress_type = zipfile.ZIP_DEFLATED
        self._zip.writestr(entry, bytes(data), zipfile.ZIP_DEFLATED, _LEVEL)
