"""Devices that give what is recorded."""

from __future__ import annotations

from typing import ClassVar, NoReturn

from .allocations import Heap, ResidencySet
from .commands import Queue
from .indirect import IndirectCommands
from .programs import ArgumentEncoder, Library, Pipeline, Sampler
from .proxy import Proxy

_METAL_4 = (
    "queues of Metal 4 are not recorded: use newCommandQueue, or run the program without "
    "assay record"
)


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

    def newMTL4CommandQueue(self) -> NoReturn:
        """Refused: what Metal 4's objects encode would pass by unseen."""
        raise RuntimeError(_METAL_4)

    def newMTL4CommandQueueWithDescriptor_error_(self, descriptor: object, error: None) -> NoReturn:
        """Refused, too."""
        raise RuntimeError(_METAL_4)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and other.real == self.real

    def __hash__(self) -> int:
        return hash(("device", id(self.session)))
