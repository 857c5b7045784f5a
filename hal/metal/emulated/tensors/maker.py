"""How devices and buffers make tensors."""

from typing import TYPE_CHECKING, cast

from ..constants import MTLStorageModeMemoryless, MTLTensorUsageMachineLearning
from ..errors import MTLTensorDomain, NSError
from ..objects import MetalObject, call_of, expect
from ..resources.buffer import MTLBuffer
from ..structs import MTLSizeAndAlign, as_integer
from .descriptor import InvalidTensor, MTLTensorDescriptor
from .tensor import MTLTensor

if TYPE_CHECKING:
    from ..device import MTLDevice

MTLTensorErrorInvalidDescriptor = 2
_MOST_ELEMENTS = (1 << 31) - 1  # extents and strides of kernels are integers of 32 bits


class TensorMaker(MetalObject):
    """The part of MTLDevice that makes tensors."""

    def newTensorWithDescriptor_error_(
        self, descriptor: MTLTensorDescriptor, _error: None
    ) -> tuple[MTLTensor | None, NSError | None]:
        """A tensor of zeros, with memory of its own; its strides are those of packed elements."""
        where = call_of(self)
        expect(where, "the descriptor", descriptor, MTLTensorDescriptor)
        device = cast("MTLDevice", self)
        try:
            shape = descriptor.shape(in_buffer=False)
            _check_size(max(shape.sizes, default=1))
            if descriptor.storageMode() == MTLStorageModeMemoryless:
                raise InvalidTensor("MTLStorageModeMemoryless is for textures alone")
        except InvalidTensor as error:
            return None, _refused(where, error)
        room = device.newBufferWithLength_options_(shape.nbytes, descriptor.resourceOptions())
        return MTLTensor(room, 0, shape, descriptor.usage(), is_in_buffer=False), None

    def tensorSizeAndAlignWithDescriptor_(self, descriptor: MTLTensorDescriptor) -> MTLSizeAndAlign:
        """Room that a tensor takes in a buffer, from its first element to its last.

        Deviation: without strides that of packed elements; Metal wants strides.
        """
        where = call_of(self)
        expect(where, "the descriptor", descriptor, MTLTensorDescriptor)
        try:
            shape = descriptor.shape(in_buffer=descriptor.strides() is not None)
        except InvalidTensor:
            return MTLSizeAndAlign(0, 0)
        return MTLSizeAndAlign(shape.nbytes, shape.element.itemsize)


def tensor_in_buffer(
    where: str, buffer: MTLBuffer, descriptor: MTLTensorDescriptor, offset: int
) -> tuple[MTLTensor | None, NSError | None]:
    """A tensor whose elements are those of `buffer` from byte `offset` on."""
    expect(where, "the descriptor", descriptor, MTLTensorDescriptor)
    offset = as_integer(where, "the offset", offset)
    try:
        shape = descriptor.shape(in_buffer=True)
        _check_size(max((*shape.sizes, *shape.strides), default=1))
        size = shape.element.itemsize
        if offset < 0 or offset % size:
            raise InvalidTensor(f"offset is {offset}; it must be a multiple of {size}")
        if offset and descriptor.usage() & MTLTensorUsageMachineLearning:
            raise InvalidTensor(f"offset is {offset}; for machine learning it must be 0")
        if offset + shape.nbytes > buffer.length():
            raise InvalidTensor(
                f"it takes bytes {offset}..{offset + shape.nbytes} of {buffer!r}; its dimensions "
                "or strides are too large"
            )
        if descriptor.storageMode() != buffer.storageMode():
            raise InvalidTensor(
                f"storage mode {descriptor.storageMode()} in a buffer of storage mode "
                f"{buffer.storageMode()}; they must be the same, call setStorageMode_"
            )
    except InvalidTensor as error:
        return None, _refused(where, error)
    return MTLTensor(buffer, offset, shape, descriptor.usage(), is_in_buffer=True), None


def _check_size(largest: int) -> None:
    if largest > _MOST_ELEMENTS:
        raise InvalidTensor(f"{largest} is more than the {_MOST_ELEMENTS} that kernels can count")


def _refused(where: str, error: InvalidTensor) -> NSError:
    return NSError(MTLTensorDomain, MTLTensorErrorInvalidDescriptor, f"{where}: {error}", error)
