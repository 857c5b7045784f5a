"""What is noted of an encoder while a program is checked: resources, barriers, fences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from assay.sim.site import Site

from ..constants import MTLBarrierScopeBuffers, MTLBarrierScopeTextures, MTLResourceUsageWrite
from .resources import Resource, memory_of, resources_of
from .tick import tick
from .where import caller

if TYPE_CHECKING:
    from ..commands.event import MTLFence
    from ..objects import MetalObject
    from ..programs.pipeline import MTLComputePipelineState
    from ..resources.buffer import MTLBuffer
    from ..tensors.tensor import MTLTensor


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoded:
    """A command when it was encoded: its number among dispatches, the line, and when."""

    number: int = 0
    site: Site = field(default_factory=Site)
    tick: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Barrier:
    """A barrier behind the first `after` dispatches of an encoder."""

    after: int
    scopes: int = 0
    memories: frozenset[int] = frozenset()

    def covers(self, resource: Resource) -> bool:
        """Whether it is for a resource too."""
        scope = MTLBarrierScopeTextures if resource.is_texture else MTLBarrierScopeBuffers
        return bool(self.scopes & scope) or resource.handle in self.memories


@dataclass(slots=True, kw_only=True)
class PassNotes:
    """One encoder, from its making to its end.

    Attributes:
        is_concurrent: whether only barriers order its dispatches.
        is_complete: False for one that was encoded before checks began: what it says of fences
            and barriers then is not known.
        declared: by handle what the program declares that it uses; hazard tracking goes by it.
        written: handles of that which kernels or copies may write.
        steps: by the command's place in the command buffer.
    """

    is_concurrent: bool
    is_compute: bool
    is_complete: bool = True
    label: str = ""
    number: int = 0
    dispatches: int = 0
    declared: dict[int, Resource] = field(default_factory=dict)
    written: set[int] = field(default_factory=set)
    barriers: list[Barrier] = field(default_factory=list)
    waits: list[MTLFence] = field(default_factory=list)
    updates: list[MTLFence] = field(default_factory=list)
    steps: dict[int, Encoded] = field(default_factory=dict)

    def use(self, thing: MetalObject, usage: int = MTLResourceUsageWrite) -> None:
        """The program declares a resource or heap."""
        for resource in resources_of(thing):
            self.declared[resource.handle] = resource
            if usage & MTLResourceUsageWrite:
                self.written.add(resource.handle)

    def bind(
        self, pipeline: MTLComputePipelineState, bound: Mapping[int, MTLBuffer | MTLTensor]
    ) -> None:
        """A kernel is about to be dispatched with these buffers and tensors."""
        for argument in pipeline.kernel.arguments:
            buffer = bound.get(argument.index)
            if argument.kind in ("buffer", "tensor") and buffer is not None:
                self.use(buffer, 0 if argument.access == "read" else MTLResourceUsageWrite)

    def encoded(self, place: int) -> None:
        """The command buffer's command at `place` is encoded."""
        if self.is_compute:
            self.dispatches += 1
        self.steps[place] = Encoded(number=self.dispatches, site=caller(), tick=tick())

    def barrier_for(self, scopes: int) -> None:
        """A barrier for kinds of resources."""
        self.barriers.append(Barrier(after=self.dispatches, scopes=scopes))

    def barrier_of(self, things: Iterable[MetalObject]) -> None:
        """A barrier for some resources."""
        memories = frozenset(handle for thing in things for handle in memory_of(thing))
        self.barriers.append(Barrier(after=self.dispatches, memories=memories))
