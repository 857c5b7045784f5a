"""The order of host and device in the drop-ins and in scripts, as the check for races sees it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import assay
from assay.hal.metal.emulated.order.guard import guard
from assay.mlx import metal_kernel

seen = pytest.mark.skipif(
    guard() is None, reason="this host does not show what programs do to memory"
)
SCRIPT = """\
import Metal
import numpy as np

SOURCE = '''
kernel void put(device int* to [[buffer(0)]], uint i [[thread_position_in_grid]]) {{ to[i] = i; }}
'''
device = Metal.MTLCreateSystemDefaultDevice()
library, error = device.newLibraryWithSource_options_error_(SOURCE, None, None)
function = library.newFunctionWithName_("put")
state, error = device.newComputePipelineStateWithFunction_error_(function, None)
out = device.newBufferWithLength_options_(256, Metal.MTLResourceStorageModeShared)
out.setLabel_("out")
commands = device.newCommandQueue().commandBuffer()
encoder = commands.computeCommandEncoder()
encoder.setComputePipelineState_(state)
encoder.setBuffer_offset_atIndex_(out, 0, 0)
encoder.dispatchThreads_threadsPerThreadgroup_((64, 1, 1), (64, 1, 1))
encoder.endEncoding()
commands.commit()
{before}
print(np.frombuffer(out.contents().as_buffer(256), np.int32).sum())
commands.waitUntilCompleted()
"""


@seen
@pytest.mark.parametrize("waits", [False, True])
def test_a_script_that_reads_too_early_is_told_its_line(tmp_path: Path, waits: bool) -> None:
    script = tmp_path / "early.py"
    before = "commands.waitUntilCompleted()" if waits else ""
    script.write_text(SCRIPT.format(before=before))
    command = [sys.executable, "-m", "assay", "check", str(script), "--check", "race"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=300)
    said = done.stdout + done.stderr
    assert done.returncode == (0 if waits else 1), said
    assert ("early.py:21:1: error: the host reads 'out' while command buffer 1" in said) != waits


def test_kernels_of_mlx_are_waited_for() -> None:
    kernel = metal_kernel(
        name="twice",
        input_names=["x"],
        output_names=["y"],
        source="y[thread_position_in_grid.x] = 2 * x[thread_position_in_grid.x];",
    )
    data = np.ones(64, np.float32)
    with assay.checking("race") as report:
        for _ in range(3):
            (data,) = kernel(
                inputs=[data],
                grid=(64, 1, 1),
                threadgroup=(32, 1, 1),
                output_shapes=[(64,)],
                output_dtypes=[np.float32],
            )
            data = np.asarray(data)
    assert data.sum() == 8 * 64 and not report.findings


def test_kernels_of_pytorch_are_waited_for() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    from assay.torch import compile_shader

    library = compile_shader(
        "kernel void bump(device int* x, uint i [[thread_position_in_grid]]) { x[i] += 1; }"
    )
    data = torch.zeros(64, dtype=torch.int32)
    with assay.checking("race") as report:
        for _ in range(3):
            library.bump(data)
            data += 1
    assert data.sum().item() == 6 * 64 and not report.findings


@seen
@pytest.mark.parametrize("waits", [False, True])
def test_memory_of_tinygrad_is_to_be_read_after_synchronize(waits: bool) -> None:
    pytest.importorskip("tinygrad", reason="tinygrad is not installed")
    from .test_tinygrad_device import device, program

    with assay.checking("race") as report:
        fill = program("kernel void fill(device float* a) { a[0] = 4; }", "fill", a=1)
        buffer = device().allocator.alloc(4096)
        fill(buffer)
        if waits:
            device().synchronize()
        bytes(device().allocator._as_buffer(buffer)[:4])
        device().synchronize()
    assert {finding.kind for finding in report.findings} == (
        set() if waits else {"host-read-early"}
    )
