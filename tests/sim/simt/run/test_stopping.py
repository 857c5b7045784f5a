"""Kernels that never end neither hold up the fault of another threadgroup nor the process's end."""

import os
import subprocess
import sys
import time

import numpy as np
import pytest

from assay.compiler.msl import compile_library
from assay.sim.simt import KernelFault, Memory, dispatch

SOURCE = """
#include <metal_stdlib>
using namespace metal;
kernel void k(device volatile int* a [[buffer(0)]], uint i [[thread_position_in_grid]],
              uint g [[threadgroup_position_in_grid]]) {
    if (g == 0) {
        a[1 << 20] = 1;
    }
    while (a[0] == 0) {
        a[1 + (i & 7)] += 1;
    }
}
"""
# So much that it takes hours.
FUEL = 1 << 50


def test_a_fault_stops_the_threadgroups_behind_it_at_once() -> None:
    program = compile_library(SOURCE).function("k").program()
    memory = Memory()
    address = memory.register(np.zeros(64, np.uint8), name="a")
    executable = program.specialise((64, 1, 1))
    started = time.monotonic()
    with pytest.raises(KernelFault, match="out-of-bounds write"):
        dispatch(executable, memory, [address], threadgroups=(64, 1, 1), workers=2, fuel=FUEL)
    assert time.monotonic() - started < 10


PROGRAM = f"""
import time
from assay.hal.metal import emulated as Metal
Metal.configure(Metal.DeviceOptions(workers=WORKERS, fuel={FUEL}))
device = Metal.MTLCreateSystemDefaultDevice()
library, error = device.newLibraryWithSource_options_error_('''{SOURCE}''', None, None)
state, error = device.newComputePipelineStateWithFunction_error_(
    library.newFunctionWithName_("k"), None
)
buffer = device.newBufferWithLength_options_(8 << 20, 0)
commands = device.newCommandQueue().commandBuffer()
encoder = commands.computeCommandEncoder()
encoder.setComputePipelineState_(state)
encoder.setBuffer_offset_atIndex_(buffer, 0, 0)
encoder.dispatchThreadgroups_threadsPerThreadgroup_((64, 1, 1), (64, 1, 1))
encoder.endEncoding()
commands.commit()
while buffer.contents()[4] == b"\\0":
    time.sleep(0.01)
print("runs")
"""


@pytest.mark.parametrize("workers", [1, 2])
def test_the_process_ends_while_a_kernel_runs_for_ever(workers: int) -> None:
    started = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.replace("WORKERS", str(workers))],
        capture_output=True,
        text=True,
        timeout=30,
        env=os.environ,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "runs\n", "")
    assert time.monotonic() - started < 20
