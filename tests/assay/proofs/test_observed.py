"""Proofs of launches that programs made, of modules, and by Python."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import assay
from assay.checks import check_kernel
from assay.hal.metal import api
from assay.proofs import KernelProof, NotProved, launches_kept, prove_launches
from assay.proofs.contradictions import contradicted
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


WRAPS = (
    HEAD
    + """\
kernel void wraps(device float* y, uint i [[thread_position_in_grid]]) {
    uint p = i * (63 - i);
    uint w = p * 5000000u;
    if ((w >> 8) < (p << 10)) y[0] = i;
}
"""
)


def test_what_only_holds_if_nothing_wraps_is_not_proved_of_a_launch() -> None:
    y = np.zeros(64, np.float32)
    with launches_kept() as launches:
        report = check_kernel(WRAPS, "wraps", y, threads=64, threadgroup=64)
    (finding,) = report.findings
    prove_launches(launches, report)
    assert report.findings == (finding,)
    assert not report.notes
    (obstacle,) = report.obstacles
    assert "not proved that no two threads of the grid race for a buffer" in obstacle
    assert (
        "program_source.metal:5: it is not proved that what is computed here does not" in obstacle
    )


SPREAD = (
    HEAD
    + """\
kernel void spread(device uint* y, constant uint& n, uint i [[thread_position_in_grid]]) {
    y[i % n] = i;
}
"""
)


def test_a_launch_counts_as_proved_only_where_nothing_was_found_in_the_kernel() -> None:
    y = np.zeros(64, np.uint32)
    with launches_kept() as launches:
        check_kernel(SPREAD, "spread", y, 64, threads=64, threadgroup=64)
        report = check_kernel(SPREAD, "spread", y, 32, threads=64, threadgroup=64)
    (finding,) = report.findings
    prove_launches(launches, report)
    proved, denied = report.notes
    assert proved.endswith("any data: barriers, threadgroup races, initialised, bounds")
    assert "not taken as proved: buffer races: " in denied
    assert f"[{finding.kind}] was found at program_source.metal:4" in denied


def test_a_finding_of_a_proof_denies_what_another_launch_proved_before() -> None:
    y = np.zeros(64, np.uint32)
    with launches_kept() as launches:
        report = check_kernel(SPREAD, "spread", y, 64, threads=64, threadgroup=64)
        check_kernel(SPREAD, "spread", y, 32, threads=64, threadgroup=64)
    assert not report.findings
    prove_launches(launches, report)
    assert report.findings
    assert not any("buffer races" in note.partition("any data: ")[2] for note in report.notes)


def test_other_kernels_and_other_properties_are_proved_beside_a_finding() -> None:
    y = np.zeros(64, np.uint32)
    with launches_kept() as launches:
        check_kernel(SPREAD, "spread", y, 64, threads=64, threadgroup=64)
    (proof,) = launch_proofs(launches)
    report = check_kernel(SPREAD, "spread", y, 32, threads=64, threadgroup=64)
    (finding,) = report.findings
    assert list(contradicted(proof, [finding])) == ["threadgroup races", "buffer races"]
    assert list(contradicted(proof, [finding], ["y"])) == ["buffer races"]
    assert not contradicted(proof, [replace(finding, kernel="other")])
    assert not contradicted(proof, [replace(finding, check="budget", kind="registers")])


ADDED = (
    HEAD
    + """\
kernel void added(device uint* y [[buffer(0)]], constant uint& n [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) {
    y[i] = i + n;
}
"""
)


def _proof_of(source: str, offsets: tuple[int, int]) -> KernelProof:
    """What is proved of a launch whose two arguments are places in one buffer of 256 bytes, or in
    another one behind these.
    """
    metal = api.load("emulated")
    device = metal.MTLCreateSystemDefaultDevice()
    library, _ = device.newLibraryWithSource_options_error_(source, None, None)
    function = library.newFunctionWithName_(library.functionNames()[0])
    pipeline, _ = device.newComputePipelineStateWithFunction_error_(function, None)
    buffers = [device.newBufferWithLength_options_(256, 0) for _ in range(2)]
    with launches_kept() as launches:
        commands = device.newCommandQueue().commandBuffer()
        encoder = commands.computeCommandEncoder()
        encoder.setComputePipelineState_(pipeline)
        for index, offset in enumerate(offsets):
            encoder.setBuffer_offset_atIndex_(buffers[offset // 256], offset % 256, index)
        size = metal.MTLSizeMake
        encoder.dispatchThreads_threadsPerThreadgroup_(size(64, 1, 1), size(32, 1, 1))
        encoder.endEncoding()
        commands.commit()
        commands.waitUntilCompleted()
    (proof,) = launch_proofs(launches, cache=False)
    return proof


def _only_apart(source: str, offsets: tuple[int, int]) -> str:
    """Why nothing is proved with arguments at such places, though it is with two buffers."""
    assert _proof_of(source, (0, 256)).is_proved
    proof = _proof_of(source, offsets)
    assert not proof.is_proved
    return proof.problem


def test_a_constant_in_a_buffer_that_is_written_is_not_proved_to_stay() -> None:
    assert "share memory" in _only_apart(ADDED, (0, 128))


CAST = (
    HEAD
    + """\
kernel void cast(device const uint* x [[buffer(0)]], device const uint* y [[buffer(1)]],
                 uint i [[thread_position_in_grid]]) {
    WRITE[i] = y[63 - i];
}
"""
)


def test_what_is_written_through_const_is_written() -> None:
    source = CAST.replace("WRITE", "((device uint*)x)")
    assert "its arguments 'x' and 'y' share memory" in _only_apart(source, (0, 0))


PUT_BACK = (
    HEAD
    + """\
kernel void back(device uint* x [[buffer(0)]], device const uint* y [[buffer(1)]],
                 uint t [[thread_index_in_threadgroup]], uint i [[thread_position_in_grid]]) {
    threadgroup uint s[32];
    uint v = x[i];
    x[i] = v + 1;
    x[i] = v;
    s[t] = y[63 - i];
}
"""
)


def test_what_is_put_back_where_it_was_is_written_all_the_same() -> None:
    assert "share memory" in _only_apart(PUT_BACK, (0, 0))


FAR = (
    HEAD
    + """\
struct Far { uint a; alignas(BYTES) uint n; };
kernel void far(device uint* y [[buffer(0)]], device const uint* x [[buffer(1)]],
                constant Far& far [[buffer(2)]], uint i [[thread_position_in_grid]]) {
    if (far.n != 0 && x[i] == 12345) y[0] = i;
    else y[i] = i;
}
"""
)


@pytest.mark.parametrize("bytes_before", [16, 4096])
def test_a_member_of_a_constant_is_what_it_is_wherever_it_lies(bytes_before: int) -> None:
    far = np.zeros(2 * bytes_before // 4, np.uint32)
    far[bytes_before // 4] = 128
    x, y = np.zeros(64, np.uint32), np.zeros(64, np.uint32)
    source = FAR.replace("BYTES", str(bytes_before))
    with launches_kept() as launches:
        report = check_kernel(source, "far", y, x, far, threads=64, threadgroup=32)
    assert not report.findings
    prove_launches(launches, report)
    assert report.findings or report.unchecked


def test_what_is_only_read_may_be_bound_twice() -> None:
    own = "threadgroup uint s[32]; s[i % 32] = x[i] + y[i]"
    assert _proof_of(CAST.replace("WRITE[i] = y[63 - i]", own), (0, 0)).is_proved


BEYOND = (
    HEAD
    + """\
struct List { uint n; uint all[1]; };
kernel void beyond(device uint* y [[buffer(0)]], constant List& list [[buffer(1)]],
                   device const uint* x [[buffer(2)]], uint i [[thread_position_in_grid]]) {
    if (x[0] == 12345) y[i] = READ;
}
"""
)


def _bounds_of(read: str, count: int) -> str:
    """What is found of accesses to a reference's memory, which has so many numbers."""
    x, y, values = np.zeros(64, np.uint32), np.zeros(64, np.uint32), np.zeros(count, np.uint32)
    with launches_kept() as launches:
        source = BEYOND.replace("READ", read)
        report = check_kernel(source, "beyond", y, values, x, threads=64, threadgroup=32)
    assert not report.findings
    (proof,) = launch_proofs(launches, cache=False)
    return next(each.verdict for each in proof.answers if each.about == "bounds")


def test_what_a_constant_reference_is_to_has_an_end() -> None:
    assert _bounds_of("list.all[0]", 2) == "proved"
    assert _bounds_of("list.all[i]", 2) == "refuted"
    assert _bounds_of("(&list)[400].n", 2) == "refuted"


def test_nothing_is_found_beyond_a_reference_where_its_buffer_goes_on() -> None:
    assert _bounds_of("list.all[i]", 65) == "undecided"


MIRRORED = (
    HEAD
    + """\
kernel void mirrored(device uint* y [[buffer(0)]], constant uint& n [[buffer(1)]],
                     uint i [[thread_position_in_grid]]) {
    if (y[i] == 12345) y[i] = (&n)[127 - i];
}
"""
)


def test_what_is_read_beyond_a_reference_is_not_proved_apart_from_what_is_written() -> None:
    assert not _proof_of(MIRRORED, (256, 0)).is_proved
    assert _proof_of(MIRRORED.replace("(&n)[127 - i]", "n"), (256, 0)).is_proved
