"""The C code as a shared library of the system's compiler, with sanitizers: for tests of it.

`ASSAY_C_SANITIZERS=address,undefined` chooses them. The run-time of AddressSanitizer must be in the
process from its start; `tests/sanitizers` shows how.
"""

from __future__ import annotations

import ctypes
import functools
import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

_SETTING = "ASSAY_C_SANITIZERS"
# A fault ends the process: nobody reads what is only printed.
_OPTIONS = ("-O1", "-g", "-fno-omit-frame-pointer", "-fno-sanitize-recover=all")
# `-Bsymbolic`: functions of one library call each other, not those of the same name elsewhere.
_LIBRARY = ("-shared", "-fPIC", "-Wl,-Bsymbolic")


class SharedCode:
    """A shared library in memory; it stays as long as the process."""

    def __init__(self, path: Path) -> None:
        self._library = ctypes.CDLL(str(path))

    def address(self, symbol: str) -> int:
        """Address of a function; 0 if there is none."""
        function = getattr(self._library, symbol, None)
        return 0 if function is None else ctypes.cast(function, ctypes.c_void_p).value or 0


def chosen_sanitizers() -> str:
    """What follows `-fsanitize=` in calls of compilers; "" without sanitizers."""
    return os.environ.get(_SETTING, "")


def load_sanitized(
    text: str, kind: str, sanitizers: str, language: Sequence[str], compiler: str = "cc"
) -> SharedCode:
    """Compile C text, for this process alone.

    Raises:
        RuntimeError: if the system's compiler is not there or refuses it.
    """
    library = Path(_folder().name) / f"{kind}.so"
    command = [compiler, "-x", "c", *language, *_OPTIONS, f"-fsanitize={sanitizers}"]
    command += [*_LIBRARY, "-o", str(library), "-"]
    # The compiler itself is not to run with what is preloaded for this process.
    environment = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
    try:
        done = subprocess.run(command, input=text.encode(), capture_output=True, env=environment)
    except OSError as error:
        raise RuntimeError(f"{_SETTING} is set, but '{compiler}' does not run: {error}") from None
    if done.returncode:
        raise RuntimeError(f"the C code of '{kind}' does not compile:\n{done.stderr.decode()}")
    return SharedCode(library)


@functools.cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    """Where libraries stay until the process ends: sanitizers find the lines of code there."""
    return tempfile.TemporaryDirectory(prefix="assay-sanitized-")
