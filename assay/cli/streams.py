"""Standard streams that are closed or full: a reason to say so, never a fault of ours."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from typing import Final

_MODES: Final = {"stdin": "r", "stdout": "w", "stderr": "w"}


class _Remembering(io.TextIOWrapper):
    """A stream that remembers why it could not be written: it may take the next text again."""

    failure: OSError | None = None

    def write(self, text: str) -> int:
        """Write as every text stream does."""
        try:
            return super().write(text)
        except OSError as error:
            self.failure = error
            raise

    def flush(self) -> None:
        """Flush as every text stream does."""
        try:
            super().flush()
        except OSError as error:
            self.failure = error
            raise


def prepare() -> None:
    """Let streams that the caller closed lead nowhere, as `>/dev/null` does; watch stdout."""
    for name, mode in _MODES.items():
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115  # for the whole process
    plain = sys.stdout
    if type(plain) is not io.TextIOWrapper or plain is not sys.__stdout__:
        return  # it is captured
    encoding, errors = plain.encoding, plain.errors
    at_lines, at_once = plain.line_buffering, plain.write_through
    watched = _Remembering(
        plain.detach(),
        encoding=encoding,
        errors=errors,
        line_buffering=at_lines,
        write_through=at_once,
    )
    for name in ("stdout", "__stdout__"):
        setattr(sys, name, watched)


def stdout_failure() -> OSError | None:
    """Why what was printed cannot be written; None if it can, or nobody reads on (`| head`)."""
    with contextlib.suppress(OSError):
        sys.stdout.flush()
    failure = sys.stdout.failure if isinstance(sys.stdout, _Remembering) else None
    return None if isinstance(failure, BrokenPipeError) else failure


def abandon_stdout() -> None:
    """Drop what stdout still holds, so that ending the process does not fail on it once more."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
