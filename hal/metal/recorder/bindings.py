"""What a compute encoder has set: enough to set it again in another, and to record it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .allocations import Heap
from .programs import FunctionTable, NotRecorded, Pipeline, Sampler
from .proxy import Proxy, placed, real_of

# Set methods that say nothing about what a dispatch computes.
_NAMES = ("setLabel_",)


@dataclass(frozen=True, slots=True)
class Clamped:
    """A sampler, with other bounds of the level if `clamps` has them."""

    sampler: Sampler
    clamps: tuple[float, ...] = ()

    @property
    def settings(self) -> dict[str, int | float]:
        """What its descriptor said, with these bounds."""
        names = ("lodMinClamp", "lodMaxClamp")
        return self.sampler.settings | dict(zip(names, self.clamps, strict=False))

    def apply(self, encoder: Any, index: int) -> None:
        """Set it in a fresh encoder."""
        if self.clamps:
            encoder.setSamplerState_lodMinClamp_lodMaxClamp_atIndex_(
                self.sampler.real, *self.clamps, index
            )
        else:
            encoder.setSamplerState_atIndex_(self.sampler.real, index)


class Bindings:
    """The state of an encoder.

    Attributes:
        pipeline: the one that was set last.
        buffers: (buffer, offset) by index.
        inline: bytes by index.
        textures: by index.
        samplers: by index.
        tables: of functions, by index.
        threadgroup_memory: bytes by index.
        used: resources, and heaps of them, that are reached through addresses.
    """

    def __init__(self) -> None:
        self.pipeline: Pipeline | None = None
        self.buffers: dict[int, tuple[Any, int]] = {}
        self.inline: dict[int, bytes] = {}
        self.textures: dict[int, Any] = {}
        self.samplers: dict[int, Clamped] = {}
        self.tables: dict[int, FunctionTable] = {}
        self.threadgroup_memory: dict[int, int] = {}
        self.used: list[Any] = []
        self._others: dict[tuple[Any, ...], tuple[str, tuple[Any, ...]]] = {}
        self._reasons: dict[str, str] = {}

    def take(self, name: str, given: tuple[Any, ...]) -> None:
        """A set or use method was called."""
        if name == "setComputePipelineState_":
            self.pipeline = given[0]
        elif name in ("setBuffer_offset_atIndex_", "setBuffers_offsets_withRange_"):
            for index, buffer, offset in placed(name, given):
                self._buffer(index, buffer, int(offset))
        elif name == "setBufferOffset_atIndex_":
            buffer, _ = self.buffers.get(int(given[1]), (None, 0))
            self._buffer(int(given[1]), buffer, int(given[0]))
        elif name.startswith("setTexture"):
            for index, texture in placed(name, given):
                self._set(self.textures, index, texture)
        elif name.startswith("setVisibleFunctionTable") and _are(FunctionTable, name, given):
            for index, table in placed(name, given):
                self._set(self.tables, index, table)
        elif name.startswith("setSampler") and _are(Sampler, name, given):
            for index, sampler, *clamps in placed(name, given):
                clamped = sampler and Clamped(sampler, tuple(map(float, clamps)))
                self._set(self.samplers, index, clamped)
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
        for index, texture in self.textures.items():
            encoder.setTexture_atIndex_(texture, index)
        for index, sampler in self.samplers.items():
            sampler.apply(encoder, index)
        for index, table in self.tables.items():
            encoder.setVisibleFunctionTable_atBufferIndex_(table.real, index)
        for index, length in self.threadgroup_memory.items():
            encoder.setThreadgroupMemoryLength_atIndex_(length, index)
        for name, given in self._others.values():
            getattr(encoder, name)(*map(real_of, given))

    def check(self) -> None:
        """Raises NotRecorded if something is set that recordings do not have."""
        for reason in self._reasons.values():
            raise NotRecorded(reason)

    def _buffer(self, index: int, buffer: Any, offset: int) -> None:
        self.inline.pop(index, None)
        self._set(self.buffers, index, None if buffer is None else (buffer, offset))

    def _set(self, table: dict[int, Any], index: int, value: Any) -> None:
        table.pop(index, None)
        if value is not None:
            table[index] = value

    def _other(self, name: str, given: tuple[Any, ...]) -> None:
        """Resources that are used, and what is only set again."""
        if not name.startswith("use"):
            self._others[name, given[-1]] = (name, given)
            if name not in _NAMES:
                what = name.split("_")[0].removeprefix("set")
                self._reasons[name] = f"{what[:1].lower()}{what[1:]}"
            return
        self._others[name, id(given[0])] = (name, given)
        used = given[0] if isinstance(given[0], list | tuple) else [given[0]]
        self.used += used
        if name.startswith("useHeap") and not all(isinstance(each, Heap) for each in used):
            self._reasons[name] = "a heap that was not made while it was recorded"


def _are(kind: type[Proxy], name: str, given: tuple[Any, ...]) -> bool:
    """Whether all that a method sets was made while it was recorded."""
    return all(each is None or isinstance(each, kind) for _, each, *_ in placed(name, given))
