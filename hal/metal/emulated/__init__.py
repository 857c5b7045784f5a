"""Apple's Metal API for compute, emulated, with the spelling and conventions of PyObjC.

Colons of selectors are underscores, NSError** arguments come back in a (result, error) tuple,
blocks are callables, structs are tuples, objects are made by devices and never by programs. What
begins with MTL or NS is Metal's; `configure`, `DeviceOptions`, `checking` and `timing` are ours.
Within the package, objects know each other's attributes with a leading underscore; programs see
none of them.
"""

from ...observe import checking, timing
from . import constants
from .commands.blit import MTLBlitCommandEncoder
from .commands.commandbuffer import MTLCommandBuffer
from .commands.compute import MTLComputeCommandEncoder
from .commands.event import MTLEvent, MTLFence, MTLSharedEvent, MTLSharedEventListener
from .commands.indirect import (
    MTLIndirectCommandBuffer,
    MTLIndirectCommandBufferDescriptor,
    MTLIndirectComputeCommand,
)
from .commands.log_state import MTLLogState, MTLLogStateDescriptor
from .commands.queue import MTLCommandQueue
from .constants import *  # noqa: F403  the enumerations are a table of their own
from .descriptors import (
    MTLBlitPassDescriptor,
    MTLCommandBufferDescriptor,
    MTLCommandQueueDescriptor,
    MTLComputePassDescriptor,
    MTLComputePipelineDescriptor,
    MTLHeapDescriptor,
)
from .device import DeviceOptions, MTLDevice
from .errors import (
    MetalError,
    MetalOutOfMemoryError,
    MetalTypeError,
    MetalValidationError,
    MTLBinaryArchiveDomain,
    MTLCommandBufferErrorDomain,
    MTLLibraryErrorDomain,
    MTLTensorDomain,
    NSError,
    NSLocalizedDescriptionKey,
)
from .metal4.argument_table import MTL4ArgumentTable, MTL4ArgumentTableDescriptor
from .metal4.command_buffer import (
    MTL4CommandAllocator,
    MTL4CommandAllocatorDescriptor,
    MTL4CommandBuffer,
    MTL4CommandBufferOptions,
)
from .metal4.encoder import MTL4ComputeCommandEncoder
from .metal4.queue import (
    MTL4CommandQueue,
    MTL4CommandQueueDescriptor,
    MTL4CommitFeedback,
    MTL4CommitOptions,
)
from .programs.archive import MTLBinaryArchive, MTLBinaryArchiveDescriptor
from .programs.argument import MTLArgumentDescriptor, MTLArgumentEncoder
from .programs.compile_options import MTLCompileOptions
from .programs.function_constants import MTLFunctionConstant, MTLFunctionConstantValues
from .programs.function_table import (
    MTLFunctionHandle,
    MTLVisibleFunctionTable,
    MTLVisibleFunctionTableDescriptor,
)
from .programs.library import MTLFunction, MTLFunctionDescriptor, MTLLibrary
from .programs.linked_functions import MTLLinkedFunctions
from .programs.pipeline import MTLComputePipelineState
from .programs.reflection import MTLBinding, MTLComputePipelineReflection
from .resources.buffer import MTLBuffer
from .resources.heap import MTLHeap
from .resources.residency import MTLResidencySet, MTLResidencySetDescriptor
from .structs import (
    MTLOrigin,
    MTLOriginMake,
    MTLRegion,
    MTLRegionMake1D,
    MTLRegionMake2D,
    MTLRegionMake3D,
    MTLResourceID,
    MTLSize,
    MTLSizeAndAlign,
    MTLSizeMake,
    MTLTextureSwizzleChannels,
    MTLTextureSwizzleChannelsMake,
    NSMakeRange,
    NSRange,
)
from .system import MTLCopyAllDevices, MTLCreateSystemDefaultDevice, configure
from .tensors.descriptor import MTLTensorDescriptor
from .tensors.extents import MTL_TENSOR_MAX_RANK, MTLTensorExtents
from .tensors.tensor import MTLTensor
from .textures.descriptor import MTLTextureDescriptor
from .textures.sampler import MTLSamplerDescriptor, MTLSamplerState
from .textures.texture import MTLTexture

__all__ = [
    "MTL_TENSOR_MAX_RANK",
    "DeviceOptions",
    "MTL4ArgumentTable",
    "MTL4ArgumentTableDescriptor",
    "MTL4CommandAllocator",
    "MTL4CommandAllocatorDescriptor",
    "MTL4CommandBuffer",
    "MTL4CommandBufferOptions",
    "MTL4CommandQueue",
    "MTL4CommandQueueDescriptor",
    "MTL4CommitFeedback",
    "MTL4CommitOptions",
    "MTL4ComputeCommandEncoder",
    "MTLArgumentDescriptor",
    "MTLArgumentEncoder",
    "MTLBinaryArchive",
    "MTLBinaryArchiveDescriptor",
    "MTLBinaryArchiveDomain",
    "MTLBinding",
    "MTLBlitCommandEncoder",
    "MTLBlitPassDescriptor",
    "MTLBuffer",
    "MTLCommandBuffer",
    "MTLCommandBufferDescriptor",
    "MTLCommandBufferErrorDomain",
    "MTLCommandQueue",
    "MTLCommandQueueDescriptor",
    "MTLCompileOptions",
    "MTLComputeCommandEncoder",
    "MTLComputePassDescriptor",
    "MTLComputePipelineDescriptor",
    "MTLComputePipelineReflection",
    "MTLComputePipelineState",
    "MTLCopyAllDevices",
    "MTLCreateSystemDefaultDevice",
    "MTLDevice",
    "MTLEvent",
    "MTLFence",
    "MTLFunction",
    "MTLFunctionConstant",
    "MTLFunctionConstantValues",
    "MTLFunctionDescriptor",
    "MTLFunctionHandle",
    "MTLHeap",
    "MTLHeapDescriptor",
    "MTLIndirectCommandBuffer",
    "MTLIndirectCommandBufferDescriptor",
    "MTLIndirectComputeCommand",
    "MTLLibrary",
    "MTLLibraryErrorDomain",
    "MTLLinkedFunctions",
    "MTLLogState",
    "MTLLogStateDescriptor",
    "MTLOrigin",
    "MTLOriginMake",
    "MTLRegion",
    "MTLRegionMake1D",
    "MTLRegionMake2D",
    "MTLRegionMake3D",
    "MTLResidencySet",
    "MTLResidencySetDescriptor",
    "MTLResourceID",
    "MTLSamplerDescriptor",
    "MTLSamplerState",
    "MTLSharedEvent",
    "MTLSharedEventListener",
    "MTLSize",
    "MTLSizeAndAlign",
    "MTLSizeMake",
    "MTLTensor",
    "MTLTensorDescriptor",
    "MTLTensorDomain",
    "MTLTensorExtents",
    "MTLTexture",
    "MTLTextureDescriptor",
    "MTLTextureSwizzleChannels",
    "MTLTextureSwizzleChannelsMake",
    "MTLVisibleFunctionTable",
    "MTLVisibleFunctionTableDescriptor",
    "MetalError",
    "MetalOutOfMemoryError",
    "MetalTypeError",
    "MetalValidationError",
    "NSError",
    "NSLocalizedDescriptionKey",
    "NSMakeRange",
    "NSRange",
    "checking",
    "configure",
    "timing",
]
__all__ += [name for name in vars(constants) if name.startswith("MTL")]
