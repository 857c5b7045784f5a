"""Reads bitcode in another process: LLVM's reader ends the process on some damaged modules.

The process has limits on its memory and on the time that one module takes, is started when the
first module is read, and replaced when it has gone.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import resource
import subprocess
import sys
import threading
import time

from assay.sim.native.messages import receive, send

from .container import AirFormatError

_MOST_MEMORY = 2 << 30
_CPU_SECONDS = 30
_SECONDS = 600.0  # by the clock, which other processes use too
_MOST_TEXT = 1 << 30
_CODE = "from assay.compiler.air.reading import serve; serve()"
_FAILED, _DONE = b"!", b"="


class Reader:
    """A process that turns modules into text. Threads take turns."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    def text(self, bitcode: bytes) -> str:
        """The text of a module.

        Raises:
            AirFormatError: if LLVM does not read it, takes too long or does not survive it.
        """
        with self._lock:
            process = self._running()
            late = threading.Timer(_SECONDS, process.kill)
            late.start()
            try:
                answer = _asked(process, bitcode)
            finally:
                late.cancel()
            if answer is None:
                self._end()
                raise AirFormatError("its bitcode does not load: LLVM did not survive reading it")
        text = answer[1:].decode("utf-8", "replace")
        if answer[:1] != _DONE:
            raise AirFormatError(f"its bitcode does not load: {text}")
        return text

    def close(self) -> None:
        """End the process; the next module starts another."""
        with self._lock:
            self._end()

    def _end(self) -> None:
        if self._process is None:
            return
        self._process.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):  # what it did not take any more
                    pipe.close()
        self._process.wait()
        self._process = None

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is not None:
            self._end()
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _CODE],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            )
        return self._process


READER = Reader()
atexit.register(READER.close)


def serve() -> None:
    """What the process does: take modules from stdin, write their texts to stdout."""
    from assay.sim.native.llvm_host import start_llvm
    from assay.sim.native.llvm_modules import module_of

    # What LLVM prints must not stand between the answers.
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    start_llvm()
    with contextlib.suppress(ValueError, OSError):  # not every system has this limit
        resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))
    while (bitcode := receive(sys.stdin.buffer)) is not None:
        _limit_time()
        try:
            with module_of(bitcode) as module:
                # Whoever reads the text ends the process when it finds this out.
                module.verify()
                answer = _DONE + str(module).encode()
        except RuntimeError as error:
            answer = _FAILED + str(error).encode()
        send(output, answer)


def _limit_time() -> None:
    """Give this process its seconds of the processor, from now on."""
    most = int(time.process_time()) + 1 + _CPU_SECONDS
    with contextlib.suppress(ValueError, OSError):  # not every system has this limit
        resource.setrlimit(resource.RLIMIT_CPU, (most, resource.getrlimit(resource.RLIMIT_CPU)[1]))


def _asked(process: subprocess.Popen[bytes], bitcode: bytes) -> bytes | None:
    """What the process says to a module; None if it has gone."""
    assert process.stdin is not None and process.stdout is not None
    try:
        send(process.stdin, bitcode)
        return receive(process.stdout, _MOST_TEXT)
    except OSError:
        return None
