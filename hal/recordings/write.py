"""Writes recordings, part by part as they come."""

from __future__ import annotations

import hashlib
import os
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


class RecordingWriter:
    """A recording that is being made; it has its name once it is closed.

    What was recorded until an error is kept: leaving the block closes the file in any case.
    Any thread may add.

    Raises:
        OSError: if the file cannot be written.
    """

    def __init__(self, path: Path, device: DeviceInfo, program: str) -> None:
        self._path = path
        self._device = device
        self._program = program
        self._unfinished = path.with_name(f".{path.name}.{os.getpid()}")
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
        self._lines.append(msgspec.json.encode(dispatch))

    def leave_out(self, reason: str) -> None:
        """Count a dispatch that runs and is not kept."""
        with self._lock:
            self._left_out[reason] = self._left_out.get(reason, 0) + 1

    def close(self) -> None:
        """Finish the file and give it its name; nothing the second time."""
        with self._lock:
            if self._zip.fp is not None:
                self._close()

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
        self._unfinished.replace(self._path)

    def _part(self, data: memoryview) -> int:
        digest = hashlib.blake2b(data, digest_size=16).digest()
        number = self._parts.get(digest)
        if number is None:
            number = self._parts[digest] = len(self._parts)
            self._write(f"{PARTS}{number}", data)
        return number

    def _write(self, name: str, data: bytes | memoryview) -> None:
        entry = zipfile.ZipInfo(name, _EPOCH)
        entry.compress_type = zipfile.ZIP_DEFLATED
        self._zip.writestr(entry, bytes(data), zipfile.ZIP_DEFLATED, _LEVEL)
