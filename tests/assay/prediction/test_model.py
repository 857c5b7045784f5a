"""Predictions of real kernels and programs: taped, lowered and simulated."""

from __future__ import annotations

import math
import time
from pathlib import Path

import numpy as np
import pytest

import assay
from assay.compiler.msl import compile_library
from assay.hal.metal import emulated as metal
from assay.prediction.result import TimeResult
from assay.sim.simt.analysis.data_dependence import data_dependence
from assay.sim.simt.analysis.reads import ReadPlace, read_places, touched_places
from assay.sim.simt.analysis.shifts import shift_words
from assay.sim.simt.ir.nodes import Function
from tests.support.msl import PRELUDE
from tests.support.timed_program import COUNT, Program, floats

from .decode import LAYERS, Decoder

KERNEL = (
    PRELUDE
    + """
static float heavy(float x) {
    for (int i = 0; i < 64; i++) x = fma(x, 1.0001f, 0.5f);
    return x;
}
//! [kernel.work]
//! threadgroups = 64
//! threadgroup = 256
//! arguments.n = 16384
kernel void work(device const float* x, device float* y, constant uint& n,
                 uint i [[thread_position_in_grid]]) {
    if (i < n) y[i] = heavy(x[i]);
}
"""
)


def function_of(body: str, arguments: str) -> Function:
    source = f"{PRELUDE}kernel void k({arguments}, uint i [[thread_position_in_grid]]) {{{body}}}"
    return compile_library(source).function("k").program().function


@pytest.mark.parametrize(
    ("body", "control", "addresses"),
    [
        ("x[i] = x[i] * c[0];", False, False),
        ("if (i < uint(c[0])) x[i] = 1;", False, False),
        ("while (x[i] < c[0]) x[i] += 1.5f;", True, False),
        ("x[i] = x[uint(x[i + 1])];", False, True),
        ("threadgroup float t[64]; t[i % 64] = x[i]; x[i] = x[uint(t[0])];", False, True),
        ("threadgroup uint t[64]; t[i % 64] = i; x[i] = x[t[0]];", False, False),
    ],
)
def test_data_dependence(body: str, control: bool, addresses: bool) -> None:
    found = data_dependence(function_of(body, "device float* x, constant float* c"), {1})
    assert (found.control, found.addresses) == (control, addresses)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("x[i + c[0] / 4] = x[i * 4 + c[1]] + c[2];", {0, 4}),
        ("x[i + c[0]] = c[0];", set()),
        ("if (i < c[0]) x[i + c[1]] = 1;", {4}),
        ("x[i * c[0] + c[1]] = 1;", {4}),
        ("for (uint j = 0; j < c[1]; j++) x[i + j + c[0]] += 1;", {0}),
        ("x[(i + c[0]) % 7] = 1;", set()),
    ],
)
def test_constants_that_only_move_a_kernel_in_memory(body: str, expected: set[int]) -> None:
    function = function_of(body, "device uint* x, constant uint* c")
    assert shift_words(function) == {(1, offset) for offset in expected}


def test_what_a_kernel_reads_and_writes() -> None:
    source = f"""{PRELUDE}
    struct Both {{ device float* unused; device float* read; device float* written; }};
    kernel void k(device float* y, device float* x, constant Both& both,
                  uint i [[thread_position_in_grid]]) {{
        y[i] = x[i] + both.read[i];
        both.written[i] = 1;
    }}"""
    function = compile_library(source).function("k").program().function
    read = (
        ReadPlace(parameter=1),
        ReadPlace(parameter=2),
        ReadPlace(parameter=2, offset=8),
    )
    assert read_places(function) == read
    written = (ReadPlace(parameter=0), ReadPlace(parameter=2, offset=16))
    assert touched_places(function) == tuple(sorted((*read, *written)))


def test_a_kernel_is_timed_by_its_annotations() -> None:
    result = assay.time(KERNEL, chip="m1")
    [dispatch] = result.dispatches
    assert dispatch.grid == (64, 1, 1) and dispatch.threadgroup == (256, 1, 1)
    assert math.isclose(result.flops, 16384 * 128, rel_tol=0.05)
    assert math.isclose(sum(result.causes.values()), result.cycles, rel_tol=1e-6)
    assert math.isclose(sum(e.cycles for e in dispatch.lines), result.cycles, rel_tol=1e-6)
    assert {each.name for each in dispatch.functions} >= {"heavy"}
    assert dispatch.time.roofline.seconds <= result.seconds < result.gpu_seconds
    # 64 dependent multiply-adds, at least.
    assert result.cycles > 64 * 2


def test_more_work_takes_longer_and_a_larger_chip_less_time() -> None:
    small = assay.time(KERNEL, "work", threadgroups=2000, chip="m1")
    large = assay.time(KERNEL, "work", threadgroups=8000, chip="m1")
    wide = assay.time(KERNEL, "work", threadgroups=8000, chip="m1-max")
    assert 3 < large.seconds / small.seconds < 5
    assert 2.5 < large.seconds / wide.seconds < 5


def test_own_arrays_are_timed_and_left_alone() -> None:
    x, y = np.ones(COUNT, np.float32), np.zeros(COUNT, np.float32)
    result = assay.time(KERNEL, "work", x, y, COUNT, threads=COUNT, threadgroup=64)
    assert result.dispatches[0].grid == (4, 1, 1)
    assert not y.any()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"chip": "m17"}, "chip 'm17' is not known; did you mean 'm1-7'[?] there are"),
        ({"function": "other"}, "there is no kernel 'other'; there are work"),
        ({"threads": 4, "threadgroups": 4}, "threads or threadgroups, not both"),
        ({"threadgroup": 2048}, "at most 1024|1024"),
        ({"threadgroups": 0}, "positive"),
        ({"threadgroups": 1 << 25}, "threadgroups"),
    ],
)
def test_what_cannot_be_is_refused_in_words(options: dict[str, object], message: str) -> None:
    from assay.hw.facts import SpecError

    with pytest.raises((assay.TimeInputError, SpecError), match=message):
        assay.time(KERNEL, **options)  # type: ignore[arg-type]


def test_a_kernel_that_leaves_its_buffers_is_a_clear_error() -> None:
    x, y = np.ones(16, np.float32), np.zeros(16, np.float32)
    with pytest.raises(assay.TimeInputError, match=":14:29: out-of-bounds read"):
        assay.time(KERNEL, "work", x, y, COUNT, threads=COUNT, threadgroup=64)


def test_taping_leaves_a_program_its_results_each_effect_once() -> None:
    program = Program()
    buffer = program.buffer(np.arange(COUNT, dtype=np.float32))
    with assay.timing("m1") as seen:
        commands = program.queue.commandBuffer()
        encoder = commands.computeCommandEncoder()
        for _ in range(3):
            program.scale(encoder, buffer, 2.0)
        encoder.endEncoding()
        program.finish(commands)
    assert (floats(buffer) == np.arange(COUNT) * 8 + 7).all()
    result = seen.result()
    assert len(result.dispatches) == 3
    assert result.dispatches[2].same_as == 1  # the first one found its data in DRAM


def test_taping_leaves_what_pointers_lead_to_as_it_was() -> None:
    program = Program()
    buffer = program.buffer(np.arange(COUNT, dtype=np.float32))
    raw = np.zeros(16, np.uint8)
    raw[:8] = np.array([buffer.gpuAddress()], np.uint64).view(np.uint8)
    raw[8:12] = np.array([2.0], np.float32).view(np.uint8)
    with assay.timing("m1") as seen:
        commands = program.queue.commandBuffer()
        encoder = commands.computeCommandEncoder()
        encoder.setComputePipelineState_(program.pipelines["indirect"])
        encoder.setBuffer_offset_atIndex_(program.buffer(raw), 0, 0)
        encoder.useResource_usage_(buffer, metal.MTLResourceUsageWrite)
        for _ in range(3):
            encoder.dispatchThreads_threadsPerThreadgroup_((COUNT, 1, 1), (64, 1, 1))
        encoder.endEncoding()
        program.finish(commands)
    assert (floats(buffer) == np.arange(COUNT) * 8).all()
    assert seen.result().seconds > 0


def test_a_kernel_that_never_ends_is_stopped_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_FUEL", str(2**16))
    source = PRELUDE + "kernel void k(device volatile uint* x) { while (x[0] < 1) x[1] += 1; }"
    with pytest.raises(assay.TimeInputError, match="'k' cannot be timed"):
        assay.time(source, "k", np.zeros(2, np.uint32), threads=32, threadgroup=32)


def test_textures_and_threadgroup_arguments_are_taken_too() -> None:
    source = (
        PRELUDE
        + """
    kernel void blur(texture2d<float> image, sampler s, device float* out,
                     threadgroup float* room, uint2 at [[thread_position_in_grid]],
                     uint t [[thread_index_in_threadgroup]]) {
        room[t] = image.sample(s, float2(at) / 64).x;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        out[at.y * 64 + at.x] = room[63 - t];
    }"""
    )
    result = assay.time(source, threadgroups=(8, 8), threadgroup=(8, 8), chip="m3")
    assert result.cycles > 0
    assert "textures are read by the arithmetic that emulates them" in str(result)


def test_a_fault_while_taping_is_the_programs_error() -> None:
    program = Program()
    x = program.buffer(np.ones(COUNT, np.float32))
    at = program.buffer(np.full(COUNT, 1 << 30, np.uint32))
    with assay.timing("m1"):
        commands = program.queue.commandBuffer()
        encoder = commands.computeCommandEncoder()
        encoder.setComputePipelineState_(program.pipelines["gather"])
        encoder.setBuffer_offset_atIndex_(x, 0, 0)
        encoder.setBuffer_offset_atIndex_(at, 0, 1)
        encoder.dispatchThreads_threadsPerThreadgroup_((COUNT, 1, 1), (64, 1, 1))
        encoder.endEncoding()
        commands.commit()
        commands.waitUntilCompleted()
    assert "gather" in commands.error().localizedDescription()


def test_dispatches_side_by_side_compute_no_faster_than_the_gpu() -> None:
    program = Program()
    with assay.timing("m1") as seen:
        commands = program.queue.commandBuffer()
        encoder = commands.computeCommandEncoderWithDispatchType_(metal.MTLDispatchTypeConcurrent)
        encoder.setComputePipelineState_(program.pipelines["chain"])
        for _ in range(32):
            buffer = program.buffer(np.ones(16 * 256, np.float32))
            encoder.setBuffer_offset_atIndex_(buffer, 0, 0)
            encoder.dispatchThreadgroups_threadsPerThreadgroup_((16, 1, 1), (256, 1, 1))
        encoder.endEncoding()
        program.finish(commands)
    result = seen.result()
    peak = result.dispatches[0].time.roofline.flops_per_second
    assert result.flops / peak < result.gpu_seconds < result.seconds


def test_a_decoding_step_of_seven_billion_parameters_is_timed_within_a_minute() -> None:
    decoder = Decoder()
    start = time.process_time()
    with assay.timing("m2-max", program="decode", results=False) as seen:
        decoder.step()
    result = seen.result()
    assert time.process_time() - start < 60
    assert len(result.dispatches) == LAYERS * 15 + 2
    assert result.simulations < 20
    # All weights come from DRAM once: 6.6 G parameters of 2 bytes.
    assert 13.1e9 < result.bytes["dram"] < 14e9
    assert 13.2e9 / 410e9 < result.seconds < 2 * 13.2e9 / 410e9


def test_a_timeline_of_a_real_kernel_has_a_cause_for_every_cycle(tmp_path: Path) -> None:
    result = assay.time(KERNEL, chip="m1", timeline=True)
    trace = result.trace()
    simdgroups = [n for n, t in enumerate(trace.tracks) if t.name.startswith("simdgroup ")]
    assert simdgroups
    slices = trace.slices
    for number in simdgroups:
        outer = np.flatnonzero((slices.track == number) & (slices.depth == 0))
        inner = np.flatnonzero((slices.track == number) & (slices.depth == 1))
        assert len(outer) and slices.duration[outer].sum() == slices.duration[inner].sum()
        assert (slices.cause[inner] >= 0).all()
    for suffix in ("html", "pftrace", "json"):
        path = tmp_path / f"work.{suffix}"
        result.save_trace(path)
        assert path.stat().st_size > 1000


@pytest.mark.slow
def test_a_large_matrix_product_is_predicted_within_twenty_seconds() -> None:
    start = time.process_time()
    result = assay.time(Path(__file__).parent / "kernels" / "gemm.metal", chip="m4-max")
    assert time.process_time() - start < 20
    assert math.isclose(result.flops, 2 * 4096**3, rel_tol=0.02)
    assert 0.5 < result.dispatches[0].time.roofline.fraction <= 1
    functions = {each.name for each in result.dispatches[0].functions}
    assert {"load_A_tile", "load_B_tile", "compute"} <= functions


STREAMS = (
    PRELUDE
    + """
kernel void copy(device const float* x, device float* y, uint i [[thread_position_in_grid]]) {
    y[i] = x[i];
}
kernel void change(device float* x, uint i [[thread_position_in_grid]]) { x[i] = x[i] * 2 + 1; }
kernel void fill(device float* x, uint i [[thread_position_in_grid]]) { x[i] = 1; }
kernel void halves(device half4* x, uint i [[thread_position_in_grid]]) {
    half4 sum = x[i % 1024];
    for (int k = 0; k < 64; k++) sum = fma(sum, sum, half4(0.5h));
    x[i % 1024] = sum;
}
"""
)


def streamed(kernel: str, where: str) -> TimeResult:
    """The kernel on 67 MB, which most caches do not hold."""
    count = 1 << 24
    arrays = [np.zeros(count, np.float32)] * (2 if kernel == "copy" else 1)
    return assay.time(STREAMS, kernel, *arrays, threads=count, threadgroup=256, chip=where)


@pytest.mark.parametrize("where", ["m1", "m2-pro"])
def test_what_is_changed_in_place_goes_to_dram_as_what_is_copied(where: str) -> None:
    copied, changed = streamed("copy", where), streamed("change", where)
    assert changed.seconds == pytest.approx(copied.seconds, rel=0.1)


def test_a_fill_waits_for_dram() -> None:
    result = streamed("fill", "m1")
    assert result.causes["dram"] > 0.5 * result.cycles
    assert math.isclose(sum(result.causes.values()), result.cycles, rel_tol=1e-6)
    by_line = sum(each.cycles for each in result.dispatches[0].lines)
    assert math.isclose(by_line, result.cycles, rel_tol=1e-6)


@pytest.mark.parametrize("where", ["a14", "m1", "m4-max", "m5-max"])
@pytest.mark.parametrize("kernel", ["copy", "change", "fill", "halves"])
def test_nothing_is_faster_than_its_roofline(kernel: str, where: str) -> None:
    [dispatch] = streamed(kernel, where).dispatches
    assert dispatch.time.roofline.fraction <= 1.005  # What sampling may have missed.
