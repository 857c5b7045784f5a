"""Recorded buffers, textures and samplers on the emulated device."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from assay.hal.metal import emulated
from assay.hal.metal.emulated.host import buffer_over
from assay.hal.recordings import BoundSampler, MemoryRecord, TextureRecord
from assay.hal.recordings.texels import images

from .compared import Data
from .errors import CannotReplay

if TYPE_CHECKING:
    from assay.hal.metal.emulated import MTLBuffer, MTLDevice, MTLSamplerState, MTLTexture

_CUBES = (emulated.MTLTextureTypeCube, emulated.MTLTextureTypeCubeArray)


class BufferPlace:
    """A buffer over contents: what kernels write is there at once."""

    def __init__(self, device: MTLDevice, data: Data, label: str) -> None:
        self.resource: MTLBuffer = buffer_over(device, data, label)

    @property
    def address(self) -> int:
        """What kernels find it by."""
        return self.resource.gpuAddress()

    def memory_of(self, byte: int) -> tuple[int, int]:
        """The address of the memory that a byte of the contents lies in, and where in it."""
        return self.resource.gpuAddress(), byte

    def read_back(self) -> None:
        """Nothing to do."""


class TexturePlace:
    """A texture, whose texels are copied from contents and back."""

    def __init__(self, device: MTLDevice, data: Data, label: str, kind: TextureRecord) -> None:
        self._data = data
        self._kind = kind
        self.resource: MTLTexture = device.newTextureWithDescriptor_(_descriptor(kind))
        self.resource.setLabel_(label)
        if self.resource.layout.format.size != kind.texel:
            raise CannotReplay(f"texture {label} has texels of {kind.texel} bytes")
        for image in images(kind):
            self.resource.replaceRegion_mipmapLevel_slice_withBytes_bytesPerRow_bytesPerImage_(
                ((0, 0, 0), image.size),
                image.level,
                image.slice,
                data[image.start : image.start + image.length],
                image.row,
                image.row * image.size[1],
            )

    @property
    def address(self) -> int:
        """What kernels find it by."""
        return int(self.resource.gpuResourceID().__index__())

    def memory_of(self, byte: int) -> tuple[int, int]:
        """The address of the memory that a byte of the contents lies in, and where in it."""
        for image in images(self._kind):
            if byte < image.start + image.length:
                break
        level = self.resource.layout.levels[image.level]
        inside = level.offset + image.slice * level.image + byte - image.start
        return self.resource.storage.address, inside

    def read_back(self) -> None:
        """Copy what the texture holds into the contents."""
        for image in images(self._kind):
            self.resource.getBytes_bytesPerRow_bytesPerImage_fromRegion_mipmapLevel_slice_(
                self._data[image.start : image.start + image.length],
                image.row,
                image.row * image.size[1],
                ((0, 0, 0), image.size),
                image.level,
                image.slice,
            )


Place = BufferPlace | TexturePlace


class Memories:
    """All memory of a dispatch, by number.

    Raises:
        MetalError, CannotReplay: for what cannot be made here.
    """

    def __init__(
        self, device: MTLDevice, records: Sequence[MemoryRecord], contents: Sequence[Data]
    ) -> None:
        self._buffers: dict[int, BufferPlace] = {}
        self._textures: dict[int, TexturePlace] = {}
        for number, (record, data) in enumerate(zip(records, contents, strict=True)):
            if record.texture is None:
                label = record.label or f"buffer {number}"
                self._buffers[number] = BufferPlace(device, data, label)
            else:
                label = record.label or f"texture {number}"
                self._textures[number] = TexturePlace(device, data, label, record.texture)

    def __getitem__(self, number: int) -> Place:
        return self._buffers.get(number) or self._textures[number]

    def __iter__(self) -> Iterator[Place]:
        return (self[number] for number in range(len(self._buffers) + len(self._textures)))

    def buffer(self, number: int) -> MTLBuffer:
        """The buffer of this number, which the recording's reader has checked to be one."""
        return self._buffers[number].resource

    def texture(self, number: int) -> MTLTexture:
        """The texture of this number, which the recording's reader has checked to be one."""
        return self._textures[number].resource


def sampler_of(device: MTLDevice, sampler: BoundSampler) -> MTLSamplerState:
    """A recorded sampler. Raises MetalError, CannotReplay."""
    descriptor = emulated.MTLSamplerDescriptor.new()
    set_by_name(descriptor, sampler.settings)
    return device.newSamplerStateWithDescriptor_(descriptor)


def set_by_name(target: Any, values: Mapping[str, float]) -> None:
    """Give an object what its methods of these names had said. Raises CannotReplay."""
    for name, value in values.items():
        setter = getattr(target, f"set{name[:1].upper()}{name[1:]}_", None)
        if setter is None:
            raise CannotReplay(f"{type(target).__name__} has no {name!r:.40} here")
        setter(value)


def _descriptor(kind: TextureRecord) -> emulated.MTLTextureDescriptor:
    made = emulated.MTLTextureDescriptor.new()
    faces = 6 if kind.type in _CUBES else 1
    made.setTextureType_(kind.type)
    made.setPixelFormat_(kind.format)
    made.setWidth_(kind.size[0])
    made.setHeight_(kind.size[1])
    made.setDepth_(kind.size[2])
    made.setArrayLength_(kind.slices // faces)
    made.setMipmapLevelCount_(kind.levels)
    made.setUsage_(kind.usage)
    made.setSwizzle_(kind.swizzle)
    return made
