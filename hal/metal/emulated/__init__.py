"""Apple's Metal API for compute, emulated, with the spelling and conventions of PyObjC.

Colons of selectors are underscores, NSError** arguments come back in a (result, error) tuple,
blocks are callables, structs are tuples, objects are made by devices and never by programs. What
begins with MTL or NS is Metal's; `configure`, `DeviceOptions`, `checking` and `timing` are ours.
Within the package, objects know each other's attributes with a leading underscore; programs see
none of them.
"""

from . import constants
from .archive import MTLBinaryArchive, MTLBinaryArchiveDescriptor
from .argument import MTLArgumentDescriptor, MTLArgumentEncoder
from .blit import MTLBlitCommandEncoder
from .buffer import MTLBuffer
from .checking import checking
from .commandbuffer import MTLCommandBuffer
from .compile_options import MTLCompileOptions
from .compute import MTLComputeCommandEncoder
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
    NSError,
    NSLocalizedDescriptionKey,
)
from .event import MTLEvent, MTLFence, MTLSharedEvent, MTLSharedEventListener
from .function_constants import MTLFunctionConstant, MTLFunctionConstantValues
from .function_table import (
    MTLFunctionHandle,
    MTLVisibleFunctionTable,
    MTLVisibleFunctionTableDescriptor,
)
from .heap import MTLHeap
from .indirect import (
    MTLIndirectCommandBuffer,
    MTLIndirectCommandBufferDescriptor,
    MTLIndirectComputeCommand,
)
from .library import MTLFunction, MTLFunctionDescriptor, MTLLibrary
from .linked_functions import MTLLinkedFunctions
from .log_state import MTLLogState, MTLLogStateDescriptor
from .pipeline import MTLComputePipelineState
from .queue import MTLCommandQueue
from .reflection import MTLBinding, MTLComputePipelineReflection
from .residency import MTLResidencySet, MTLResidencySetDescriptor
from .sampler import MTLSamplerDescriptor, MTLSamplerState
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
from .texture import MTLTexture
from .texture_descriptor import MTLTextureDescriptor
from .timing import timing

__all__ = [
    "DeviceOptions",
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
