"""Buffers whose contents count as never written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....observe import current_watch

if TYPE_CHECKING:
    from .buffer import MTLBuffer


def leave_uninitialised(buffer: MTLBuffer, seed: int = 0) -> None:
    """Let what `buffer` holds count as never written; `seed` chooses the bytes that are there."""
    buffer.device().memory.memory.leave_uninitialised(buffer.gpuAddress(), seed)


def note_undefined(buffer: MTLBuffer) -> None:
    """Leave a fresh buffer whose contents Metal does not define uninitialised, if that is checked.

    Buffers that a device makes are cleared, by Metal's own promise; those of heaps are not.
    """
    watch = current_watch()
    if watch is not None and "init" in watch.checker.checks:
        leave_uninitialised(buffer, watch.checker.seed or 0)
