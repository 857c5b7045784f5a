"""Compiles kernels before they are asked for, in processes beside this one.

Whoever knows which kernels will be needed, in which order, says so by `expect`. Other processes
take them from the front and leave what they make in the cache on disk. This process compiles what
it needs first itself, and while another has what it needs next, it takes the next one that nobody
has. Nothing depends on any of it but time: what another process did not make is compiled here, and
what is wrong with a kernel is told when it is asked for.
"""

from __future__ import annotations

import atexit
import contextlib
import dataclasses
import json
import logging
import os
import subprocess
import sys
import threading
from dataclasses import dataclass
from typing import Final

from assay.sim.native.cache_files import write_entry
from assay.sim.native.cache_folder import cache_folder
from assay.sim.native.messages import receive, send
from assay.sim.simt.run.settings import default_workers

from .opening import compile_library, is_compiled
from .options import CompileOptions

_log = logging.getLogger(__name__)
_CODE = "from assay.compiler.msl.ahead import serve; serve()"
_FAILED, _DONE = b"!", b"="
# So many that are expected pay for the start of a process, which takes as long as two of them.
_LEAST: Final = 6
# A process takes some 200 MB.
_MOST_PROCESSES: Final = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """A kernel that will be asked for: its text without includes, how it is compiled, its size."""

    source: str
    macros: tuple[tuple[str, str], ...]
    fast_math: bool
    language_version: tuple[int, int]
    kernel: str
    threadgroup_size: tuple[int, int, int]

    @property
    def options(self) -> CompileOptions:
        """How its library is compiled."""
        return CompileOptions(
            macros=dict(self.macros),
            fast_math=self.fast_math,
            language_version=self.language_version,
        )

    @property
    def library(self) -> _Library:
        """What it shares with others of its library."""
        return (self.source, self.macros, self.fast_math, self.language_version)

    def make(self) -> None:
        """Compile it, so that the cache has it. Raises what is wrong with it."""
        library = compile_library(self.source, options=self.options)
        program = library.function(self.kernel).program()
        assert program.needs
        program.specialise(self.threadgroup_size)


_Library = tuple[str, tuple[tuple[str, str], ...], bool, tuple[int, int]]


class Ahead:
    """Kernels that are expected, and the processes that compile them."""

    def __init__(self) -> None:
        self._waiting: dict[Expected, None] = {}
        self._running: set[Expected] = set()
        self._changed = threading.Condition()
        self._processes = 0

    def expect(self, kernel: Expected) -> None:
        """Compile a kernel ahead, behind those said before, if that pays and can be kept."""
        if default_workers() < 2 or is_compiled(kernel.source, kernel.options):
            return
        with self._changed:
            self._waiting[kernel] = None
            wanted = min(default_workers() - 1, len(self._waiting) // _LEAST, _MOST_PROCESSES)
            if self._processes < wanted and _is_kept():
                self._processes += 1
                threading.Thread(target=self._feed, name="compile-ahead", daemon=True).start()

    def needed(self, library: _Library) -> None:
        """Come back when no other process has a kernel of a library that is needed now.

        Those of it that nobody has are the caller's. Others are compiled meanwhile.
        """
        while True:
            with self._changed:
                for kernel in [each for each in self._waiting if each.library == library]:
                    del self._waiting[kernel]
                if not any(each.library == library for each in self._running):
                    return
                other = self._next()
                if other is None:
                    self._changed.wait()
                    continue
            _try(other)
            self._end(other)

    def _next(self) -> Expected | None:
        """Take the first that nobody has; the lock is the caller's."""
        kernel = next(iter(self._waiting), None)
        if kernel is not None:
            del self._waiting[kernel]
            self._running.add(kernel)
        return kernel

    def _end(self, kernel: Expected) -> None:
        with self._changed:
            self._running.discard(kernel)
            self._changed.notify_all()

    def _feed(self) -> None:
        """Have a process compile what waits, until nothing does or it has gone."""
        process = _Process()
        try:
            process.start()
            while process.is_there:
                with self._changed:
                    kernel = self._next()
                if kernel is None:
                    return
                try:
                    process.make(kernel)
                finally:
                    self._end(kernel)
        finally:
            process.close()
            with self._changed:
                self._processes -= 1


AHEAD = Ahead()
"""That of this process."""


def _try(kernel: Expected) -> bool:
    """Compile a kernel; what is wrong with it is told when it is asked for."""
    try:
        kernel.make()
    except Exception as error:
        _log.debug("%s is not compiled ahead", kernel.kernel, exc_info=error)
        return False
    return True


def _is_kept() -> bool:
    """Whether the cache takes what other processes make."""
    return write_entry(cache_folder() / "ahead", b"")


class _Process:
    """A process that compiles kernels."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def is_there(self) -> bool:
        """Whether it runs and takes kernels."""
        return self._process is not None

    def start(self) -> None:
        """Start it, if the system lets us."""
        with contextlib.suppress(OSError):
            self._process = subprocess.Popen(
                [sys.executable, "-c", _CODE],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                start_new_session=True,  # Ctrl-C is for the one that reports it
            )
            atexit.register(self._kill)

    def make(self, kernel: Expected) -> None:
        """Compile a kernel there; one that has gone is closed."""
        assert self._process is not None
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            send(self._process.stdin, json.dumps(dataclasses.asdict(kernel)).encode())
            answer = receive(self._process.stdout, len(_DONE))
        except (OSError, ValueError):
            answer = None
        if answer is None:
            self.close()

    def close(self) -> None:
        """End it."""
        process, self._process = self._process, None
        if process is None:
            return
        atexit.unregister(self._kill)
        process.kill()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):  # what it did not take any more
                    pipe.close()
        process.wait()

    def _kill(self) -> None:
        if self._process is not None:
            self._process.kill()


def serve() -> None:
    """What the process does: compile what stdin asks for, and say on stdout when that is done."""
    # What a compiler prints must not stand between the answers.
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    while (message := receive(sys.stdin.buffer)) is not None:
        fields = json.loads(message)
        kernel = Expected(
            source=fields["source"],
            macros=tuple((name, value) for name, value in fields["macros"]),
            fast_math=fields["fast_math"],
            language_version=(fields["language_version"][0], fields["language_version"][1]),
            kernel=fields["kernel"],
            threadgroup_size=(
                fields["threadgroup_size"][0],
                fields["threadgroup_size"][1],
                fields["threadgroup_size"][2],
            ),
        )
        send(output, _DONE if _try(kernel) else _FAILED)
