"""An executable of the NPU as a function of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from assay.hal.device import BufferRef
from assay.hal.flags import BufferUsage, MemoryType

from ..elements import Value
from ..signatures import Signature
from .function import NpuFunction
from .values import Buffers

if TYPE_CHECKING:
    from assay.hal.buffer import Buffer
    from assay.hal.torq.commands import TorqExecutable
    from assay.hal.torq.driver import TorqDevice
    from assay.hal.torq.executable import LoadedExecutable

_SHARED = MemoryType.HOST_LOCAL | MemoryType.DEVICE_VISIBLE


class NpuExecutable(NpuFunction):
    """One executable on an NPU; call it with an array for each buffer that it reads.

    It gives an array for each buffer that is written, with the type that the executable states,
    else as bytes.
    """

    def __init__(self, device: TorqDevice, executable: TorqExecutable, number: int) -> None:
        self._device, self._executable, self._number = device, executable, number
        self.name = executable.members[number]

    @cached_property
    def loaded(self) -> LoadedExecutable:
        """The executable in the NPU. Raises StatusError if it cannot run there."""
        return self._executable.loaded(self._number)

    @property
    def own_name(self) -> str:
        """What the executable calls itself; `name` is its member's in the archive."""
        return self._executable.names[self._number]

    @cached_property
    def signature(self) -> Signature:
        """What goes in and comes out."""
        return self._buffers.signature()

    def check_inputs(self, arguments: Sequence[Any]) -> None:
        """Raises NpuInputError if arrays do not fit the buffers that are read."""
        self._buffers.filled(arguments)

    def zeros(self) -> list[Value]:
        """Inputs of zeros."""
        return self._buffers.zeros()

    def load(self) -> None:
        """Loads the executable into the NPU, if that was not done. Raises StatusError."""
        _ = self.loaded

    def invoke(self, arguments: Sequence[Any]) -> list[Value]:
        """Runs it; always a list of results. Raises NpuInputError, and StatusError of the NPU."""
        device = self._device
        buffers = [self._buffer(data.tobytes()) for data in self._buffers.filled(arguments)]
        commands = device.create_command_buffer(1, 0)
        ranges = [BufferRef(buffer, 0, 0, buffer.length) for buffer in buffers]
        commands.dispatch(self._executable, self._number, (1, 1, 1), (), ranges)
        commands.finalize()
        device.queue_execute(None, None, commands)
        return [self._buffers.typed(n, _contents(buffers[n])) for n in self._buffers.outputs]

    @cached_property
    def _buffers(self) -> Buffers:
        """What it is run with; known before it is loaded."""
        return Buffers(self._executable.contents(self._number), self.name)

    def _buffer(self, data: bytes) -> Buffer:
        buffer = self._device.allocator.allocate(_SHARED, BufferUsage.DEFAULT, len(data))
        if data:
            buffer.write(0, data)
        return buffer


def _contents(buffer: Buffer) -> NDArray[np.uint8]:
    return np.frombuffer(bytes(buffer.read(0, buffer.length)), np.uint8)
