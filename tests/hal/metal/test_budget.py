"""Budgets: findings while a program is checked, errors in any case; unused arguments are free."""

import pytest

from assay.hal.metal import emulated as Metal
from assay.hal.metal.emulated import (
    MetalError,
    MetalValidationError,
    MTLComputeCommandEncoder,
    checking,
)
from assay.sim.check import Checker, Finding
from tests.support.metal_bench import HEAD, ONE, Bench, message_of, values_of

SOURCE = """
kernel void plain(device int* a [[buffer(0)]],
                  device int* unused [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) { a[i] = 1; }

kernel void tiles(device int* a [[buffer(0)]], threadgroup int* passed [[threadgroup(0)]],
                  uint i [[thread_index_in_threadgroup]]) {
    threadgroup int own[4096];
    own[i] = a[i];
    passed[i] = own[i];
    a[i] = passed[i] + own[i];
}
"""
TOO_MUCH = """
kernel void huge(device int* a [[buffer(0)]], uint i [[thread_index_in_threadgroup]]) {
    threadgroup int own[10000];
    own[i] = a[i];
    a[i] = own[9999 - i];
}
"""


@pytest.fixture(scope="module")
def bench() -> Bench:
    return Bench(SOURCE)


def encode_tiles(bench: Bench, encoder: MTLComputeCommandEncoder, passed: int) -> None:
    bench.start(encoder, "tiles", bench.buffer([1] * 32))
    encoder.setThreadgroupMemoryLength_atIndex_(passed, 0)
    encoder.dispatchThreads_threadsPerThreadgroup_((32, 1, 1), (32, 1, 1))


def test_static_and_passed_threadgroup_memory_count_together(bench: Bench) -> None:
    assert message_of(bench.run(lambda encoder: encode_tiles(bench, encoder, 16384))) == ""
    with pytest.raises(MetalValidationError, match="needs 32784 B of threadgroup memory"):
        bench.run(lambda encoder: encode_tiles(bench, encoder, 16400))


def places_of(finding: Finding) -> list[tuple[str, int]]:
    """File and line of the finding's sides; a line of this file counts from 0."""
    here = "test_budget.py"
    sites = [party.site for party in finding.parties]
    return [(here, 0) if s.file.endswith(here) else (s.file, s.line) for s in sites]


def test_too_much_threadgroup_memory_is_a_finding_at_the_call_that_passes_it(bench: Bench) -> None:
    with checking(Checker()) as checker, pytest.raises(MetalValidationError):
        bench.run(lambda encoder: encode_tiles(bench, encoder, 16400))
    (finding,) = checker.findings
    assert (finding.check, finding.kind, finding.kernel) == (
        "budget",
        "threadgroup-memory",
        "tiles",
    )
    assert places_of(finding) == [("test_budget.py", 0), ("program_source.metal", 8)]
    assert "32784 B of threadgroup memory (16384 B declared in the kernel and 16400 B passed" in (
        finding.message
    )


def test_a_kernel_that_declares_too_much_is_a_finding_before_it_runs() -> None:
    device = Bench(SOURCE).device
    library, _ = device.newLibraryWithSource_options_error_(HEAD + TOO_MUCH, None, None)
    assert library is not None
    with checking(Checker()) as checker:
        state, error = device.newComputePipelineStateWithFunction_error_(
            library.newFunctionWithName_("huge"), None
        )
    assert state is None and error is not None
    (finding,) = checker.findings
    assert (finding.kind, finding.site.line) == ("threadgroup-memory", 4)


def test_one_argument_with_too_much_memory_is_a_finding(bench: Bench) -> None:
    with checking(Checker()) as checker, pytest.raises(MetalValidationError):
        bench.run(lambda encoder: encode_tiles(bench, encoder, 32784))
    (finding,) = checker.findings
    assert finding.kind == "threadgroup-memory"
    assert places_of(finding) == [("test_budget.py", 0), ("program_source.metal", 8)]


def test_other_checks_do_not_report_budgets(bench: Bench) -> None:
    with checking(Checker(["race"])) as checker, pytest.raises(MetalValidationError):
        bench.run(lambda encoder: encode_tiles(bench, encoder, 16400))
    assert checker.findings == ()


def run_plain(bench: Bench, threads: tuple[int, int, int], size: tuple[int, int, int]) -> str:
    target = bench.buffer([0])

    def encode(encoder: MTLComputeCommandEncoder) -> None:
        bench.start(encoder, "plain", target)
        encoder.dispatchThreadgroups_threadsPerThreadgroup_(threads, size)

    return message_of(bench.run(encode))


def test_large_threadgroups_are_findings_at_their_dispatch(bench: Bench) -> None:
    with checking(Checker()) as checker, pytest.raises(MetalValidationError):
        run_plain(bench, ONE, (64, 32, 1))
    (finding,) = checker.findings
    assert finding.kind == "grid-limits"
    assert places_of(finding) == [("test_budget.py", 0), ("program_source.metal", 4)]
    assert "2048 threads" in finding.message


@pytest.mark.parametrize(
    "groups", [(1 << 24, 1, 1), (1, (1 << 32) - 1, 1), (1 << 23, 1 << 23, 1 << 23)]
)
def test_enormous_grids_are_refused_and_findings(
    bench: Bench, groups: tuple[int, int, int]
) -> None:
    with checking(Checker()) as checker, pytest.raises(MetalError, match="too large"):
        run_plain(bench, groups, (1, 1, 1))
    assert [finding.kind for finding in checker.findings] == ["grid-limits"]


def test_enormous_grids_of_threads_are_refused(bench: Bench) -> None:
    def encode(encoder: MTLComputeCommandEncoder) -> None:
        bench.start(encoder, "plain", bench.buffer([0]))
        encoder.dispatchThreads_threadsPerThreadgroup_(((1 << 32) - 1, 1, 1), (1024, 1, 1))

    with pytest.raises(MetalError, match="too large"):
        bench.run(encode)


def test_an_argument_that_the_kernel_never_uses_need_not_be_set(bench: Bench) -> None:
    target = bench.buffer([0, 0])

    def encode(encoder: MTLComputeCommandEncoder) -> None:
        bench.start(encoder, "plain", target)
        encoder.dispatchThreads_threadsPerThreadgroup_((2, 1, 1), (2, 1, 1))

    assert message_of(bench.run(encode)) == ""
    assert values_of(target) == [1, 1]


def test_an_argument_that_the_kernel_uses_must_be_set(bench: Bench) -> None:
    def encode(encoder: MTLComputeCommandEncoder) -> None:
        encoder.setComputePipelineState_(bench.pipeline("plain"))
        encoder.dispatchThreads_threadsPerThreadgroup_(ONE, ONE)

    with pytest.raises(MetalValidationError, match=r"argument 'a' \[\[buffer\(0\)\]\]: no buffer"):
        bench.run(encode)


def test_reflection_tells_used_arguments_from_others(bench: Bench) -> None:
    make = bench.device.newComputePipelineStateWithFunction_options_reflection_error_
    _, reflection, _ = make(
        bench.function("plain"), Metal.MTLPipelineOptionArgumentInfo, None, None
    )
    assert reflection is not None
    used = {binding.name(): binding.isUsed() for binding in reflection.bindings()}
    assert used == {"a": True, "unused": False}


def test_null_for_an_argument_fails_where_the_kernel_uses_it(bench: Bench) -> None:
    def encode(encoder: MTLComputeCommandEncoder) -> None:
        encoder.setComputePipelineState_(bench.pipeline("plain"))
        encoder.setBuffer_offset_atIndex_(None, 0, 0)
        encoder.dispatchThreads_threadsPerThreadgroup_(ONE, ONE)

    with checking(Checker()) as checker:
        message = message_of(bench.run(encode))
    assert "null write of 4 bytes: nothing is bound to a" in message
    (finding,) = checker.findings
    assert (finding.kind, finding.site.line) == ("null-write", 6)
