"""What a compute encoder has set: enough to set it again in another, and to record it."""

from __future__ import annotations

from typing import Any

from .programs import NotRecorded, Pipeline
from .proxy import real_of

_BUFFERS = "setBuffers_offsets_withRange_"
# Set methods that say nothing about what a dispatch computes.
_NAMES = ("setLabel_",)


class Bindings:
    """The state of an encoder.

    Attributes:
        pipeline: the one that was set last.
        buffers: (buffer, offset) by index.
        inline: bytes by index.
        threadgroup_memory: bytes by index.
        used: resources that are reached through addresses.
    """

    def __init__(self) -> None:
        self.pipeline: Pipeline | None = None
        self.buffers: dict[int, tuple[Any, int]] = {}
        self.inline: dict[int, bytes] = {}
        self.threadgroup_memory: dict[int, int] = {}
        self.used: list[Any] = []
        self._others: dict[tuple[Any, ...], tuple[str, tuple[Any, ...]]] = {}
        self._reasons: dict[str, str] = {}

    def take(self, name: str, given: tuple[Any, ...]) -> None:
        """A set or use method was called."""
        if name == "setComputePipelineState_":
            self.pipeline = given[0]
        elif name == "setBuffer_offset_atIndex_":
            self._buffer(int(given[2]), given[0], int(given[1]))
        elif name == "setBufferOffset_atIndex_":
            buffer, _ = self.buffers.get(int(given[1]), (None, 0))
            self._buffer(int(given[1]), buffer, int(given[0]))
        elif name == _BUFFERS:
            for place in range(int(given[2][1])):
                self._buffer(int(given[2][0]) + place, given[0][place], int(given[1][place]))
        elif name == "setBytes_length_atIndex_":
            self.buffers.pop(int(given[2]), None)
            self.inline[int(given[2])] = given[0]
        elif name == "setThreadgroupMemoryLength_atIndex_":
            self.threadgroup_memory[int(given[1])] = int(given[0])
        else:
            self._other(name, given)

    def apply(self, encoder: Any) -> None:
        """Set all of it in a fresh encoder."""
        if self.pipeline is not None:
            encoder.setComputePipelineState_(real_of(self.pipeline))
        for index, (buffer, offset) in self.buffers.items():
            encoder.setBuffer_offset_atIndex_(buffer, offset, index)
        for index, data in self.inline.items():
            encoder.setBytes_length_atIndex_(data, len(data), index)
        for index, length in self.threadgroup_memory.items():
            encoder.setThreadgroupMemoryLength_atIndex_(length, index)
        for name, given in self._others.values():
            getattr(encoder, name)(*given)

    def check(self) -> None:
        """Raises NotRecorded if something is set that recordings do not have."""
        for reason in self._reasons.values():
            raise NotRecorded(reason)

    def _buffer(self, index: int, buffer: Any, offset: int) -> None:
        self.inline.pop(index, None)
        if buffer is None:
            self.buffers.pop(index, None)
        else:
            self.buffers[index] = (buffer, offset)

    def _other(self, name: str, given: tuple[Any, ...]) -> None:
        """Resources that are used, and what is only set again: textures, samplers, tables."""
        is_use = name.startswith("use")
        key: tuple[Any, ...] = (name, id(given[0])) if is_use else (name, given[-1])
        self._others[key] = (name, given)
        if name.startswith("useResource"):
            self.used += given[0] if name.startswith("useResources") else [given[0]]
        elif is_use:
            self._reasons[name] = "a heap that is used whole"
        elif name not in _NAMES:
            what = name.split("_")[0].removeprefix("set")
            self._reasons[name] = f"{what[:1].lower()}{what[1:]}"
