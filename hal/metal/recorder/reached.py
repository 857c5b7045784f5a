"""What one dispatch can reach: memory before and after, argument buffers, textures, samplers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...recordings import (
    Bound,
    BoundSampler,
    BoundTexture,
    Bytes,
    EncodedRecord,
    MemoryRecord,
    TextureRecord,
)
from .allocations import reached_through
from .bindings import Clamped
from .encoded import Encoded
from .memory import contents_of, is_buffer, is_texture
from .programs import FunctionTable, NotRecorded, Sampler
from .shared import Places
from .textures import described, texels_of

if TYPE_CHECKING:
    from .session import Session


class Reached:
    """Resources of a dispatch that is about to run, each once.

    Attributes:
        encoded: argument buffers.
    """

    def __init__(self, session: Session, queue: Any) -> None:
        self._session = session
        self._queue = queue
        self._resources: list[Any] = []
        self._memories: list[MemoryRecord] = []
        self.encoded: list[EncodedRecord] = []

    def buffer(self, index: int, buffer: Any, offset: int) -> Bound:
        """A buffer at an index. Raises NotRecorded."""
        encoded = self._session.encoded.at(buffer, offset)
        if encoded is None:
            return Bound(index=index, memory=self._memory(buffer), offset=offset)
        return Bound(index=index, memory=self._argument_buffer(encoded), offset=0)

    def texture(self, index: int, texture: Any) -> BoundTexture:
        """A texture at an index. Raises NotRecorded."""
        return BoundTexture(index=index, memory=self._memory(texture))

    def use(self, resources: Iterable[Any]) -> None:
        """What is reached through addresses, also heaps and residency sets. Raises NotRecorded."""
        for resource in reached_through(resources):
            if isinstance(resource, FunctionTable):
                continue  # told where it is bound or encoded
            if not (is_buffer(resource) or is_texture(resource)):
                raise NotRecorded("resources that are no buffers and no textures")
            self._memory(resource)

    def before(self) -> tuple[MemoryRecord, ...]:
        """All memory as it is. Raises NotRecorded."""
        self._check_apart()
        return tuple(self._memories)

    def after(self) -> tuple[MemoryRecord, ...]:
        """All memory with what it holds now."""
        return tuple(map(self._after, self._resources, self._memories))

    def _argument_buffer(self, encoded: Encoded) -> int:
        """The memory of an argument buffer: of its own, for the device alone knows its bytes."""
        if encoded.reason:
            raise NotRecorded(encoded.reason)
        number = len(self._memories)
        zeros = self._session.writer.add_bytes(bytes(encoded.length))
        self._resources.append(None)
        self._memories.append(MemoryRecord(label="argument buffer", before=zeros, after=None))
        buffers, textures, samplers, tables = [], [], [], []
        for index, (member, offset) in encoded.members.items():
            if isinstance(member, Sampler):
                samplers.append(sampler_at(index, Clamped(member)))
            elif isinstance(member, FunctionTable):
                tables.append(member.at(index))
            elif is_texture(member):
                textures.append(self.texture(index, member))
            else:
                buffers.append(self.buffer(index, member, offset))
        self.encoded.append(
            EncodedRecord(
                memory=number,
                offset=0,
                length=encoded.length,
                index=encoded.index,
                members=tuple(buffers),
                textures=tuple(textures),
                samplers=tuple(samplers),
                tables=tuple(tables),
            )
        )
        return number

    def _memory(self, resource: Any) -> int:
        for number, known in enumerate(self._resources):
            if known is resource:
                return number
        kind = described(self._session.api, resource) if is_texture(resource) else None
        label = resource.label()
        self._resources.append(resource)
        self._memories.append(
            MemoryRecord(
                label=str(label or ""),
                before=self._contents(resource, kind),
                after=None,
                address=_address(resource, kind),
                texture=kind,
            )
        )
        return len(self._memories) - 1

    def _check_apart(self) -> None:
        """Raises NotRecorded if two resources share memory: replays have each for itself."""
        held = [each for each in self._resources if each is not None]
        if Places(self._session.api).overlap(held):
            with_textures = any(map(is_texture, held))
            what = "textures beside others, or buffers," if with_textures else "buffers"
            raise NotRecorded(f"{what} of the same memory")

    def _after(self, resource: Any, memory: MemoryRecord) -> MemoryRecord:
        if resource is None:
            return memory
        after = self._contents(resource, memory.texture)
        return replace(memory, after=None if after == memory.before else after)

    def _contents(self, resource: Any, kind: TextureRecord | None) -> Bytes:
        api, queue = self._session.api, self._queue
        if kind is None:
            return self._session.writer.add_bytes(contents_of(api, queue, resource))
        return self._session.writer.add_bytes(texels_of(api, queue, resource, kind))


def sampler_at(index: int, sampler: Clamped) -> BoundSampler:
    """A sampler at an index."""
    return BoundSampler(index=index, settings=sampler.settings)


def _address(resource: Any, kind: TextureRecord | None) -> int:
    """What kernels find it by; 0 if the system is too old to say."""
    if kind is None:
        return int(resource.gpuAddress()) if hasattr(resource, "gpuAddress") else 0
    if not hasattr(resource, "gpuResourceID"):
        return 0
    found = resource.gpuResourceID()
    return int(getattr(found, "_impl", found))
