"""MTLHeap: one allocation that buffers are placed in, by the heap or by the program."""

import weakref
from typing import TYPE_CHECKING

from assay.hw.apple.facts.limits import limits

from ....observe import current_watch
from ..constants import MTLHeapTypeAutomatic, MTLHeapTypePlacement, MTLPurgeableStateNonVolatile
from ..descriptors import MTLHeapDescriptor
from ..errors import MetalValidationError
from ..objects import call_of
from ..order.tick import tick
from ..structs import as_integer
from ..textures.descriptor import MTLTextureDescriptor
from ..textures.layout import Layout
from ..textures.maker import layout_in_heap
from ..textures.texture import MTLTexture
from .buffer import MTLBuffer, checked_options
from .resource import WithOptions, storage_mode_of
from .undefined import note_undefined

if TYPE_CHECKING:
    from ..device import MTLDevice

_ALIGNMENT = limits().heap_alignment


class MTLHeap(WithOptions):
    """Memory to place buffers and textures in; each is still bounded by itself."""

    def __init__(self, device: "MTLDevice", descriptor: MTLHeapDescriptor):
        where = "MTLDevice.newHeapWithDescriptor_"
        if descriptor.size() <= 0:
            raise MetalValidationError(f"{where}: size is {descriptor.size()}; call setSize_")
        if descriptor.type() not in (MTLHeapTypeAutomatic, MTLHeapTypePlacement):
            raise MetalValidationError(f"{where}: sparse heaps are not emulated")
        self._device = device
        self._options = checked_options(where, descriptor.resourceOptions())
        self._type = descriptor.type()
        self._size = descriptor.size()
        self.allocation = device.memory.allocate(where, self._size, "heap", current_watch())
        self.buffers: weakref.WeakSet[MTLBuffer] = weakref.WeakSet()
        self.textures: weakref.WeakSet[MTLTexture] = weakref.WeakSet()
        # Where live buffers lie: (offset, end, buffer), in order of offset.
        self._blocks: list[tuple[int, int, weakref.ref[MTLBuffer]]] = []

    def device(self) -> "MTLDevice":
        """The device whose memory this is."""
        return self._device

    def size(self) -> int:
        """Bytes of the heap."""
        return self._size

    def currentAllocatedSize(self) -> int:
        """Bytes that the heap takes from the device."""
        return self._size

    def usedSize(self) -> int:
        """Bytes taken by buffers."""
        return sum(end - offset for offset, end, _ in self._live())

    def maxAvailableSizeWithAlignment_(self, alignment: int) -> int:
        """Bytes of the largest buffer that still fits at a multiple of `alignment`."""
        where = call_of(self)
        alignment = max(as_integer(where, "the alignment", alignment), _ALIGNMENT)
        return max((end - start for start, end in self._gaps(alignment)), default=0)

    def type(self) -> int:
        """The MTLHeapType."""
        return self._type

    def setPurgeableState_(self, state: int) -> int:
        """Always MTLPurgeableStateNonVolatile: the emulator never takes memory back."""
        return MTLPurgeableStateNonVolatile

    def newBufferWithLength_options_(self, length: int, options: int) -> MTLBuffer | None:
        """A buffer where there is room, or None where there is none."""
        where = call_of(self)
        length = self._checked_length(where, MTLHeapTypeAutomatic, length, options)
        for start, end in self._gaps(_ALIGNMENT):
            if end - start >= length:
                buffer = self._place(where, start, length)
                note_undefined(buffer)
                return buffer
        return None

    def newBufferWithLength_options_offset_(
        self, length: int, options: int, offset: int
    ) -> MTLBuffer:
        """A buffer at `offset` of a placement heap; buffers may overlap."""
        where = call_of(self)
        length = self._checked_length(where, MTLHeapTypePlacement, length, options)
        offset = as_integer(where, "the offset", offset)
        if offset < 0 or offset % _ALIGNMENT:
            raise MetalValidationError(
                f"{where}: offset is {offset}; it must be a multiple of {_ALIGNMENT}, as "
                "heapBufferSizeAndAlignWithLength_options_ says"
            )
        if offset + length > self._size:
            raise MetalValidationError(
                f"{where}: bytes {offset}..{offset + length} of a heap of {self._size} bytes"
            )
        return self._place(where, offset, length)

    def newTextureWithDescriptor_(self, descriptor: MTLTextureDescriptor) -> MTLTexture | None:
        """A texture where there is room, or None where there is none."""
        where = call_of(self)
        layout = layout_in_heap(where, descriptor)
        room = self.newBufferWithLength_options_(layout.size, descriptor.resourceOptions())
        return None if room is None else self._texture(descriptor, layout, room)

    def newTextureWithDescriptor_offset_(
        self, descriptor: MTLTextureDescriptor, offset: int
    ) -> MTLTexture:
        """A texture at `offset` of a placement heap; resources may overlap."""
        where = call_of(self)
        layout = layout_in_heap(where, descriptor)
        room = self.newBufferWithLength_options_offset_(
            layout.size, descriptor.resourceOptions(), offset
        )
        return self._texture(descriptor, layout, room)

    def _texture(
        self, descriptor: MTLTextureDescriptor, layout: Layout, room: MTLBuffer
    ) -> MTLTexture:
        """A texture whose texels lie where `room` does, which it keeps."""
        texture = MTLTexture(
            self._device,
            layout,
            room.allocation,
            options=self._options,
            usage=descriptor.usage(),
            room=room,
        )
        self.textures.add(texture)
        return texture

    def _checked_length(self, where: str, kind: int, length: int, options: int) -> int:
        length = as_integer(where, "the length", length)
        if self._type != kind:
            other = "newBufferWithLength_options_"
            if kind == MTLHeapTypeAutomatic:
                other = "newBufferWithLength_options_offset_"
            raise MetalValidationError(f"{where}: the heap is of the other type; use {other}")
        if length <= 0:
            raise MetalValidationError(f"{where}: length is {length} B; it must be positive")
        mode = storage_mode_of(checked_options(where, options))
        if mode != self.storageMode():
            raise MetalValidationError(
                f"{where}: storage mode {mode} in a heap of storage mode {self.storageMode()}; "
                "they must be the same"
            )
        return length

    def _place(self, where: str, offset: int, length: int) -> MTLBuffer:
        # A heap's memory counts once, when the heap is made.
        memory = self._device.memory
        data = self.allocation.data[offset : offset + length]
        allocation = memory.adopt(where, data, "", counted=False)
        buffer = MTLBuffer(self._device, allocation, self._options, heap=self, heap_offset=offset)
        self.buffers.add(buffer)
        end = offset + -(-length // _ALIGNMENT) * _ALIGNMENT
        self._blocks = [*self._live(), (offset, min(end, self._size), weakref.ref(buffer))]
        self._blocks.sort(key=lambda block: block[0])
        return buffer

    def _live(self) -> list[tuple[int, int, weakref.ref[MTLBuffer]]]:
        return [block for block in self._blocks if block[2]() is not None]

    def _gaps(self, alignment: int) -> list[tuple[int, int]]:
        """Free stretches (start, end), each start aligned."""
        gaps = []
        free = 0
        for offset, end, _ in self._live():
            start = -(-free // alignment) * alignment
            if start < offset:
                gaps.append((start, offset))
            free = max(free, end)
        start = -(-free // alignment) * alignment
        if start < self._size:
            gaps.append((start, self._size))
        return gaps

    def make_aliasable(self, buffer: MTLBuffer) -> None:
        """Let later buffers overlap this one."""
        self._blocks = [block for block in self._live() if block[2]() is not buffer]
        buffer.aliased_at = tick()

    def is_aliasable(self, buffer: MTLBuffer) -> bool:
        """Whether later buffers may overlap this one."""
        return all(block[2]() is not buffer for block in self._live())
