"""MTLTexture: texels, what kernels know of them, and copies between them and the host."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ....observe import current_watch
from ..constants import MTLPurgeableStateNonVolatile, MTLStorageModePrivate
from ..errors import MetalValidationError
from ..objects import call_of
from ..order.hooks import host_uses_texels
from ..resources.memory import Allocation, Bytes, bytes_of
from ..resources.resource import WithOptions
from ..structs import MTLResourceID, MTLTextureSwizzleChannels, as_integer
from ..texture_constants import MTLTextureUsagePixelFormatView
from .formats import pixel_format
from .layout import IDENTITY, Block, Layout, Swizzle, blocks, description
from .regions import as_region, check_region
from .views import view_layout

if TYPE_CHECKING:
    from ..device import MTLDevice
    from ..resources.buffer import MTLBuffer
    from ..resources.heap import MTLHeap

Region = Sequence[Sequence[int]]


class MTLTexture(WithOptions):
    """Texels that kernels read, sample and write.

    Deviation: host and device see one copy, managed or not.
    """

    def __init__(
        self,
        device: "MTLDevice",
        layout: Layout,
        storage: Allocation,
        *,
        options: int,
        usage: int,
        start: int = 0,
        buffer: "MTLBuffer | None" = None,
        parent: "MTLTexture | None" = None,
        part: tuple[int, int] = (0, 0),
        room: "MTLBuffer | None" = None,
    ):
        self._device = device
        self.layout = layout
        self.storage = storage
        self._options = options
        self._usage = usage
        self.start = start
        self._buffer = buffer
        self._parent = parent
        self._part = part
        # What holds the place in a heap, as long as the texture lives.
        self.room = room
        described = description(layout, storage.address + start)
        self.described = device.memory.adopt(
            "MTLTexture", np.frombuffer(bytearray(described), np.uint8), "texture", counted=False
        )
        device.memory.own(self.described.address, self)

    @property
    def addresses(self) -> tuple[int, ...]:
        """GPU addresses of its description and of its texels."""
        return self.described.address, self.storage.address

    def device(self) -> "MTLDevice":
        """The device whose memory this is."""
        return self._device

    def setLabel_(self, label: str | None) -> None:
        """Name the texture, in messages of kernels too."""
        super().setLabel_(label)
        if self._buffer is None:
            self._device.memory.rename(self.storage, label or "texture")

    def textureType(self) -> int:
        """The MTLTextureType."""
        return self.layout.type

    def pixelFormat(self) -> int:
        """The MTLPixelFormat."""
        return self.layout.format.value

    def width(self) -> int:
        """Texels in a row."""
        return self.layout.levels[0].width

    def height(self) -> int:
        """Rows."""
        return self.layout.levels[0].height

    def depth(self) -> int:
        """Planes of a 3D texture."""
        return self.layout.levels[0].depth

    def mipmapLevelCount(self) -> int:
        """Mipmap levels, the full size included."""
        return len(self.layout.levels)

    def sampleCount(self) -> int:
        """Samples of a texel."""
        return self.layout.samples

    def arrayLength(self) -> int:
        """Slices of an array; a cube is one slice."""
        return self.layout.array_length

    def usage(self) -> int:
        """The MTLTextureUsage."""
        return self._usage

    def swizzle(self) -> MTLTextureSwizzleChannels:
        """What reads give as red, green, blue and alpha."""
        return MTLTextureSwizzleChannels(*self.layout.swizzle)

    def isShareable(self) -> bool:
        """Always False: textures stay in the process."""
        return False

    def isFramebufferOnly(self) -> bool:
        """Always False: there is no display."""
        return False

    def allowGPUOptimizedContents(self) -> bool:
        """Always True: the layout shows nowhere."""
        return True

    def gpuResourceID(self) -> MTLResourceID:
        """What argument buffers hold."""
        return MTLResourceID(self.described.address)

    def buffer(self) -> "MTLBuffer | None":
        """The buffer that holds the texels, or None."""
        return self._buffer

    def bufferOffset(self) -> int:
        """Byte of the buffer where the texels begin."""
        return self.start if self._buffer is not None else 0

    def bufferBytesPerRow(self) -> int:
        """Bytes from row to row in the buffer; 0 without one."""
        return self.layout.levels[0].row if self._buffer is not None else 0

    def parentTexture(self) -> "MTLTexture | None":
        """The texture that this is a view of, or None."""
        return self._parent

    def parentRelativeLevel(self) -> int:
        """The level of the parent that is level 0 here."""
        return self._part[0]

    def parentRelativeSlice(self) -> int:
        """The slice of the parent that is slice 0 here."""
        return self._part[1]

    def rootResource(self) -> "MTLBuffer | MTLTexture | None":
        """The buffer or texture that owns the texels, or None when it is this one."""
        if self._parent is not None:
            return self._parent.rootResource() or self._parent
        return self._buffer

    def allocatedSize(self) -> int:
        """Bytes that the texels take."""
        return self.storage.data.nbytes

    def heap(self) -> "MTLHeap | None":
        """The heap that the texture lies in, or None."""
        return self.room.heap() if self.room is not None else None

    def heapOffset(self) -> int:
        """Bytes from the start of the heap."""
        return self.room.heapOffset() if self.room is not None else 0

    def makeAliasable(self) -> None:
        """Let later resources of the same heap overlap this one."""
        if self.room is not None:
            self.room.makeAliasable()

    def isAliasable(self) -> bool:
        """Whether later resources of the heap may overlap this one."""
        return self.room is not None and self.room.isAliasable()

    def setPurgeableState_(self, state: int) -> int:
        """Always MTLPurgeableStateNonVolatile: the emulator never takes memory back."""
        return MTLPurgeableStateNonVolatile

    # Views

    def newTextureViewWithPixelFormat_(self, format: int) -> "MTLTexture":
        """The same texels, read as another format of the same size."""
        where = call_of(self)
        whole = (0, len(self.layout.levels)), (0, self.layout.slices)
        return self._view(where, format, self.layout.type, *whole, IDENTITY)

    def newTextureViewWithPixelFormat_textureType_levels_slices_(
        self, format: int, kind: int, levels: Sequence[int], slices: Sequence[int]
    ) -> "MTLTexture":
        """Some levels and slices, as another type and format."""
        where = call_of(self)
        return self._view(where, format, kind, levels, slices, IDENTITY)

    def newTextureViewWithPixelFormat_textureType_levels_slices_swizzle_(
        self,
        format: int,
        kind: int,
        levels: Sequence[int],
        slices: Sequence[int],
        swizzle: Swizzle,
    ) -> "MTLTexture":
        """Some levels and slices, as another type and format, with channels exchanged."""
        where = call_of(self)
        return self._view(where, format, kind, levels, slices, swizzle)

    def _view(
        self,
        where: str,
        format: int,
        kind: int,
        levels: Sequence[int],
        slices: Sequence[int],
        swizzle: Swizzle,
    ) -> "MTLTexture":
        found = pixel_format(where, format)
        same = found.value == self.layout.format.value
        if not same and self._usage and not self._usage & MTLTextureUsagePixelFormatView:
            raise MetalValidationError(
                f"{where}: {self!r} was made without MTLTextureUsagePixelFormatView, which views "
                "of another format need"
            )
        layout, part = view_layout(where, self.layout, found, kind, levels, slices, swizzle)
        return MTLTexture(
            self._device,
            layout,
            self.storage,
            options=self._options,
            usage=self._usage,
            start=self.start,
            buffer=self._buffer,
            parent=self,
            part=part,
            room=self.room,
        )

    # The host's copies

    def replaceRegion_mipmapLevel_withBytes_bytesPerRow_(
        self, region: Region, level: int, data: object, bytes_per_row: int
    ) -> None:
        """Copy `data` into a region of slice 0."""
        where = call_of(self)
        self._replace(where, region, level, 0, data, bytes_per_row, 0)

    def replaceRegion_mipmapLevel_slice_withBytes_bytesPerRow_bytesPerImage_(
        self,
        region: Region,
        level: int,
        slice: int,
        data: object,
        bytes_per_row: int,
        bytes_per_image: int,
    ) -> None:
        """Copy `data` into a region of a slice."""
        where = call_of(self)
        self._replace(where, region, level, slice, data, bytes_per_row, bytes_per_image)

    def getBytes_bytesPerRow_fromRegion_mipmapLevel_(
        self, data: object, bytes_per_row: int, region: Region, level: int
    ) -> None:
        """Copy a region of slice 0 into `data`, a writable object with the buffer protocol."""
        where = call_of(self)
        self._get(where, region, level, 0, data, bytes_per_row, 0)

    def getBytes_bytesPerRow_bytesPerImage_fromRegion_mipmapLevel_slice_(
        self,
        data: object,
        bytes_per_row: int,
        bytes_per_image: int,
        region: Region,
        level: int,
        slice: int,
    ) -> None:
        """Copy a region of a slice into `data`, a writable object with the buffer protocol."""
        where = call_of(self)
        self._get(where, region, level, slice, data, bytes_per_row, bytes_per_image)

    def _replace(
        self, where: str, region: Region, level: int, slice: int, data: object, row: int, image: int
    ) -> None:
        texels, host = self._blocks(where, region, level, slice, row, image)
        host_uses_texels(current_watch(), self, texels, write=True)
        texels.view(self.texel_bytes())[:] = host.view(bytes_of(where, data, host.size))

    def _get(
        self, where: str, region: Region, level: int, slice: int, data: object, row: int, image: int
    ) -> None:
        texels, host = self._blocks(where, region, level, slice, row, image)
        target = bytes_of(where, data, host.size)
        if not target.flags.writeable:
            raise MetalValidationError(
                f"{where}: {type(data).__name__} is read-only; give a bytearray or an array"
            )
        host_uses_texels(current_watch(), self, texels, write=False)
        host.view(target)[:] = texels.view(self.texel_bytes())

    def _blocks(
        self, where: str, region: Region, level: int, slice: int, row: int, image: int
    ) -> tuple[Block, Block]:
        """A region's bytes in the texture and, rows `row` bytes apart, on the host."""
        if self.storageMode() == MTLStorageModePrivate:
            raise MetalValidationError(
                f"{where}: {self!r} has MTLStorageModePrivate, which the host cannot reach; copy "
                "through a buffer with a blit encoder"
            )
        origin, extent = as_region(where, region)
        level = as_integer(where, "the mipmap level", level)
        slice = as_integer(where, "the slice", slice)
        check_region(where, self, level, slice, origin, extent)
        texels = next(blocks(self.layout, level, slice, origin, extent))
        host = host_block(where, self.layout, extent, row, image)
        return texels, host

    def texel_bytes(self) -> Bytes:
        """The memory from the first texel on."""
        return self.storage.data[self.start :]

    def synchronize_host(self) -> None:
        """Nothing: host and device see one copy of a texture, managed or not."""

    @property
    def _storage_mode(self) -> int:
        return self.storageMode()

    def __repr__(self) -> str:
        label = f" {self._label!r}" if self._label else ""
        level = self.layout.levels[0]
        extent = "x".join(
            str(size) for size in (level.width, level.height, level.depth) if size > 1
        )
        return f"<MTLTexture{label} of {extent or 1} {self.layout.format.name}>"


def host_block(
    where: str, layout: Layout, extent: tuple[int, int, int], row: int, image: int
) -> Block:
    """`extent` texels in linear memory. Raises MetalValidationError for impossible steps."""
    row = as_integer(where, "bytesPerRow", row)
    image = as_integer(where, "bytesPerImage", image)
    width = extent[0] * layout.format.size
    # One row, or one image, may leave the step to the next at 0.
    row = row or (width if extent[1] == 1 else 0)
    image = image or (row * extent[1] if extent[2] == 1 else 0)
    if row < width or row % layout.format.size:
        raise MetalValidationError(
            f"{where}: bytesPerRow is {row}; {extent[0]} texels of {layout.format.name} take "
            f"{width} B, and rows must hold whole texels of {layout.format.size} B"
        )
    if image < row * extent[1]:
        raise MetalValidationError(
            f"{where}: bytesPerImage is {image}; {extent[1]} rows of {row} B take "
            f"{row * extent[1]} B"
        )
    return Block(offset=0, width=width, rows=extent[1], planes=extent[2], row=row, image=image)
