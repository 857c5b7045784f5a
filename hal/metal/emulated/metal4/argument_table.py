"""MTL4ArgumentTable: what kernels are given, by index."""

from operator import index as as_word
from typing import TYPE_CHECKING, TypeVar

from assay.hw.apple.facts.limits import limits

from ..errors import MetalValidationError
from ..objects import MetalObject, UserMade, call_of, expect
from ..resources.buffer import MTLBuffer
from ..structs import MTLResourceID, as_integer
from ..tensors.tensor import MTLTensor
from ..textures.texture import MTLTexture

if TYPE_CHECKING:
    from ..device import MTLDevice

_LIMITS = limits()
Kind = TypeVar("Kind", bound=MetalObject)


class MTL4ArgumentTableDescriptor(UserMade):
    """How many places an argument table is to have."""

    _buffers = 0
    _textures = 0
    _samplers = 0
    _initialised = False
    _strides = False

    def maxBufferBindCount(self) -> int:
        """Places for buffers and tensors."""
        return self._buffers

    def setMaxBufferBindCount_(self, count: int) -> None:
        """Set the number of places for buffers and tensors, at most 31."""
        self._buffers = _count(call_of(self), count, _LIMITS.buffers_per_stage)

    def maxTextureBindCount(self) -> int:
        """Places for textures."""
        return self._textures

    def setMaxTextureBindCount_(self, count: int) -> None:
        """Set the number of places for textures, at most 128."""
        self._textures = _count(call_of(self), count, _LIMITS.textures_per_stage)

    def maxSamplerStateBindCount(self) -> int:
        """Places for samplers."""
        return self._samplers

    def setMaxSamplerStateBindCount_(self, count: int) -> None:
        """Set the number of places for samplers, at most 16."""
        self._samplers = _count(call_of(self), count, _LIMITS.samplers_per_stage)

    def initializeBindings(self) -> bool:
        """Whether places are null until they are set."""
        return self._initialised

    def setInitializeBindings_(self, initialised: bool) -> None:
        """Say whether places are null until they are set."""
        self._initialised = bool(initialised)

    def supportAttributeStrides(self) -> bool:
        """Whether strides of [[stage_in]] may be set."""
        return self._strides

    def setSupportAttributeStrides_(self, supported: bool) -> None:
        """Accepted: strides are for [[stage_in]] alone."""
        self._strides = bool(supported)


class MTL4ArgumentTable(MetalObject):
    """Buffers, tensors and textures for the dispatches that are encoded with it.

    Deviation: a place that is not set is empty, with initializeBindings or not; kernels that need
    it are refused.
    """

    def __init__(self, device: "MTLDevice", descriptor: MTL4ArgumentTableDescriptor) -> None:
        self._device = device
        self._label = descriptor.label()
        self._buffer_count = descriptor.maxBufferBindCount()
        self._texture_count = descriptor.maxTextureBindCount()
        self.buffers: dict[int, int | MTLTensor] = {}
        """Addresses and tensors by index."""
        self.textures: dict[int, MTLTexture] = {}

    def device(self) -> "MTLDevice":
        """The device that the table belongs to."""
        return self._device

    def setAddress_atIndex_(self, address: int, index: int) -> None:
        """Pass the memory from a GPU address on; 0 passes a null address."""
        where = call_of(self)
        index = self._checked(where, index, self._buffer_count, "maxBufferBindCount")
        address = as_integer(where, "the address", address)
        if address and not isinstance(self._device.memory.owner_of(address), MTLBuffer):
            raise MetalValidationError(
                f"{where}: {address:#x} is the address of no buffer of {self._device!r}; give what "
                "gpuAddress() of a buffer that is still there says, plus an offset within it"
            )
        self.buffers[index] = address

    def setAddress_attributeStride_atIndex_(self, address: int, stride: int, index: int) -> None:
        """The same as setAddress_atIndex_: strides are for [[stage_in]] alone."""
        as_integer(call_of(self), "the stride", stride)
        self.setAddress_atIndex_(address, index)

    def setResource_atBufferIndex_(self, resource: MTLResourceID, index: int) -> None:
        """Pass the tensor whose gpuResourceID() it is."""
        where = call_of(self)
        index = self._checked(where, index, self._buffer_count, "maxBufferBindCount")
        self.buffers[index] = self._found(where, resource, MTLTensor)

    def setTexture_atIndex_(self, resource: MTLResourceID, index: int) -> None:
        """Pass the texture whose gpuResourceID() it is."""
        where = call_of(self)
        index = self._checked(where, index, self._texture_count, "maxTextureBindCount")
        self.textures[index] = self._found(where, resource, MTLTexture)

    def _found(self, where: str, resource: MTLResourceID, kind: type[Kind]) -> Kind:
        expect(where, "the resource", resource, MTLResourceID)
        found = self._device.memory.owner_of(as_word(resource))
        if not isinstance(found, kind):
            raise MetalValidationError(
                f"{where}: {resource!r} is no {kind.__name__} of {self._device!r} that is still "
                "there; give its gpuResourceID() and keep the object"
            )
        return found

    def _checked(self, where: str, index: int, count: int, limit: str) -> int:
        index = as_integer(where, "the index", index)
        if not 0 <= index < count:
            raise MetalValidationError(
                f"{where}: index is {index}, and the table has {count} such places; give its "
                f"descriptor more with {limit}"
            )
        return index


def _count(where: str, count: int, most: int) -> int:
    count = as_integer(where, "the count", count)
    if not 0 <= count <= most:
        raise MetalValidationError(f"{where}: the count is {count}; it must lie in 0..{most}")
    return count
