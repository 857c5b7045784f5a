"""`assay check --prove` of scripts, modules and files: what is proved, and exit codes."""

from collections.abc import Callable
from pathlib import Path

import pytest

from assay.assay_module import build
from tests.models.importable import cnn

from .conftest import Done

Assay = Callable[..., Done]
SCRIPT = """\
import sys
from assay.hal.metal import api
SOURCE = '''
#include <metal_stdlib>
using namespace metal;
kernel void k(device const uint* x [[buffer(0)]], device const uint* y [[buffer(1)]],
              uint i [[thread_position_in_grid]]) {
    ((device uint*)x)[i] = y[63 - i];
}
'''
metal = api.load("emulated")
device = metal.MTLCreateSystemDefaultDevice()
library, _ = device.newLibraryWithSource_options_error_(SOURCE, None, None)
function = library.newFunctionWithName_("k")
pipeline, _ = device.newComputePipelineStateWithFunction_error_(function, None)
one, other = (device.newBufferWithLength_options_(256, 0) for _ in range(2))
commands = device.newCommandQueue().commandBuffer()
encoder = commands.computeCommandEncoder()
encoder.setComputePipelineState_(pipeline)
encoder.setBuffer_offset_atIndex_(one, 0, 0)
encoder.setBuffer_offset_atIndex_(one if "same" in sys.argv else other, 0, 1)
size = metal.MTLSizeMake
encoder.dispatchThreads_threadsPerThreadgroup_(size(64, 1, 1), size(64, 1, 1))
encoder.endEncoding()
commands.commit()
commands.waitUntilCompleted()
"""


def test_what_a_script_launches_is_proved(assay: Assay, tmp_path: Path) -> None:
    script = tmp_path / "launch.py"
    script.write_text(SCRIPT)
    done = assay("check", "--check", "race", "--prove", script)
    assert done.code == 0, done.out + done.err
    assert "kernel 'k', threadgroups of 64 threads: proved for this launch" in done.out
    done = assay("check", "--check", "init", "--prove", script, "same")
    assert done.code == 2, done.out
    assert "its arguments 'x' and 'y' share memory" in done.out


def test_options_for_many_files_are_still_not_for_scripts(assay: Assay, tmp_path: Path) -> None:
    script = tmp_path / "launch.py"
    script.write_text(SCRIPT)
    done = assay("check", "--prove", "--jobs", "2", script)
    assert done.code == 2
    assert "--jobs is not for a Python script" in done.err


def test_what_a_module_launches_is_proved(assay: Assay, module: Path) -> None:
    done = assay("check", module, "-i", "2x2xf32=1", "-i", "3", "--prove")
    assert done.code == 0, done.out + done.err
    assert "proved for this launch and any data" in done.out


@pytest.mark.slow
def test_what_an_assay_module_launches_is_proved(assay: Assay, tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    model, made = tmp_path / "cnn.onnx", tmp_path / "cnn.assay"
    cnn(model)
    build(model, made, shapes="image=1x3x16x16", devices=["metal"])
    done = assay("check", made, "-i", "1x3x16x16xf32=1", "--prove")
    assert "is not for" not in done.err
    assert "for this launch and any data" in done.out


def test_a_proof_that_rests_on_nothing_wrapping_is_not_said(assay: Assay, tmp_path: Path) -> None:
    file = tmp_path / "wraps.metal"
    file.write_text(
        """\
#include <metal_stdlib>
using namespace metal;
//! [kernel.k]
//! threadgroup = 64
//! threads = 64
kernel void k(device float* y, uint i [[thread_position_in_grid]]) {
    uint p = i * (63 - i);
    uint w = p * 5000000u;
    if ((w >> 8) < (p << 10)) y[0] = i;
}
"""
    )
    done = assay("check", file, "--prove")
    assert done.code == 1
    assert "proved for this launch" not in done.out
    assert "wraps.metal:8: it is not proved that what is computed here does not wrap" in done.out
