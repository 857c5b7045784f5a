"""What the emulated Metal calls, checks or not. What follows programs is loaded with the checks."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from assay.sim.simt.run.accesses import AccessLog

    from ....observe import Watch
    from ..commands.commandbuffer import MTLCommandBuffer
    from ..commands.commands import DispatchCommand
    from ..textures.layout import Block
    from ..textures.texture import MTLTexture
    from .guard import Guarded
    from .history import History
    from .running import Running


class Follower(Protocol):
    """Follows the dispatches that a thread runs."""

    def dispatch(self, command: DispatchCommand, run: Callable[[AccessLog], None]) -> None:
        """Run a grid, and note what it touches."""


class _Thread(threading.local):
    """Who follows what the thread of a queue runs now."""

    follower: Follower | None = None


thread = _Thread()


def checks_order(watch: Watch | None) -> bool:
    """Whether the order of commands is checked."""
    return watch is not None and "race" in watch.checker.checks


def follow(buffer: MTLCommandBuffer, watch: Watch | None) -> Running | None:
    """What follows a command buffer that is being committed; None if its order is not checked."""
    history = history_of(watch)
    if watch is None or history is None:
        return None
    from .running import Running

    return Running(buffer, history, watch.checker)


def history_of(watch: Watch | None) -> History | None:
    """What is known of the program so far; None if the order of commands is not checked."""
    if watch is None or not checks_order(watch):
        return None
    from .history import History

    watch.at_end(look)
    return watch.checker.state(watch.checker, History)


def look(watch: Watch) -> None:
    """Take what the host has done to memory in flight, at the end of a checked block."""
    history = history_of(watch)
    if history is not None:
        history.look(watch.checker)


def host_uses_texels(
    watch: Watch | None, texture: MTLTexture, block: Block, *, write: bool
) -> None:
    """The host copies texels out of a texture, or into it."""
    history = history_of(watch)
    if watch is not None and history is not None:
        from .host import uses_texels

        uses_texels(history, watch.checker, texture, block, write=write)


def guarded_memory(watch: Watch | None, length: int) -> Guarded | None:
    """Bytes whose use by the host can be seen; None if nobody wants to or can."""
    if not checks_order(watch):
        return None
    from .guard import guarded

    return guarded(length)
