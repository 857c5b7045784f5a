"""Replays give the recorded bits, and say which differ, where, and by which line."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.compiler.air.container import read_container
from assay.hal.metal.recorder.reached import Reached
from assay.hal.recordings import MemoryRecord, Recording
from assay.recordings import Limits, Tolerances, replay
from tests.support import metallib
from tests.support.recorded import SIZE, floats, pipeline, record, scale
from tests.support.recording_files import (
    Change,
    contents,
    packed_size,
    taken_apart,
    with_other_part,
)

HEAD = "#include <metal_stdlib>\nusing namespace metal;\n"
COPY = (
    HEAD
    + """
kernel void copy(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                 uint i [[thread_position_in_grid]]) { y[i] = x[i]; }
"""
)
RACE = (
    HEAD
    + """
kernel void race(device float* y [[buffer(0)]], uint i [[thread_position_in_grid]]) { y[0] = i; }
"""
)
POINTERS = (
    HEAD
    + """
struct Both { device float* from; device float* to; };
kernel void follow(constant Both& both [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    both.to[i] = both.from[i] + 1.0f;
}
struct Members { device float* from [[id(0)]]; device float* to [[id(1)]]; };
kernel void encoded(constant Members& both [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    both.to[i] = both.from[i] + 1.0f;
}
constant uint STEP [[function_constant(3)]];
kernel void constants(device uint* y [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    y[i] += STEP;
}
"""
)
DOUBLED = np.arange(2, 18, 2).astype(np.float32).tobytes()  # what `scale` leaves


def flipped(bit: int) -> Change:
    def flip(data: bytes) -> bytes:
        other = bytearray(data)
        other[bit // 8] ^= 1 << bit % 8
        return bytes(other)

    return flip


def run(
    metal: Any, device: Any, state: Any, buffers: Sequence[Any], used: Sequence[Any] = ()
) -> None:
    """One dispatch of eight threads."""
    commands = device.newCommandQueue().commandBuffer()
    encoder = commands.computeCommandEncoder()
    encoder.setComputePipelineState_(state)
    for index, buffer in enumerate(buffers):
        encoder.setBuffer_offset_atIndex_(buffer, 0, index)
    usage = metal.MTLResourceUsageRead | metal.MTLResourceUsageWrite
    for buffer in used:
        encoder.useResource_usage_(buffer, usage)
    encoder.dispatchThreads_threadsPerThreadgroup_(SIZE, SIZE)
    encoder.endEncoding()
    commands.commit()
    commands.waitUntilCompleted()
    assert commands.error() is None


def test_a_recording_replays_equal(tmp_path: Path) -> None:
    record(tmp_path / "a", lambda metal: scale(metal, 4))
    result = replay(tmp_path / "a")
    assert result.passed
    assert [each.verdict for each in result.dispatches] == ["equal"] * 4
    assert [each.buffers for each in result.dispatches] == [2] * 4
    assert "4 dispatches replayed: 4 equal; checks: no findings" in str(result)
    json.dumps(result.to_json())


@pytest.mark.parametrize("bit", [0, 77, 255])
def test_a_single_flipped_bit_is_found_and_named_with_the_line(tmp_path: Path, bit: int) -> None:
    record(tmp_path / "a", scale)
    result = replay(with_other_part(tmp_path / "a", flipped(bit), DOUBLED), checks=None)
    (dispatch,) = result.different
    (difference,) = dispatch.differences
    assert (difference.buffer, difference.index, difference.different) == ("y", bit // 32, 1)
    assert difference.here == 2 * (bit // 32 + 1)
    assert difference.places == ("program_source.metal:6",)
    assert not result.passed
    assert f"y: 1 of 8 elements (f32), at most {difference.max_ulp:,} ulp" in str(result)
    assert "written at program_source.metal:6" in str(result)


def test_what_the_host_writes_meanwhile_where_a_kernel_only_reads_is_no_difference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rings = []

    def frames(metal: Any) -> None:
        device = metal.MTLCreateSystemDefaultDevice()
        rings.append(floats(device, np.ones(16)))
        run(metal, device, pipeline(metal, device, COPY, "copy"), [*rings, floats(device, [0] * 8)])

    def after(reached: Reached) -> tuple[MemoryRecord, ...]:
        contents = rings[0].contents().as_buffer(64)
        np.frombuffer(contents, np.float32)[8:] = 7.0  # the next frame's
        return read(reached)

    read = Reached.after
    monkeypatch.setattr(Reached, "after", after)
    (dispatch,) = record(tmp_path / "a", frames)
    assert dispatch.memories[0].after is not None
    result = replay(tmp_path / "a")
    assert result.passed
    assert [each.buffers for each in result.dispatches] == [1]


def test_a_difference_within_tolerance_is_close(tmp_path: Path) -> None:
    record(tmp_path / "a", scale)
    other = with_other_part(tmp_path / "a", flipped(0), DOUBLED)
    near = replay(other, tolerances=Tolerances(kernels={"sc*": Limits(ulp=1)}))
    assert ([each.verdict for each in near.dispatches], near.passed) == (["close"], True)
    far = replay(other, tolerances=Tolerances(kernels={"other": Limits(ulp=1)}))
    assert not far.passed


def test_zeros_of_either_sign_differ_and_nans_of_other_bits_unless_allowed(tmp_path: Path) -> None:
    left = np.array([0.0, np.nan, *[1.0] * 6], np.float32)

    def special(metal: Any) -> None:
        device = metal.MTLCreateSystemDefaultDevice()
        buffers = [floats(device, -left), floats(device, np.full(8, 9))]
        negate = COPY.replace("= x[i]", "= -x[i]")
        run(metal, device, pipeline(metal, device, negate, "copy"), buffers)

    record(tmp_path / "a", special)
    (after,) = contents(tmp_path / "a", "after")
    nan = with_other_part(tmp_path / "a", flipped(32), after)
    found = replay(nan)
    assert [each.index for each in found.different[0].differences] == [1]
    assert "here nan (0x7fc00000), recorded nan (0x7fc00001)" in str(found)
    for allowed in (Limits(any_nan=True), Limits(atol=1e-9)):
        near = replay(nan, tolerances=Tolerances(default=allowed))
        assert ([each.verdict for each in near.dispatches], near.passed) == (["close"], True)
    other = replay(with_other_part(tmp_path / "a", flipped(31), after))  # the sign of zero
    assert [each.index for each in other.different[0].differences] == [0]


def test_addresses_that_programs_write_are_followed_here(tmp_path: Path) -> None:
    def follow(metal: Any) -> None:
        device = metal.MTLCreateSystemDefaultDevice()
        x, y = floats(device, np.arange(8)), floats(device, np.zeros(8))
        words = np.array([x.gpuAddress(), y.gpuAddress()], np.uint64)
        both = device.newBufferWithBytes_length_options_(words, 16, 0)
        run(metal, device, pipeline(metal, device, POINTERS, "follow"), [both], [x, y])

    (found,) = record(tmp_path / "a", follow)
    assert sum(each.after is not None for each in found.memories) == 1
    assert replay(tmp_path / "a").passed


@pytest.mark.parametrize("by", ["heap", "encoder", "command buffer", "queue", "set of heap"])
def test_what_is_reached_through_heaps_and_residency_sets_is_recorded(
    tmp_path: Path, by: str
) -> None:
    def follow(metal: Any) -> None:
        device = metal.MTLCreateSystemDefaultDevice()
        described = metal.MTLHeapDescriptor.new()
        described.setSize_(1 << 16)
        described.setStorageMode_(metal.MTLStorageModeShared)
        heap = device.newHeapWithDescriptor_(described)
        buffers = [heap.newBufferWithLength_options_(32, 0) for _ in range(2)]
        buffers[0].contents().as_buffer(32)[:] = np.arange(8, dtype=np.float32).tobytes()
        words = np.array([each.gpuAddress() for each in buffers], np.uint64)
        both = device.newBufferWithBytes_length_options_(words, 16, 0)
        make = metal.MTLResidencySetDescriptor.new()
        resident, error = device.newResidencySetWithDescriptor_error_(make, None)
        assert error is None
        resident.addAllocations_count_(
            [heap] if by == "set of heap" else buffers, 1 + (by[0] != "s")
        )
        resident.commit()
        queue = device.newCommandQueue()
        if by == "queue":
            queue.addResidencySet_(resident)
        commands = queue.commandBuffer()
        if by in ("command buffer", "set of heap"):
            commands.useResidencySet_(resident)
        encoder = commands.computeCommandEncoder()
        encoder.setComputePipelineState_(pipeline(metal, device, POINTERS, "follow"))
        encoder.setBuffer_offset_atIndex_(both, 0, 0)
        usage = metal.MTLResourceUsageRead | metal.MTLResourceUsageWrite
        if by == "heap":
            encoder.useHeap_(heap)
        elif by == "encoder":
            encoder.useResources_count_usage_(buffers, 2, usage)
        for _ in range(2):
            encoder.dispatchThreads_threadsPerThreadgroup_(SIZE, SIZE)
        encoder.endEncoding()
        commands.commit()
        commands.waitUntilCompleted()
        assert commands.error() is None, commands.error().localizedDescription()

    found = record(tmp_path / "a", follow)
    assert [len(each.memories) for each in found] == [3, 3]
    result = replay(tmp_path / "a")
    assert result.passed, str(result)


def test_argument_buffers_that_encoders_wrote_are_written_anew(tmp_path: Path) -> None:
    def encoded(metal: Any) -> None:
        device = metal.MTLCreateSystemDefaultDevice()
        x, y = floats(device, np.arange(8)), floats(device, np.zeros(8))
        library, _ = device.newLibraryWithSource_options_error_(POINTERS, None, None)
        function = library.newFunctionWithName_("encoded")
        encoder = function.newArgumentEncoderWithBufferIndex_(0)
        both = device.newBufferWithLength_options_(encoder.encodedLength(), 0)
        encoder.setArgumentBuffer_offset_(both, 0)
        encoder.setBuffers_offsets_withRange_([x, y], [0, 0], (0, 2))
        state, _ = device.newComputePipelineStateWithFunction_error_(function, None)
        run(metal, device, state, [both], [x, y])

    (found,) = record(tmp_path / "a", encoded)
    assert [each.index for each in found.encoded[0].members] == [0, 1]
    result = replay(tmp_path / "a")
    assert (result.passed, result.dispatches[0].buffers) == (True, 2)


def test_constants_and_macros_and_options_are_those_of_the_program(tmp_path: Path) -> None:
    def constants(metal: Any) -> None:
        device = metal.MTLCreateSystemDefaultDevice()
        options = metal.MTLCompileOptions.new()
        options.setPreprocessorMacros_({"TWICE": 2})
        options.setFastMathEnabled_(False)
        source = POINTERS.replace("+= STEP", "+= STEP * TWICE")
        library, error = device.newLibraryWithSource_options_error_(source, options, None)
        assert library is not None, error
        values = metal.MTLFunctionConstantValues.alloc().init()
        step = np.uint32(7).tobytes()
        values.setConstantValue_type_atIndex_(step, metal.MTLDataTypeUInt, 3)
        named = library.newFunctionWithName_constantValues_error_("constants", values, None)
        described = metal.MTLComputePipelineDescriptor.new()
        described.setComputeFunction_(named[0])
        make = "newComputePipelineStateWithDescriptor_options_reflection_error_"
        state = getattr(device, make)(described, 0, None, None)[0]
        y = floats(device, np.zeros(8))
        run(metal, device, state, [y])
        assert np.frombuffer(y.contents().as_buffer(32), np.uint32).tolist() == [14] * 8

    record(tmp_path / "a", constants)
    assert replay(tmp_path / "a").passed


def test_findings_of_checks_are_part_of_a_replay(tmp_path: Path) -> None:
    def racing(metal: Any) -> None:
        device = metal.MTLCreateSystemDefaultDevice()
        run(metal, device, pipeline(metal, device, RACE, "race"), [floats(device, np.zeros(8))])

    record(tmp_path / "a", racing)
    result = replay(tmp_path / "a")
    assert [each.verdict for each in result.dispatches] == ["equal"]
    assert result.report is not None
    assert len(result.report.errors) == 1
    assert not result.passed
    assert "race" in str(result.report.errors[0].check)
    assert str(result.report.errors[0].message) in str(result)
    assert replay(tmp_path / "a", checks=None).passed


def test_kernels_that_do_not_compile_here_are_not_replayed_and_say_why(tmp_path: Path) -> None:
    record(tmp_path / "a", scale)
    parts = taken_apart(tmp_path / "a").parts
    (source,) = [part for part in parts if b"kernel void scale" in part]
    broken = with_other_part(
        tmp_path / "a", lambda data: data.replace(b"float* y", b"nosuc* y"), source
    )
    result = replay(broken)
    assert not result.passed
    assert "nosuc" in result.not_replayed[0].problem
    assert "was not replayed: " in str(result)


def test_times_are_predicted_for_the_recorded_chip_and_shown_on_one_axis(tmp_path: Path) -> None:
    record(tmp_path / "a", lambda metal: scale(metal, 2))
    result = replay(tmp_path / "a", timeline=True)
    assert result.chip == "m1"
    assert all(each.predicted for each in result.dispatches)
    assert result.trace is not None
    runs = [each.name for each in result.trace.tracks if each.parent == -1]
    assert runs == ["recorded", "predicted"]
    # What an emulated device took is not to be read as what the chip takes.
    assert "Apple M1 (emulated)" in [each.name for each in result.trace.tracks]
    assert replay(tmp_path / "a", chip="").dispatches[0].predicted is None


def test_of_a_compiled_library_only_functions_that_ran_are_recorded(tmp_path: Path) -> None:
    """Libraries of Apple's compiler have thousands of kernels."""
    body = "  store float {}, ptr addrspace(1) %b0"
    buffers = (metallib.Buffer(name="x", element="float"),)
    modules = {
        name: metallib.kernel(name, body.format(value), buffers)
        for name, value in (("one", "1.0"), ("two", "2.0"), ("three", "3.0"))
    }

    def program(metal: Any) -> None:
        device = metal.MTLCreateSystemDefaultDevice()
        library, _ = device.newLibraryWithData_error_(metallib.library(modules), None)
        queue = device.newCommandQueue()
        for name in ("one", "three", "one"):
            function = library.newFunctionWithName_(name)
            state, _ = device.newComputePipelineStateWithFunction_error_(function, None)
            commands = queue.commandBuffer()
            encoder = commands.computeCommandEncoder()
            encoder.setComputePipelineState_(state)
            encoder.setBuffer_offset_atIndex_(floats(device, [0.0]), 0, 0)
            encoder.dispatchThreadgroups_threadsPerThreadgroup_((1, 1, 1), (1, 1, 1))
            encoder.endEncoding()
            commands.commit()
            commands.waitUntilCompleted()

    record(tmp_path / "a", program)
    with Recording(tmp_path / "a") as recording:
        libraries = [bytes(recording.contents(each.data)) for each in recording.header.libraries]
    assert [list(read_container(each, "l").functions) for each in libraries] == [["one"], ["three"]]
    result = replay(tmp_path / "a", checks=None, chip="")
    assert [each.verdict for each in result.dispatches] == ["equal"] * 3


@pytest.mark.parametrize("sizes", [(16,), (64,), (4096,), (16, 64, 1024, 4096)])
def test_a_thousand_dispatches_replay_equal_and_are_little_more_than_their_buffers(
    tmp_path: Path, sizes: tuple[int, ...]
) -> None:
    draw = np.random.default_rng(5)

    def many(metal: Any) -> None:
        device = metal.MTLCreateSystemDefaultDevice()
        state = pipeline(metal, device, COPY.replace("= x[i]", "= x[i] * x[i] + 1"), "copy")
        queue = device.newCommandQueue()
        for number in range(1000):
            count = sizes[number % len(sizes)] // 4
            buffers = [floats(device, draw.standard_normal(count)), floats(device, np.zeros(count))]
            commands = queue.commandBuffer()
            encoder = commands.computeCommandEncoder()
            encoder.setComputePipelineState_(state)
            for index, buffer in enumerate(buffers):
                encoder.setBuffer_offset_atIndex_(buffer, 0, index)
            encoder.dispatchThreads_threadsPerThreadgroup_((count, 1, 1), (min(count, 64), 1, 1))
            encoder.endEncoding()
            commands.commit()
            commands.waitUntilCompleted()

    record(tmp_path / "a", many)
    parts = taken_apart(tmp_path / "a").parts
    buffers = packed_size(part for part in parts if b"kernel void" not in part)
    assert (tmp_path / "a").stat().st_size <= 1.3 * buffers
    result = replay(tmp_path / "a", checks=None, chip="")
    assert [each.verdict for each in result.dispatches] == ["equal"] * 1000
