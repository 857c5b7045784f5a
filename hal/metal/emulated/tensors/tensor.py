"""MTLTensor: elements in memory, what kernels know of them, and copies from and to the host."""

import struct
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import MetalValidationError
from ..objects import call_of
from ..resources.buffer import MTLBuffer
from ..resources.memory import bytes_of
from ..resources.resource import WithOptions
from ..structs import MTLResourceID
from .descriptor import Shape
from .extents import MTLTensorExtents, numbers

if TYPE_CHECKING:
    from ..device import MTLDevice

MOST_DIMENSIONS = 8
"""Of a tensor that a kernel takes, as `compiler/msl/include/assay/tensor_product.h` has it."""


class MTLTensor(WithOptions):
    """An array of several dimensions that kernels read and write by its extents."""

    def __init__(
        self, room: MTLBuffer, start: int, shape: Shape, usage: int, *, is_in_buffer: bool
    ) -> None:
        self._device = room.device()
        self.room = room
        self.start = start
        self.shape = shape
        self._usage = usage
        self._options = room.resourceOptions()
        self._is_in_buffer = is_in_buffer
        self.described = self._device.memory.adopt(
            "MTLTensor",
            np.frombuffer(bytearray(_description(shape, room.gpuAddress() + start)), np.uint8),
            "tensor",
            counted=False,
        )
        self._device.memory.own(self.described.address, self)

    @property
    def addresses(self) -> tuple[int, ...]:
        """GPU addresses of its description and of its elements."""
        return self.described.address, self.room.gpuAddress()

    def device(self) -> "MTLDevice":
        """The device whose memory this is."""
        return self._device

    def setLabel_(self, label: str | None) -> None:
        """Name the tensor, in messages of kernels too."""
        super().setLabel_(label)
        if not self._is_in_buffer:
            self.room.setLabel_(label)

    def gpuResourceID(self) -> MTLResourceID:
        """What argument tables and argument buffers hold."""
        return MTLResourceID(self.described.address)

    def buffer(self) -> MTLBuffer | None:
        """The buffer that the tensor was made of, or None."""
        return self.room if self._is_in_buffer else None

    def bufferOffset(self) -> int:
        """Bytes from the start of that buffer."""
        return self.start

    def dimensions(self) -> MTLTensorExtents:
        """Elements in each dimension, the innermost first."""
        return MTLTensorExtents(self.shape.sizes)

    def strides(self) -> MTLTensorExtents | None:
        """Elements from one to the next in each dimension; None for one that is in no buffer."""
        return MTLTensorExtents(self.shape.strides) if self._is_in_buffer else None

    def dataType(self) -> int:
        """The MTLTensorDataType."""
        return self.shape.data_type

    def usage(self) -> int:
        """The MTLTensorUsage."""
        return self._usage

    def allocatedSize(self) -> int:
        """Bytes that the tensor takes."""
        return self.shape.nbytes

    def replaceSliceOrigin_sliceDimensions_withBytes_strides_(
        self,
        origin: MTLTensorExtents,
        dimensions: MTLTensorExtents,
        data: object,
        strides: MTLTensorExtents,
    ) -> None:
        """Copy elements of the host, which lie as `strides` say, into a slice."""
        where = call_of(self)
        own, other = self._slice(where, origin, dimensions, data, strides)
        own[...] = other

    def getBytes_strides_fromSliceOrigin_sliceDimensions_(
        self,
        data: object,
        strides: MTLTensorExtents,
        origin: MTLTensorExtents,
        dimensions: MTLTensorExtents,
    ) -> None:
        """Copy a slice to writable memory of the host, whose elements lie as `strides` say."""
        where = call_of(self)
        own, other = self._slice(where, origin, dimensions, data, strides)
        if not other.flags.writeable:
            raise MetalValidationError(f"{where}: {type(data).__name__} is read-only memory")
        other[...] = own

    def elements(self, data: "NDArray[np.uint8]") -> "NDArray[Any]":
        """All elements, the outermost dimension first, in `data`, the bytes of its buffer."""
        return _strided(data[self.start :], self.shape, self.shape.sizes, self.shape.strides)

    def region(
        self, where: str, origin: MTLTensorExtents, dimensions: MTLTensorExtents
    ) -> tuple[slice, ...]:
        """A slice, the outermost dimension first. Raises MetalValidationError."""
        rank = len(self.shape.sizes)
        first = numbers(where, "the origin", origin, rank)
        count = numbers(where, "the dimensions", dimensions, rank)
        for at, (start, length, size) in enumerate(
            zip(first, count, self.shape.sizes, strict=True)
        ):
            if start + length > size:
                raise MetalValidationError(
                    f"{where}: elements {start}..{start + length} of dimension {at} of {self!r}, "
                    f"which has {size}"
                )
        return tuple(slice(f, f + n) for f, n in zip(first[::-1], count[::-1], strict=True))

    def _slice(
        self,
        where: str,
        origin: MTLTensorExtents,
        dimensions: MTLTensorExtents,
        data: object,
        strides: MTLTensorExtents,
    ) -> "tuple[NDArray[Any], NDArray[Any]]":
        """A slice as the host sees it, and as many elements of the host's memory."""
        place = self.region(where, origin, dimensions)
        if self.room.host_bytes is None:
            raise MetalValidationError(
                f"{where}: {self!r} has MTLStorageModePrivate, which the host cannot see"
            )
        steps = numbers(where, "the strides", strides, len(place))
        count = dimensions.values
        shape = Shape(data_type=self.shape.data_type, sizes=count, strides=steps)
        nbytes = shape.nbytes if min(count, default=1) else 0
        other = _strided(bytes_of(where, data, nbytes), shape, count, steps)
        return self.elements(self.room.host_bytes)[place], other

    def __repr__(self) -> str:
        label = f" {self._label!r}" if self._label else ""
        sizes = " x ".join(map(str, self.shape.sizes)) or "1"
        return f"<MTLTensor{label} of {sizes} elements of {self.shape.element.name}>"


def _strided(
    data: "NDArray[np.uint8]", shape: Shape, sizes: tuple[int, ...], strides: tuple[int, ...]
) -> "NDArray[Any]":
    size = shape.element.itemsize
    return np.ndarray(
        sizes[::-1], shape.element, data, strides=tuple(step * size for step in strides[::-1])
    )


def _description(shape: Shape, address: int) -> bytes:
    """What a kernel finds where its argument points to: see `__tensor_data` in tensor.h.

    Of tensors of more dimensions than a kernel can take it tells the first ones.
    """
    rank = len(shape.sizes)
    more = max(0, MOST_DIMENSIONS - rank)
    sizes = (*shape.sizes[:MOST_DIMENSIONS], *(1,) * more)
    strides = (*shape.strides[:MOST_DIMENSIONS], *(0,) * more)
    layout = f"<Q{MOST_DIMENSIONS}i{MOST_DIMENSIONS}iii"
    return struct.pack(layout, address, *sizes, *strides, rank, shape.element.itemsize)
