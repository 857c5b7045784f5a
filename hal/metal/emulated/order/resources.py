"""Buffers, textures and heaps as the order of commands sees them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..constants import MTLHazardTrackingModeTracked, MTLHazardTrackingModeUntracked
from ..resources.buffer import MTLBuffer
from ..resources.memory import Bytes

if TYPE_CHECKING:
    from ..objects import MetalObject
    from .guard import Guarded

_HANDLE_SHIFT = 48


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Resource:
    """Memory of a buffer or texture, and how Metal treats it.

    Attributes:
        handle: of its address, by which kernels reach it.
        data: its bytes; they stay where they are as long as this lives.
        start: where they are.
        label: what the program calls it; empty if it has no name.
        is_tracked: whether Metal itself keeps passes apart that use it.
        is_in_heap: whether it is a part of a heap.
        aliased: when makeAliasable was called, 0 if it was not.
    """

    handle: int
    data: Bytes
    start: int
    label: str
    is_texture: bool
    is_tracked: bool
    is_in_heap: bool
    owner: MTLBuffer | None

    @property
    def guarded(self) -> Guarded | None:
        """The memory below, if what the host does to it can be seen."""
        return self.owner.guarded if self.owner is not None else None

    @property
    def aliased(self) -> int:
        """When makeAliasable was called; 0 if it was not."""
        return self.owner.aliased_at if self.owner is not None else 0


def resources_of(thing: MetalObject) -> Iterator[Resource]:
    """The memory of a buffer, texture or tensor, or of all in a heap; of others nothing."""
    from ..resources.heap import MTLHeap
    from ..tensors.tensor import MTLTensor
    from ..textures.texture import MTLTexture

    if isinstance(thing, MTLBuffer):
        yield _of_buffer(thing)
    elif isinstance(thing, MTLTensor):
        yield _of_buffer(thing.room)
    elif isinstance(thing, MTLTexture):
        yield _of_texture(thing)
    elif isinstance(thing, MTLHeap):
        for each in (*thing.buffers, *thing.textures):
            yield from resources_of(each)


def memory_of(thing: MetalObject) -> Iterator[int]:
    """The handles of the memory of a resource."""
    for resource in resources_of(thing):
        yield resource.handle


def handle_of(address: int) -> int:
    """What an address has in common with all others of its buffer."""
    return address >> _HANDLE_SHIFT


def _of_buffer(buffer: MTLBuffer) -> Resource:
    return Resource(
        handle=handle_of(buffer.gpuAddress()),
        data=buffer.data,
        start=buffer.data.ctypes.data,
        label=buffer.label() or "",
        is_texture=False,
        is_tracked=_is_tracked(buffer.hazardTrackingMode(), in_heap=buffer.heap() is not None),
        is_in_heap=buffer.heap() is not None,
        owner=buffer,
    )


def _of_texture(texture: object) -> Resource:
    from ..textures.texture import MTLTexture

    assert isinstance(texture, MTLTexture)
    owner = texture.buffer() or texture.room
    in_heap = texture.heap() is not None or (owner is not None and owner.heap() is not None)
    return Resource(
        handle=handle_of(texture.storage.address),
        data=texture.storage.data,
        start=texture.storage.data.ctypes.data,
        label=texture.label() or (owner.label() if owner is not None else None) or "",
        is_texture=texture.buffer() is None,
        is_tracked=_is_tracked(texture.hazardTrackingMode(), in_heap=in_heap),
        is_in_heap=in_heap,
        owner=owner,
    )


def _is_tracked(mode: int, *, in_heap: bool) -> bool:
    """By default resources are tracked, and heaps, with all that is in them, are not."""
    if in_heap:
        return mode == MTLHazardTrackingModeTracked
    return mode != MTLHazardTrackingModeUntracked
