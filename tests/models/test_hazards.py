"""What kernels of IREE rely on without saying so: lock step, aliasing, redundant lanes.

Each is tried twice: as the few lines of MSL that show it alone, and as the model whose kernels
were seen to need it.
"""

import numpy as np
import pytest

import assay
from assay.compare import compare
from assay.hal.metal import api
from assay.reference import CpuModule

from .conftest import Builds
from .zoo import find

HEAD = "#include <metal_stdlib>\nusing namespace metal;\n"


def run(source: str, name: str, data: np.ndarray, offsets: tuple[int, ...], threads: int) -> None:
    """Runs a kernel whose arguments are all the same buffer, at the given byte offsets."""
    metal = api.load("emulated")
    device = metal.MTLCreateSystemDefaultDevice()
    library, error = device.newLibraryWithSource_options_error_(HEAD + source, None, None)
    assert library is not None, error.localizedDescription()
    function = library.newFunctionWithName_(name)
    pipeline, error = device.newComputePipelineStateWithFunction_error_(function, None)
    assert pipeline is not None, error.localizedDescription()
    shared = metal.MTLResourceStorageModeShared
    buffer = device.newBufferWithBytes_length_options_(data, data.nbytes, shared)
    commands = device.newCommandQueue().commandBuffer()
    encoder = commands.computeCommandEncoder()
    encoder.setComputePipelineState_(pipeline)
    for index, offset in enumerate(offsets):
        encoder.setBuffer_offset_atIndex_(buffer, offset, index)
    size = metal.MTLSizeMake(threads, 1, 1)
    encoder.dispatchThreads_threadsPerThreadgroup_(size, size)
    encoder.endEncoding()
    commands.commit()
    commands.waitUntilCompleted()
    assert commands.status() == metal.MTLCommandBufferStatusCompleted, commands.error()
    data[...] = np.frombuffer(buffer.contents().as_buffer(data.nbytes), data.dtype)


def test_lanes_run_in_lock_step_between_memory_accesses() -> None:
    # One lane clears an element, another adds to it, and no barrier stands between.
    source = """
kernel void clear_and_add(device float* x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    x[31 - i] = 0;
    x[i] = x[i] + float(i);
}"""
    data = np.full(32, 99, np.float32)
    run(source, "clear_and_add", data, (0,), 32)
    np.testing.assert_array_equal(data, np.arange(32))


def test_lanes_meet_again_behind_a_branch_and_a_loop() -> None:
    source = """
kernel void meet(device int* x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    if (i % 2 == 0) x[i] = 1; else for (uint k = 0; k < i; k++) x[i] += 1;
    x[(i + 1) % 32] = x[i];
}"""
    data = np.zeros(32, np.int32)
    run(source, "meet", data, (0,), 32)
    own = np.where(np.arange(32) % 2 == 0, 1, np.arange(32))
    np.testing.assert_array_equal(data, np.roll(own, 1))


def test_redundant_lanes_do_the_work_once() -> None:
    # All lanes read before any writes: 32 identical read-modify-writes count as one.
    source = """
kernel void redundant(device int* x [[buffer(0)]]) {
    for (int k = 0; k < 5; k++) x[k] = x[k] * 2 + 1;
}"""
    data = np.arange(8, dtype=np.int32)
    run(source, "redundant", data, (0,), 32)
    np.testing.assert_array_equal(data, [1, 3, 5, 7, 9, 5, 6, 7])


def test_bindings_of_one_buffer_see_each_others_writes() -> None:
    source = """
kernel void alias(device float* a [[buffer(0)]], device float* b [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) {
    a[i + 64] = float(i);
    b[i] = b[i] * 2;
}"""
    data = np.zeros(128, np.float32)
    run(source, "alias", data, (0, 256), 32)
    np.testing.assert_array_equal(data[64:96], np.arange(32) * 2)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "name", ["onnx_cnn", "fft", "scan", "sort", "topk", "scatter", "scatter_add", "globals"]
)
def test_models_with_such_kernels_are_right_every_time(name: str, builds: Builds) -> None:
    model = find(name)
    module = assay.load(builds.model(model, "metal"))
    cpu = CpuModule(builds.model(model, "llvm-cpu"))
    for _ in range(3):
        got = module[model.function].invoke(model.arguments())
        wanted = cpu.invoke(model.function, model.arguments())
        for a, b in zip(got, wanted, strict=True):
            assert compare(a, b).equal
