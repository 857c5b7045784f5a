"""An ordinary PyObjC program: y = a*x + y on the GPU. Nothing in it knows of an emulator."""

import Metal
import numpy as np

SOURCE = """
#include <metal_stdlib>
using namespace metal;

kernel void saxpy(device const float* x [[buffer(0)]],
                  device float* y [[buffer(1)]],
                  constant float& a [[buffer(2)]],
                  uint i [[thread_position_in_grid]]) {
    y[i] = a * x[i] + y[i];
}
"""


def saxpy(a: float, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    device = Metal.MTLCreateSystemDefaultDevice()
    library, error = device.newLibraryWithSource_options_error_(SOURCE, None, None)
    if library is None:
        raise SystemExit(error.localizedDescription())
    function = library.newFunctionWithName_("saxpy")
    pipeline, error = device.newComputePipelineStateWithFunction_error_(function, None)
    if pipeline is None:
        raise SystemExit(error.localizedDescription())

    shared = Metal.MTLResourceStorageModeShared
    x_buffer = device.newBufferWithBytes_length_options_(x, x.nbytes, shared)
    y_buffer = device.newBufferWithBytes_length_options_(y, y.nbytes, shared)

    command_buffer = device.newCommandQueue().commandBuffer()
    encoder = command_buffer.computeCommandEncoder()
    encoder.setComputePipelineState_(pipeline)
    encoder.setBuffer_offset_atIndex_(x_buffer, 0, 0)
    encoder.setBuffer_offset_atIndex_(y_buffer, 0, 1)
    encoder.setBytes_length_atIndex_(np.float32(a).tobytes(), 4, 2)
    width = min(pipeline.maxTotalThreadsPerThreadgroup(), x.size)
    encoder.dispatchThreads_threadsPerThreadgroup_(
        Metal.MTLSizeMake(x.size, 1, 1), Metal.MTLSizeMake(width, 1, 1)
    )
    encoder.endEncoding()
    command_buffer.commit()
    command_buffer.waitUntilCompleted()
    if command_buffer.status() != Metal.MTLCommandBufferStatusCompleted:
        raise SystemExit(command_buffer.error().localizedDescription())

    result = y_buffer.contents().as_buffer(y.nbytes)
    return np.frombuffer(result, dtype=np.float32).copy()


if __name__ == "__main__":
    x = np.arange(1000, dtype=np.float32)
    y = np.ones(1000, dtype=np.float32)
    print("largest error:", np.abs(saxpy(2.0, x, y) - (2 * x + 1)).max())
