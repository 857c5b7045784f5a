"""What stands for machine code of the board's own processor when that is left out."""

from __future__ import annotations

from .executable import HostCall, HostFunction
from .format import Executable, StartHost


def left_out(executable: Executable) -> dict[str, HostFunction]:
    """Functions that do nothing for all of the host code.

    A check takes their arguments for written: which of them are results, the file does not say.
    """
    return {a.function: _nothing for a in executable.actions if isinstance(a, StartHost)}


def _nothing(call: HostCall) -> None:
    watcher = call.device.watcher
    if watcher is not None:
        for start, size in zip(call.arguments, call.sizes, strict=False):
            watcher.assume_written("XRAM", start, start + size)
