"""Tensors that the host makes and binds with argument tables of Metal 4."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from assay.hal.metal import emulated as metal
from assay.hal.metal.emulated import (
    MTL4ArgumentTableDescriptor,
    MTLBuffer,
    MTLDevice,
    MTLTensor,
    MTLTensorDescriptor,
)
from assay.sim.check import Checker
from tests.support.tensors import (
    Bound,
    array_of,
    descriptor_of,
    encoded,
    extents,
    pipeline,
    run,
    tensor_of,
)

Array = NDArray[Any]
PRODUCT = """
kernel void product(tensor<device half, dextents<int32_t, 2>> A [[buffer(0)]],
                    tensor<const device half, dextents<int, 2>, tensor_handle> B [[buffer(1)]],
                    tensor<device float, dextents<int, 2>> C [[buffer(2)]],
                    constant float& scale [[buffer(3)]],
                    uint2 at [[threadgroup_position_in_grid]]) {
  constexpr auto how = matmul2d_descriptor(32, 16, dynamic_extent);
  matmul2d<how, execution_simdgroups<2>> op;
  auto a = A.slice(0, at.y * 32);
  auto b = B.slice(at.x * 16, 0);
  auto sums = op.get_destination_cooperative_tensor<decltype(a), decltype(b), float>();
  op.run(a, b, sums);
  for (auto it = sums.begin(); it != sums.end(); it++) *it *= scale;
  sums.store(C.slice(at.x * 16, at.y * 32));
}
"""


def scale_of(device: MTLDevice, value: float) -> MTLBuffer:
    return device.newBufferWithBytes_length_options_(np.float32([value]), 4, 0)


def test_a_product_of_tensors_that_the_host_binds_is_that_of_numpy() -> None:
    device = MTLDevice()
    random = np.random.default_rng(1)
    a = random.integers(-4, 5, (41, 27)).astype("float16")
    b = random.integers(-4, 5, (27, 21)).astype("float16")
    c = np.zeros((41, 21), np.float32)
    tensors = {at: tensor_of(device, each) for at, each in enumerate((a, b, c))}
    kernel = pipeline(device, PRODUCT, "product")
    bound: Bound = {**tensors, 3: scale_of(device, 0.5)}
    assert not run(device, encoded(device, kernel, bound, (2, 2, 1), (64, 1, 1)))
    expected = a.astype(np.float32) @ b.astype(np.float32) / 2
    np.testing.assert_array_equal(array_of(tensors[2], c), expected)


ELEMENTS = """
kernel void elements(tensor<device int, dextents<int, 3>> x [[buffer(0)]],
                     tensor<device int, dextents<int, 3>> y [[buffer(1)]],
                     uint3 i [[thread_position_in_grid]]) {
  y[i.x, i.y, i.z] = 2 * x[i.x, i.y, i.z] + x.get_extent(0) + 100 * x.get_stride(2);
}
"""


def test_a_tensor_in_a_buffer_has_the_strides_and_offset_that_it_was_made_with() -> None:
    device = MTLDevice()
    room = np.arange(4 + 3 * 40, dtype=np.int32)
    buffer = device.newBufferWithBytes_length_options_(room, room.nbytes, 0)
    y = np.zeros((3, 4, 5), np.int32)
    descriptor = descriptor_of(y)
    descriptor.setStrides_(extents(1, 8, 40))
    x, error = buffer.newTensorWithDescriptor_offset_error_(descriptor, 16, None)
    assert x is not None, error
    assert (x.buffer(), x.bufferOffset()) == (buffer, 16)
    strides = x.strides()
    assert strides is not None and strides.extentAtDimensionIndex_(1) == 8
    assert x.dimensions().extentAtDimensionIndex_(3) == -1
    out = tensor_of(device, y)
    kernel = pipeline(device, ELEMENTS, "elements")
    assert not run(device, encoded(device, kernel, {0: x, 1: out}, (5, 4, 3), (1, 1, 1)))
    whole = room[4:].reshape(3, 5, 8)[:, :4, :5]
    np.testing.assert_array_equal(array_of(out, y), 2 * whole + 5 + 4000)


def test_a_kernel_finds_a_tensor_through_an_argument_buffer() -> None:
    device = MTLDevice()
    x = np.arange(6, dtype=np.float32)
    tensor = tensor_of(device, x)
    source = """
struct Arguments { tensor<device float, dextents<int, 1>> x; uint n; };
kernel void k(constant Arguments& a, device float* y, uint i [[thread_position_in_grid]]) {
  if (i < a.n) y[i] = a.x[i] + sizeof(Arguments);
}
"""
    words = np.array([int(tensor.gpuResourceID().__index__()), 6], np.uint64)
    given = device.newBufferWithBytes_length_options_(words, 16, 0)
    y = device.newBufferWithLength_options_(24, 0)
    queue = device.newCommandQueue()
    commands = queue.commandBuffer()
    encoder = commands.computeCommandEncoder()
    encoder.setComputePipelineState_(pipeline(device, source, "k"))
    encoder.setBuffer_offset_atIndex_(given, 0, 0)
    encoder.setBuffer_offset_atIndex_(y, 0, 1)
    encoder.useResource_usage_(tensor, metal.MTLResourceUsageRead)
    encoder.dispatchThreads_threadsPerThreadgroup_((8, 1, 1), (8, 1, 1))
    encoder.endEncoding()
    commands.commit()
    commands.waitUntilCompleted()
    assert commands.error() is None, commands.error()
    found = np.frombuffer(y.contents().as_buffer(24), np.float32)
    np.testing.assert_array_equal(found, x + 16)


def test_a_slice_is_copied_from_and_to_the_host_and_between_tensors() -> None:
    device = MTLDevice()
    a = np.arange(20, dtype=np.int32).reshape(4, 5)
    tensor, other = tensor_of(device, a), tensor_of(device, np.zeros((3, 2), np.int32))
    part = np.zeros((2, 4), np.int32)
    tensor.getBytes_strides_fromSliceOrigin_sliceDimensions_(
        part, extents(1, 4), extents(1, 2), extents(3, 2)
    )
    np.testing.assert_array_equal(part[:, :3], a[2:4, 1:4])
    commands = device.newCommandBuffer()
    commands.beginCommandBufferWithAllocator_(device.newCommandAllocator())
    encoder = commands.computeCommandEncoder()
    copy = encoder.copyFromTensor_sourceOrigin_sourceDimensions_toTensor_destinationOrigin_destinationDimensions_  # noqa: E501
    copy(tensor, extents(3, 0), extents(2, 3), other, extents(0, 0), extents(2, 3))
    assert encoder.stages() == metal.MTLStageBlit
    encoder.endEncoding()
    commands.endCommandBuffer()
    assert not run(device, commands)
    np.testing.assert_array_equal(array_of(other, np.zeros((3, 2), np.int32)), a[:3, 3:])


def test_a_command_buffer_is_used_again_with_what_the_table_held_when_it_was_encoded() -> None:
    device = MTLDevice()
    first, second = (tensor_of(device, np.full(4, n, np.float32)) for n in (1, 2))
    source = """
kernel void k(tensor<device float, dextents<int, 1>> x, uint i [[thread_position_in_grid]]) {
  x[i] *= 3;
}
"""
    kernel = pipeline(device, source, "k")
    descriptor = MTL4ArgumentTableDescriptor.new()
    descriptor.setMaxBufferBindCount_(1)
    table, _ = device.newArgumentTableWithDescriptor_error_(descriptor, None)
    table.setResource_atBufferIndex_(first.gpuResourceID(), 0)
    allocator, commands = device.newCommandAllocator(), device.newCommandBuffer()
    for times in range(2):
        commands.beginCommandBufferWithAllocator_(allocator)
        encoder = commands.computeCommandEncoder()
        encoder.setComputePipelineState_(kernel)
        encoder.setArgumentTable_(table)
        encoder.dispatchThreads_threadsPerThreadgroup_((4, 1, 1), (4, 1, 1))
        encoder.endEncoding()
        table.setResource_atBufferIndex_(second.gpuResourceID(), 0)
        commands.endCommandBuffer()
        assert not run(device, commands), times
        allocator.reset()
    like = np.zeros(4, np.float32)
    assert array_of(first, like).tolist() == [3] * 4
    assert array_of(second, like).tolist() == [6] * 4


@pytest.mark.parametrize(
    ("dimensions", "strides", "offset", "why"),
    [
        ((5, 4), None, 0, "needs strides"),
        ((5, 4), (1,), 0, "1 strides for 2 dimensions"),
        ((5, 4), (2, 10), 0, "the first must be 1"),
        ((5, 4), (1, 4), 0, "stride 1 must be at least 5"),
        ((5, 4), (1, 5), 2, "must be a multiple of 4"),
        ((5, 4), (1, 5), 24, "takes bytes 24..104"),
        ((5, 0), (1, 5), 0, "each must be at least 1"),
    ],
)
def test_a_tensor_that_cannot_be_is_refused(
    dimensions: tuple[int, ...], strides: tuple[int, ...] | None, offset: int, why: str
) -> None:
    device = MTLDevice()
    buffer = device.newBufferWithLength_options_(100, 0)
    descriptor = MTLTensorDescriptor.new()
    descriptor.setDimensions_(extents(*dimensions))
    descriptor.setStrides_(None if strides is None else extents(*strides))
    tensor, error = buffer.newTensorWithDescriptor_offset_error_(descriptor, offset, None)
    assert tensor is None
    assert error is not None and error.domain() == metal.MTLTensorDomain and error.code() == 2
    assert why in error.localizedDescription()


@pytest.mark.parametrize(
    ("array", "why"),
    [
        (np.zeros((4, 4), np.float16), "of 3 dimensions, but"),
        (np.zeros((4, 4, 4), np.float32), "MTLTensorDataType 3, not 29"),
        (None, "no tensor is set"),
    ],
)
def test_a_tensor_that_does_not_fit_the_kernel_is_refused(array: Array | None, why: str) -> None:
    device = MTLDevice()
    y = tensor_of(device, np.zeros((4, 4, 4), np.int32))
    bound: dict[int, MTLTensor | MTLBuffer] = {1: y}
    if array is not None:
        bound[0] = tensor_of(device, array)
    commands = encoded(device, pipeline(device, ELEMENTS, "elements"), bound, (1, 1, 1), (1, 1, 1))
    with pytest.raises(metal.MetalValidationError, match=why):
        device.newMTL4CommandQueue().commit_count_([commands], 1)


def test_a_slice_beyond_a_tensor_is_refused() -> None:
    tensor = tensor_of(MTLDevice(), np.zeros((4, 5), np.int32))
    with pytest.raises(metal.MetalValidationError, match=r"elements 3\.\.6 of dimension 0"):
        tensor.getBytes_strides_fromSliceOrigin_sliceDimensions_(
            np.zeros((1, 3), np.int32), extents(1, 3), extents(3, 0), extents(3, 1)
        )


def test_reflection_tells_the_rank_and_the_elements() -> None:
    device = MTLDevice()
    kernel = pipeline(device, PRODUCT, "product")
    x, y, _, scale = metal.MTLComputePipelineReflection(kernel).bindings()
    assert x.type() == metal.MTLBindingTypeTensor
    assert x.tensorDataType() == metal.MTLTensorDataTypeFloat16
    assert x.dimensions().rank() == 2 and x.dimensions().extentAtDimensionIndex_(1) == -1
    assert y.access() == metal.MTLBindingAccessReadOnly
    assert scale.type() == metal.MTLBindingTypeBuffer


def test_an_index_outside_of_a_tensor_is_found(caplog: pytest.LogCaptureFixture) -> None:
    checker = Checker({"bounds"})
    with metal.checking(checker):
        device = MTLDevice()
        x, y = (tensor_of(device, np.zeros((4, 4, 4), np.int32)) for _ in range(2))
        kernel = pipeline(device, ELEMENTS, "elements")
        with caplog.at_level(logging.CRITICAL):
            run(device, encoded(device, kernel, {0: x, 1: y}, (5, 4, 1), (1, 1, 1)))
    kinds = {finding.kind for finding in checker.findings}
    assert kinds == {"outside-tensor"}


def test_dispatches_without_a_barrier_race_over_a_tensor() -> None:
    checker = Checker({"race"})
    with metal.checking(checker):
        device = MTLDevice()
        x = tensor_of(device, np.zeros(32, np.float32))
        source = """
kernel void k(tensor<device float, dextents<int, 1>> x, uint i [[thread_position_in_grid]]) {
  x[i] += float(i);
}
"""
        kernel = pipeline(device, source, "k")
        for has_barrier in (True, False):
            descriptor = MTL4ArgumentTableDescriptor.new()
            descriptor.setMaxBufferBindCount_(1)
            table, _ = device.newArgumentTableWithDescriptor_error_(descriptor, None)
            table.setResource_atBufferIndex_(x.gpuResourceID(), 0)
            commands = device.newCommandBuffer()
            commands.beginCommandBufferWithAllocator_(device.newCommandAllocator())
            encoder = commands.computeCommandEncoder()
            encoder.setComputePipelineState_(kernel)
            encoder.setArgumentTable_(table)
            encoder.dispatchThreads_threadsPerThreadgroup_((32, 1, 1), (32, 1, 1))
            if has_barrier:
                encoder.barrierAfterEncoderStages_beforeEncoderStages_visibilityOptions_(
                    metal.MTLStageDispatch, metal.MTLStageDispatch, 0
                )
            encoder.dispatchThreads_threadsPerThreadgroup_((32, 1, 1), (32, 1, 1))
            encoder.endEncoding()
            commands.endCommandBuffer()
            run(device, commands)
            assert bool(checker.findings) is not has_barrier


@pytest.mark.parametrize("waits", [True, False])
def test_the_host_must_wait_before_it_reads_a_tensor(*, waits: bool) -> None:
    source = """
kernel void k(tensor<device float, dextents<int, 1>> x, uint i [[thread_position_in_grid]]) {
  x[i] += float(i);
}
"""
    checker = Checker({"race"})
    with metal.checking(checker):
        device = MTLDevice()
        x = tensor_of(device, np.zeros(32, np.float32))
        commands = encoded(device, pipeline(device, source, "k"), {0: x}, (1, 1, 1), (32, 1, 1))
        queue, done = device.newMTL4CommandQueue(), device.newSharedEvent()
        queue.commit_count_([commands], 1)
        queue.signalEvent_value_(done, 1)
        if waits:
            assert done.waitUntilSignaledValue_timeoutMS_(1, 60_000)
        array_of(x, np.zeros(32, np.float32))
        done.waitUntilSignaledValue_timeoutMS_(1, 60_000)
    assert bool(checker.findings) is not waits
