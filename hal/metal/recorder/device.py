"""Devices that give what is recorded."""

from __future__ import annotations

from typing import ClassVar

from .allocations import Heap, ResidencySet
from .commands import Queue
from .indirect import IndirectCommands
from .programs import ArgumentEncoder, Library, Pipeline, Sampler
from .proxy import Proxy


class Device(Proxy):
    """Stands for a device."""

    MAKES: ClassVar[dict[str, type[Proxy]]] = {
        "newCommandQueue": Queue,
        "newLibrary": Library,
        "newDefaultLibrary": Library,
        "newComputePipelineState": Pipeline,
        "newArgumentEncoder": ArgumentEncoder,
        "newHeap": Heap,
        "newResidencySet": ResidencySet,
        "newSamplerState": Sampler,
        "newIndirectCommandBuffer": IndirectCommands,
    }

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and other.real == self.real

    def __hash__(self) -> int:
        return hash(("device", id(self.session)))
