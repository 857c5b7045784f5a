"""What kernels take, as pipeline states tell it."""

from typing import TYPE_CHECKING

from ..constants import (
    MTLBindingAccessReadOnly,
    MTLBindingAccessReadWrite,
    MTLBindingAccessWriteOnly,
    MTLBindingTypeBuffer,
    MTLBindingTypeSampler,
    MTLBindingTypeTensor,
    MTLBindingTypeTexture,
    MTLBindingTypeThreadgroupMemory,
    MTLBindingTypeVisibleFunctionTable,
    MTLDataTypeInt,
)
from ..objects import MetalObject
from ..tensors.extents import MTLTensorExtents

if TYPE_CHECKING:
    from assay.compiler.msl import Argument

    from .pipeline import MTLComputePipelineState

_ACCESS = {
    "read": MTLBindingAccessReadOnly,
    "write": MTLBindingAccessWriteOnly,
    "read_write": MTLBindingAccessReadWrite,
}
BINDING_TYPES = {
    "buffer": MTLBindingTypeBuffer,
    "threadgroup": MTLBindingTypeThreadgroupMemory,
    "texture": MTLBindingTypeTexture,
    "sampler": MTLBindingTypeSampler,
    "function_table": MTLBindingTypeVisibleFunctionTable,
    "tensor": MTLBindingTypeTensor,
}


class MTLBinding(MetalObject):
    """One argument of a kernel; answers to the older MTLArgument too."""

    def __init__(self, argument: "Argument", *, is_used: bool):
        self.argument = argument
        self._is_used = is_used

    def name(self) -> str:
        """The parameter's name in the source."""
        return self.argument.name

    def type(self) -> int:
        """The MTLBindingType."""
        return BINDING_TYPES[self.argument.kind]

    def index(self) -> int:
        """The number within [[buffer(n)]], [[threadgroup(n)]], [[texture(n)]], [[sampler(n)]]."""
        return self.argument.index

    def access(self) -> int:
        """The MTLBindingAccess."""
        return _ACCESS[self.argument.access]

    def isUsed(self) -> bool:
        """Whether the kernel's code uses the argument; one that it does not need not be set."""
        return self._is_used

    def isActive(self) -> bool:
        """Whether the kernel's code uses the argument; one that it does not need not be set."""
        return self._is_used

    def isArgument(self) -> bool:
        """Always True."""
        return True

    def bufferAlignment(self) -> int:
        """Bytes that the offset must be a multiple of."""
        return self.argument.alignment

    def bufferDataSize(self) -> int:
        """Bytes of what a buffer argument points to; 0 when not known."""
        return self.argument.size

    def textureType(self) -> int:
        """The MTLTextureType of a texture."""
        return self.argument.texture_type

    def textureDataType(self) -> int:
        """The MTLDataType that a texture is read as."""
        return self.argument.data_type

    def tensorDataType(self) -> int:
        """The MTLTensorDataType of a tensor's elements."""
        return self.argument.data_type

    def indexType(self) -> int:
        """Always MTLDataTypeInt, which kernels count a tensor's elements in."""
        return MTLDataTypeInt

    def dimensions(self) -> MTLTensorExtents:
        """As many as a tensor has; each is -1, as kernels learn them when they run."""
        return MTLTensorExtents((-1,) * self.argument.rank)

    def isDepthTexture(self) -> bool:
        """Whether a texture is of depths."""
        return self.argument.is_depth

    def arrayLength(self) -> int:
        """How many an array of textures or samplers has; 1 for one alone."""
        return self.argument.count

    def threadgroupMemoryAlignment(self) -> int:
        """Bytes that a threadgroup argument is aligned to."""
        return self.argument.alignment

    def threadgroupMemoryDataSize(self) -> int:
        """Bytes of what a threadgroup argument points to; 0 when not known."""
        return self.argument.size


class MTLComputePipelineReflection(MetalObject):
    """What a kernel takes."""

    def __init__(self, state: "MTLComputePipelineState"):
        self._bindings = tuple(
            MTLBinding(argument, is_used=slot.is_used)
            for argument, slot in zip(state.kernel.arguments, state.slots, strict=True)
        )

    def bindings(self) -> tuple[MTLBinding, ...]:
        """The arguments, in the order of the source."""
        return self._bindings

    def arguments(self) -> tuple[MTLBinding, ...]:
        """The arguments, by the older name."""
        return self._bindings
