"""A small program for the emulated device."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from assay.hal.metal import emulated as metal

SOURCE = """#include <metal_stdlib>
using namespace metal;
kernel void scale(device float* x, constant float& by, uint i [[thread_position_in_grid]]) {
    x[i] = x[i] * by + 1;
}
kernel void gather(device float* x, device const uint* at, uint i [[thread_position_in_grid]]) {
    x[i] = x[at[i]];
}
struct Both { device float* x; float by; };
kernel void indirect(constant Both& both, uint i [[thread_position_in_grid]]) {
    both.x[i] *= both.by;
}
kernel void chain(device float* x, uint i [[thread_position_in_grid]]) {
    float v = x[i];
    for (int n = 0; n < 200; n++) v = fma(v, 1.5f, 0.5f);
    x[i] = v;
}
struct Ends { device const float* from; device float* to; };
kernel void move(constant Ends& ends, uint i [[thread_position_in_grid]]) {
    ends.to[i] = ends.from[i];
}
"""
COUNT = 256


@dataclass
class Program:
    """One device with its kernels; arrays are buffers of `COUNT` floats."""

    device: Any = field(default_factory=lambda: metal.MTLDevice(metal.DeviceOptions()))

    def __post_init__(self) -> None:
        library, error = self.device.newLibraryWithSource_options_error_(SOURCE, None, None)
        assert library is not None, error
        self.pipelines = {}
        for name in library.functionNames():
            function = library.newFunctionWithName_(name)
            made = self.device.newComputePipelineStateWithFunction_error_(function, None)
            self.pipelines[name] = made[0]
        self.queue = self.device.newCommandQueue()

    def buffer(self, array: np.ndarray[Any, Any]) -> Any:
        data = np.ascontiguousarray(array).view(np.uint8)
        return self.device.newBufferWithBytes_length_options_(data, data.nbytes, 0)

    def scale(self, encoder: Any, buffer: Any, by: float, count: int = COUNT) -> None:
        encoder.setComputePipelineState_(self.pipelines["scale"])
        encoder.setBuffer_offset_atIndex_(buffer, 0, 0)
        encoder.setBytes_length_atIndex_(np.float32(by).tobytes(), 4, 1)
        encoder.dispatchThreads_threadsPerThreadgroup_((count, 1, 1), (64, 1, 1))

    def finish(self, commands: Any) -> None:
        commands.commit()
        commands.waitUntilCompleted()
        assert commands.error() is None, commands.error()


def floats(buffer: Any) -> np.ndarray[Any, np.dtype[np.float32]]:
    return np.frombuffer(buffer.contents().as_buffer(buffer.length()), np.float32)
