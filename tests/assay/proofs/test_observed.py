"""Proofs of launches that programs made, of modules, and by Python."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import assay
from assay.checks import check_kernel
from assay.hal.metal import api
from assay.proofs import KernelProof, NotProved, launches_kept, prove_launches
from assay.proofs.observed import launch_proofs
from tests.checks.mutation.campaign import KERNELS
from tests.compiler.verify.sources import without_barrier

TREE = next(path for path in KERNELS if path.stem == "tree_reduction")
HEAD = "#include <metal_stdlib>\nusing namespace metal;\n"
BRANCH = (
    HEAD
    + """\
kernel void branch(device const uint* x, device uint* y, constant uint& n,
                   uint i [[thread_position_in_grid]]) {
    if (x[0] == 12345) y[n] = i;
    y[i] = i;
}
"""
)


def test_what_only_other_data_would_show_is_refuted_or_undecided() -> None:
    x, y = np.zeros(64, np.uint32), np.zeros(64, np.uint32)
    with launches_kept() as launches:
        report = check_kernel(BRANCH, "branch", x, y, 64, threads=64, threadgroup=32)
    assert not report.findings
    prove_launches(launches, report)
    assert report.findings or report.unchecked
    own = BRANCH.replace("y[n]", "y[i]")
    with launches_kept() as launches:
        report = check_kernel(own, "branch", x, y, 64, threads=64, threadgroup=32)
    prove_launches(launches, report)
    assert not report.findings and not report.unchecked
    assert "proved for this launch and any data" in report.notes[0]


def test_python_proves_and_tells() -> None:
    proofs = assay.prove(TREE)
    assert proofs.is_proved, proofs
    assert proofs.to_json()["kernels"][0]["name"] == "tree_reduction"
    refuted = assay.prove(without_barrier(TREE.read_text(), 0))
    assert refuted.is_refuted
    with pytest.raises(NotProved, match="no barrier between two accesses"):
        refuted.raise_if_any()


def test_assumptions_that_contradict_each_other_prove_nothing() -> None:
    proofs = assay.prove(TREE, assume=["n < 3", "n > 4"])
    assert not proofs.is_proved
    assert "no launch fulfils all that is assumed together" in str(proofs)


def test_the_kernels_of_a_module_are_proved_as_it_launches_them(tmp_path: Path) -> None:
    pytest.importorskip("iree.compiler")
    model = tmp_path / "add.mlir"
    model.write_text(
        "func.func @main(%a: tensor<64x64xf32>) -> tensor<64x64xf32> {\n"
        "  %sum = arith.addf %a, %a : tensor<64x64xf32>\n  return %sum : tensor<64x64xf32>\n}\n"
    )
    from assay.compiler.models import compile_model

    compile_model(model, model.with_suffix(".vmfb"))
    proofs = assay.prove(model.with_suffix(".vmfb"))
    (proof,) = proofs.kernels
    assert proofs.is_proved, proofs  # its buffers are pointers in an argument buffer
    assert any(each.startswith("groups.x == ") for each in proof.assumptions)


ADDED = (
    HEAD
    + """\
kernel void added(device uint* y [[buffer(0)]], constant uint& n [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) {
    y[i] = i + n;
}
"""
)


def _proof_of_added(offset: int) -> KernelProof:
    """What is proved of a launch whose constant lies in a buffer of 512 bytes, of which 256 are
    written."""
    metal = api.load("emulated")
    device = metal.MTLCreateSystemDefaultDevice()
    library, _ = device.newLibraryWithSource_options_error_(ADDED, None, None)
    function = library.newFunctionWithName_("added")
    pipeline, _ = device.newComputePipelineStateWithFunction_error_(function, None)
    own = device.newBufferWithLength_options_(256, metal.MTLResourceStorageModeShared)
    buffer = own
    if offset >= 256:
        buffer, offset = device.newBufferWithLength_options_(256, 0), offset - 256
    with launches_kept() as launches:
        commands = device.newCommandQueue().commandBuffer()
        encoder = commands.computeCommandEncoder()
        encoder.setComputePipelineState_(pipeline)
        encoder.setBuffer_offset_atIndex_(own, 0, 0)
        encoder.setBuffer_offset_atIndex_(buffer, offset, 1)
        size = metal.MTLSizeMake
        encoder.dispatchThreads_threadsPerThreadgroup_(size(64, 1, 1), size(32, 1, 1))
        encoder.endEncoding()
        commands.commit()
        commands.waitUntilCompleted()
    (proof,) = launch_proofs(launches, cache=False)
    return proof


def test_a_constant_in_a_buffer_that_is_written_is_not_proved_to_stay() -> None:
    assert _proof_of_added(256).is_proved
    proof = _proof_of_added(128)
    assert not proof.is_proved
    assert "share memory" in proof.problem
