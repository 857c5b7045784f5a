"""Tensors of the host, given to kernels with an argument table of Metal 4."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.hal.metal import emulated as metal
from assay.hal.metal.emulated import (
    MTL4ArgumentTableDescriptor,
    MTL4CommandBuffer,
    MTL4CommitFeedback,
    MTL4CommitOptions,
    MTLBuffer,
    MTLComputePipelineState,
    MTLDevice,
    MTLSharedEvent,
    MTLTensor,
    MTLTensorDescriptor,
    MTLTensorExtents,
)

Array = NDArray[Any]
HEAD = """#include <metal_stdlib>
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace metal;
using namespace mpp::tensor_ops;
"""
KINDS = {
    "float32": metal.MTLTensorDataTypeFloat32,
    "float16": metal.MTLTensorDataTypeFloat16,
    "int32": metal.MTLTensorDataTypeInt32,
    "uint8": metal.MTLTensorDataTypeUInt8,
}


def extents(*values: int) -> MTLTensorExtents:
    made = MTLTensorExtents.alloc().initWithRank_values_(len(values), values)
    assert made is not None
    return made


def packed(shape: tuple[int, ...]) -> MTLTensorExtents:
    strides = [1]
    for size in shape[:0:-1]:
        strides.append(strides[-1] * size)
    return extents(*strides)


def descriptor_of(array: Array) -> MTLTensorDescriptor:
    descriptor = MTLTensorDescriptor.new()
    descriptor.setDimensions_(extents(*array.shape[::-1]))
    descriptor.setDataType_(KINDS[array.dtype.name])
    return descriptor


def tensor_of(device: MTLDevice, array: Array) -> MTLTensor:
    tensor, error = device.newTensorWithDescriptor_error_(descriptor_of(array), None)
    assert tensor is not None, error
    origin = extents(*(0,) * array.ndim)
    tensor.replaceSliceOrigin_sliceDimensions_withBytes_strides_(
        origin, extents(*array.shape[::-1]), array, packed(array.shape)
    )
    return tensor


def array_of(tensor: MTLTensor, like: Array) -> Array:
    found = np.zeros_like(like)
    tensor.getBytes_strides_fromSliceOrigin_sliceDimensions_(
        found, packed(like.shape), extents(*(0,) * like.ndim), extents(*like.shape[::-1])
    )
    return found


def pipeline(device: MTLDevice, source: str, name: str) -> MTLComputePipelineState:
    library, error = device.newLibraryWithSource_options_error_(HEAD + source, None, None)
    assert library is not None, error
    function = library.newFunctionWithName_(name)
    assert function is not None
    made, error = device.newComputePipelineStateWithFunction_error_(function, None)
    assert made is not None, error
    return made


Bound = Mapping[int, MTLTensor | MTLBuffer]


def encoded(
    device: MTLDevice,
    kernel: MTLComputePipelineState,
    bound: Bound,
    groups: tuple[int, int, int],
    size: tuple[int, int, int],
) -> MTL4CommandBuffer:
    descriptor = MTL4ArgumentTableDescriptor.new()
    descriptor.setMaxBufferBindCount_(8)
    table, _ = device.newArgumentTableWithDescriptor_error_(descriptor, None)
    for index, thing in bound.items():
        if isinstance(thing, MTLTensor):
            table.setResource_atBufferIndex_(thing.gpuResourceID(), index)
        else:
            table.setAddress_atIndex_(thing.gpuAddress(), index)
    commands = device.newCommandBuffer()
    commands.beginCommandBufferWithAllocator_(device.newCommandAllocator())
    encoder = commands.computeCommandEncoder()
    encoder.setComputePipelineState_(kernel)
    encoder.setArgumentTable_(table)
    encoder.dispatchThreadgroups_threadsPerThreadgroup_(groups, size)
    encoder.endEncoding()
    commands.endCommandBuffer()
    return commands


def run(device: MTLDevice, commands: MTL4CommandBuffer) -> str:
    """Run the commands to their end; what stopped them."""
    told, is_told = [""], threading.Event()

    def tell(feedback: MTL4CommitFeedback) -> None:
        told[0] = str(feedback.error() or "")
        is_told.set()

    options = MTL4CommitOptions.new()
    options.addFeedbackHandler_(tell)
    queue = device.newMTL4CommandQueue()
    done: MTLSharedEvent = device.newSharedEvent()
    queue.commit_count_options_([commands], 1, options)
    queue.signalEvent_value_(done, 1)
    assert done.waitUntilSignaledValue_timeoutMS_(1, 60_000)
    assert is_told.wait(60)
    return told[0]
