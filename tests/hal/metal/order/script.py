"""A host program in PyObjC's spelling, in as few words as a test needs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from assay.hal.metal import emulated as Metal
from assay.hal.metal.emulated import checking
from assay.sim.check import Checker, Finding

SOURCE = """
#include <metal_stdlib>
using namespace metal;
kernel void put(device int* to [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    to[i] = i + 1;
}
kernel void move(device const int* from [[buffer(0)]], device int* to [[buffer(1)]],
                 uint i [[thread_position_in_grid]]) {
    to[i] = from[i] + 1;
}
kernel void count(device atomic_int* to [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    atomic_fetch_add_explicit(&to[i], 1, memory_order_relaxed);
}
struct Table { device int* at; };
kernel void far(device const Table& table [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    table.at[i] += 1;
}
"""
COUNT = 64
SIZE = 4 * COUNT
SHARED = Metal.MTLResourceStorageModeShared
UNTRACKED = SHARED | Metal.MTLResourceHazardTrackingModeUntracked
SERIAL, CONCURRENT = Metal.MTLDispatchTypeSerial, Metal.MTLDispatchTypeConcurrent


class Script:
    """A device with the kernels above, and what a program does with it."""

    def __init__(self) -> None:
        self.device = Metal.MTLDevice(Metal.DeviceOptions())
        library, error = self.device.newLibraryWithSource_options_error_(SOURCE, None, None)
        assert library is not None, error
        self.library = library
        self.states: dict[str, Metal.MTLComputePipelineState] = {}
        self.queues = [self.device.newCommandQueue() for _ in range(3)]
        self.queue = self.queues[0]

    def state(self, name: str) -> Metal.MTLComputePipelineState:
        if name not in self.states:
            function = self.library.newFunctionWithName_(name)
            make = self.device.newComputePipelineStateWithFunction_error_
            state, error = make(function, None)
            assert state is not None, error
            self.states[name] = state
        return self.states[name]

    def buffer(self, label: str, options: int = SHARED, size: int = SIZE) -> Metal.MTLBuffer:
        made = self.device.newBufferWithLength_options_(size, options)
        made.setLabel_(label)
        return made

    def heap(self, tracking: int = Metal.MTLHazardTrackingModeDefault) -> Metal.MTLHeap:
        descriptor = Metal.MTLHeapDescriptor.new()
        descriptor.setSize_(1 << 16)
        descriptor.setStorageMode_(Metal.MTLStorageModeShared)
        descriptor.setHazardTrackingMode_(tracking)
        return self.device.newHeapWithDescriptor_(descriptor)

    def in_heap(self, heap: Metal.MTLHeap, label: str) -> Metal.MTLBuffer:
        made = heap.newBufferWithLength_options_(SIZE, SHARED)
        assert made is not None
        made.setLabel_(label)
        return made

    def dispatch(
        self,
        encoder: Metal.MTLComputeCommandEncoder,
        kernel: str,
        *buffers: Metal.MTLBuffer,
        offset: int = 0,
        count: int = COUNT,
    ) -> None:
        encoder.setComputePipelineState_(self.state(kernel))
        for index, buffer in enumerate(buffers):
            encoder.setBuffer_offset_atIndex_(buffer, offset, index)
        encoder.dispatchThreads_threadsPerThreadgroup_((count, 1, 1), (32, 1, 1))

    @contextmanager
    def compute(
        self, commands: Metal.MTLCommandBuffer, label: str = "", kind: int = SERIAL
    ) -> Iterator[Metal.MTLComputeCommandEncoder]:
        encoder = commands.computeCommandEncoderWithDispatchType_(kind)
        if label:
            encoder.setLabel_(label)
        yield encoder
        encoder.endEncoding()

    @contextmanager
    def blit(
        self, commands: Metal.MTLCommandBuffer, label: str = ""
    ) -> Iterator[Metal.MTLBlitCommandEncoder]:
        encoder = commands.blitCommandEncoder()
        if label:
            encoder.setLabel_(label)
        yield encoder
        encoder.endEncoding()

    def commands(
        self, label: str = "", queue: Metal.MTLCommandQueue | None = None
    ) -> Metal.MTLCommandBuffer:
        made = (queue or self.queue).commandBuffer()
        if label:
            made.setLabel_(label)
        return made


def finished(*commands: Metal.MTLCommandBuffer) -> None:
    for each in commands:
        each.commit()
    for each in commands:
        each.waitUntilCompleted()
        assert each.error() is None, each.error()


@contextmanager
def findings() -> Iterator[list[Finding]]:
    """What the check for races says of the block; filled at its end."""
    found: list[Finding] = []
    with checking(Checker(["race"])) as checker:
        yield found
    found += checker.findings


def kinds(found: Sequence[Finding]) -> list[str]:
    return sorted({finding.kind for finding in found})


def ints(buffer: Metal.MTLBuffer) -> np.ndarray:
    return np.frombuffer(buffer.contents().as_buffer(buffer.length()), np.int32)
