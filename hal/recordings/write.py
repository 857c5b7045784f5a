"""Writes recordings, as what is recorded comes."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import threading
import zlib
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from .chunks import DONE, HEAD, HEADER, MAGIC, NEWS, chunk
from .contents import LEVEL, ContentsWriter
from .news import News, RowsWriter
from .partial import new_partial
from .records import (
    PART,
    VERSION,
    Bytes,
    DeviceInfo,
    DispatchRecord,
    KernelRecord,
    LibraryRecord,
)

_FLUSH = 1.0  # seconds
_NOTHING = msgspec.msgpack.encode(News())
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

    Until then it stands beside, under a name of `partial`, and has each second what was added: all
    that is left if the process is killed. What was recorded until an error is kept: leaving the
    block closes the file in any case. Without a dispatch there is none, and one of that name stays
    as it was. Where the name is a link's, what that leads to is written. Any thread may add; what
    comes once it is closed is left out, as programs may run on that are ended, and so is what a
    process adds that was forked from this one.

    Attributes:
        partial: the file until it is closed.

    Raises:
        OSError: if the file cannot be written, or is a folder, a device or a pipe.
    """

    def __init__(
        self, path: Path, device: DeviceInfo, program: str, *, flush: float = _FLUSH
    ) -> None:
        """Begin a file that has what was added after `flush` seconds."""
        check_target(path)
        self._path = path.resolve()
        try:
            self.partial, self._file = new_partial(self._path)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(path)) from None
        self._process = os.getpid()
        self._numbers: dict[bytes, int] = {}  # of parts, by their digests
        self._contents = ContentsWriter(self._write)
        self._rows = RowsWriter()
        self._packer = zlib.compressobj(LEVEL)
        self._news = News()
        self._libraries = 0
        self._kernels = 0
        self._dispatches = 0
        self._left_out: dict[str, int] = {}
        self._lock = threading.RLock()
        self._failure: OSError | None = None
        self._end = threading.Event()
        self._write(HEADER.pack(MAGIC, VERSION))
        head = msgspec.json.encode({"device": device, "program": program})
        self._write(chunk(HEAD, head, len(head)))
        threading.Thread(target=self._flush_again, args=(flush,), daemon=True).start()

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
        return self._dispatches

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
            self._news.libraries.append(library)
            self._libraries += 1
            return self._libraries - 1

    def add_kernel(self, kernel: KernelRecord) -> int:
        """Keep which function of a library is run; its number."""
        with self._lock:
            self._news.kernels.append(kernel)
            self._kernels += 1
            return self._kernels - 1

    def add_dispatch(self, dispatch: DispatchRecord) -> None:
        """Keep a dispatch; what it refers to was added before."""
        with self._lock:
            if not self._is_closed:
                self._raise_failure()
                self._rows.add(dispatch)
                self._dispatches += 1

    def leave_out(self, reason: str) -> None:
        """Count a dispatch that runs and is not kept."""
        with self._lock:
            if not self._is_closed:
                for counts in (self._left_out, self._news.left_out):
                    counts[reason] = counts.get(reason, 0) + 1

    def flush(self) -> None:
        """Write what was added, so that it is there if the process is killed."""
        with self._lock:
            if self._is_closed:
                return
            self._rows.take(self._news)
            news, self._news = msgspec.msgpack.encode(self._news), News()
            if news == _NOTHING:
                return
            self._contents.flush()
            packed = self._packer.compress(news) + self._packer.flush(zlib.Z_SYNC_FLUSH)
            self._write(chunk(NEWS, packed, len(news)))

    def close(self) -> None:
        """Finish the file and give it its name; nothing the second time."""
        with self._lock:
            if not self._is_closed:
                self._close()

    @property
    def _is_closed(self) -> bool:
        return self._file.closed or os.getpid() != self._process

    def _close(self) -> None:
        self._end.set()
        with self._file:
            self._raise_failure()
            self._contents.close()
            self.flush()
            done = msgspec.json.encode({"dispatches": self._dispatches})
            self._write(chunk(DONE, done, len(done)))
        if self._dispatches:
            self.partial.replace(self._path)
        else:
            self.partial.unlink()

    def _flush_again(self, seconds: float) -> None:
        """Flush until the file is closed, or cannot be written."""
        while not self._end.wait(seconds):
            try:
                self.flush()
            except OSError as error:  # told by whoever adds or closes next
                self._failure = error
                return

    def _raise_failure(self) -> None:
        if self._failure is not None:
            raise self._failure

    def _part(self, data: memoryview) -> int:
        digest = hashlib.blake2b(data, digest_size=16).digest()
        number = self._numbers.get(digest)
        if number is None:
            number = self._numbers[digest] = len(self._numbers)
            if not self._is_closed:
                self._raise_failure()
                self._news.parts.append(len(data))
                self._contents.add(data)
        return number

    def _write(self, data: bytes) -> None:
        self._file.write(data)
        self._file.flush()  # a process that is forked must not write it again
