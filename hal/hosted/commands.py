"""Command buffers whose commands the host performs: transfers, and whatever a device adds."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..device import Binding, BufferRef, CommandBuffer
from ..status import StatusError, invalid_argument
from .memory import Bytes, view

Bindings = tuple[Binding, ...]
Command = Callable[[Bindings], None]


class HostCommandBuffer(CommandBuffer):
    """A recording; `run` performs it with a submission's bindings."""

    def __init__(self) -> None:
        self._commands: list[Command] = []
        self._finalized = False

    def run(self, bindings: Sequence[Binding]) -> None:
        """Performs all commands in order. Raises StatusError."""
        if not self._finalized:
            raise StatusError("FAILED_PRECONDITION", "the command buffer is still being recorded")
        for command in self._commands:
            command(tuple(bindings))

    def finalize(self) -> None:
        """End the recording."""
        self._record_allowed()
        self._finalized = True

    def begin_debug_group(self, label: str) -> None:
        """Groups leave no trace."""
        del label
        self._record_allowed()

    def end_debug_group(self) -> None:
        """Groups leave no trace."""
        self._record_allowed()

    def execution_barrier(self) -> None:
        """Commands run one after the other anyway."""
        self._record_allowed()

    def fill(self, target: BufferRef, pattern: bytes) -> None:
        """Fill a range with a repeated pattern."""
        self.add(lambda bindings: _fill(view(target, bindings), pattern))

    def update(self, source: bytes, target: BufferRef) -> None:
        """Copy host bytes, taken now, into a range."""
        data = np.frombuffer(bytes(source), np.uint8)
        self.add(lambda bindings: _copy(data, view(target, bindings)))

    def copy(self, source: BufferRef, target: BufferRef) -> None:
        """Copy between ranges of equal length."""
        self.add(lambda bindings: _copy(view(source, bindings), view(target, bindings)))

    def add(self, command: Command) -> None:
        """Record a command of the device's own."""
        self._record_allowed()
        self._commands.append(command)

    def _record_allowed(self) -> None:
        if self._finalized:
            raise StatusError("FAILED_PRECONDITION", "command buffer is not in a recording state")


def _fill(target: Bytes, pattern: bytes) -> None:
    if not pattern or len(target) % len(pattern):
        raise invalid_argument(
            f"a fill of {len(target)} bytes with a pattern of {len(pattern)} bytes"
        )
    target[:] = np.tile(np.frombuffer(pattern, np.uint8), len(target) // len(pattern))


def _copy(source: Bytes, target: Bytes) -> None:
    if len(source) != len(target):
        raise invalid_argument(f"a copy of {len(source)} bytes into {len(target)}")
    if np.may_share_memory(source, target):
        raise invalid_argument("attempted to copy between overlapping ranges of one buffer")
    target[:] = source
