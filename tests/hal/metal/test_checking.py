"""`checking`: whose dispatches get the checker, and what becomes of faults."""

import threading
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from assay.hal.metal import emulated as Metal
from assay.hal.metal.emulated import DeviceOptions, MTLDevice, checking
from assay.hal.metal.emulated.commands.commands import DispatchCommand
from assay.hal.metal.emulated.engine import Engine, default_engine
from assay.sim.check import Checker, Finding
from tests.support.metal_fakes import KERNELS, fake_engine

from .test_queue import encode_kernel, pipeline

OUTSIDE = """
#include <metal_stdlib>
using namespace metal;
kernel void outside(device float* x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    x[i + 1] = 1.0f;
}
kernel void forever(device int* x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    while (x[0] != 12345) x[i] = i;
}
"""


class Recording:
    """An engine whose dispatches report a finding each, and remember their checkers."""

    def __init__(self) -> None:
        self.checkers: list[Checker | None] = []
        self.gate = threading.Event()
        self.gate.set()

    def engine(self) -> Engine:
        return replace(fake_engine(KERNELS), dispatch=self.dispatch)

    def dispatch(
        self,
        executable: object,
        memory: object,
        arguments: Sequence[int],
        *,
        checker: Checker | None = None,
        **rest: object,
    ) -> None:
        self.gate.wait(10)
        self.checkers.append(checker)
        if checker is not None:
            checker.report(
                Finding(check="race", kind="race-read-write", kernel="add_one", message="a race")
            )


@pytest.fixture
def recording() -> Recording:
    return Recording()


@pytest.fixture
def device(recording: Recording) -> MTLDevice:
    return MTLDevice(DeviceOptions(), recording.engine())


def commit(device: MTLDevice) -> Metal.MTLCommandBuffer:
    command_buffer = device.newCommandQueue().commandBuffer()
    encode_kernel(command_buffer, "fail")
    command_buffer.commit()
    return command_buffer


def test_code_is_made_for_the_checks_that_run_and_for_no_other() -> None:
    kernel = replace(KERNELS["fail"], observers=[])
    recording = Recording()
    device = MTLDevice(
        DeviceOptions(), replace(fake_engine({"fail": kernel}), dispatch=recording.dispatch)
    )
    with checking(Checker({"race", "budget"})):
        commit(device).waitUntilCompleted()
    assert kernel.observers == [{"race"}]
    commit(device).waitUntilCompleted()
    assert kernel.observers == [{"race"}, set()]


def test_the_first_small_dispatches_under_checks_take_code_that_is_made_quickly() -> None:
    kernel = replace(KERNELS["fail"], observers=[], quickly=[])
    recording = Recording()
    device = MTLDevice(
        DeviceOptions(), replace(fake_engine({"fail": kernel}), dispatch=recording.dispatch)
    )
    state = pipeline(device, "fail")

    def run(threadgroups: int, times: int = 1) -> None:
        command_buffer = device.newCommandQueue().commandBuffer()
        encoder = command_buffer.computeCommandEncoder()
        encoder.setComputePipelineState_(state)
        for _ in range(times):
            encoder.dispatchThreadgroups_threadsPerThreadgroup_((threadgroups, 1, 1), (64, 1, 1))
        encoder.endEncoding()
        command_buffer.commit()
        command_buffer.waitUntilCompleted()

    run(1)
    assert kernel.quickly == [False]  # nothing watches it
    with checking(Checker({"race"})):
        run(128)
        assert kernel.quickly == [False, True]
        run(129)
        assert kernel.quickly == [False, True, False]
        run(1, 40)
        assert kernel.quickly == [False, True, False]  # some of either kind, made before
    with checking(Checker({"bounds"})):
        run(1)
    assert kernel.quickly == [False, True, False, False]  # it has run often


def test_dispatches_get_the_checker_only_inside_the_block(
    device: MTLDevice, recording: Recording
) -> None:
    checker = Checker()
    commit(device).waitUntilCompleted()
    with checking(checker) as given:
        assert given is checker
        commit(device).waitUntilCompleted()
    commit(device).waitUntilCompleted()
    assert recording.checkers == [None, checker, None]
    assert [finding.kind for finding in checker.findings] == ["race-read-write"]


def test_what_is_committed_inside_is_checked_when_it_runs_later(
    device: MTLDevice, recording: Recording
) -> None:
    checker = Checker()
    recording.gate.clear()
    with checking(checker):
        late = commit(device)
    recording.gate.set()
    late.waitUntilCompleted()
    assert recording.checkers == [checker]


def test_the_innermost_block_counts_whichever_thread_opened_it(
    device: MTLDevice, recording: Recording
) -> None:
    outer, inner = Checker(), Checker()
    with checking(outer):
        with checking(inner):
            thread = threading.Thread(target=lambda: commit(device).waitUntilCompleted())
            thread.start()
            thread.join()
        commit(device).waitUntilCompleted()
    assert recording.checkers == [inner, outer]


def test_an_observer_hears_of_pipelines_and_dispatches(device: MTLDevice) -> None:
    class Observer:
        def __init__(self) -> None:
            self.heard: list[str] = []

        def pipeline_made(self, pipeline: Metal.MTLComputePipelineState) -> None:
            self.heard.append(f"pipeline {pipeline.kernel.name}")

        def dispatch_begins(self, device: MTLDevice, command: DispatchCommand) -> None:
            self.heard.append(f"dispatch {command.threads}")

        def buffer_committed(self, buffer: Metal.MTLCommandBuffer) -> None:
            self.heard.append("committed")

        def buffer_ended(self, buffer: Metal.MTLCommandBuffer, error: Exception | None) -> None:
            self.heard.append(f"ended, {error}")

    observer = Observer()
    pipeline(device, "fail")
    with checking(Checker(), observer=observer):
        commit(device).waitUntilCompleted()
    assert observer.heard == ["pipeline fail", "committed", "dispatch (1, 1, 1)", "ended, None"]


def run_real(name: str, fuel: int | None = None) -> tuple[Metal.MTLCommandBuffer, Checker]:
    device = MTLDevice(DeviceOptions(fuel=fuel), default_engine())
    library, error = device.newLibraryWithSource_options_error_(OUTSIDE, None, None)
    assert library is not None, error
    function = library.newFunctionWithName_(name)
    state, error = device.newComputePipelineStateWithFunction_error_(function, None)
    assert state is not None, error
    buffer = device.newBufferWithBytes_length_options_(np.zeros(64, np.float32), 256, 0)
    checker = Checker(["bounds"])
    with checking(checker):
        command_buffer = device.newCommandQueue().commandBuffer()
        encoder = command_buffer.computeCommandEncoder()
        encoder.setComputePipelineState_(state)
        encoder.setBuffer_offset_atIndex_(buffer, 0, 0)
        encoder.dispatchThreads_threadsPerThreadgroup_((64, 1, 1), (64, 1, 1))
        encoder.endEncoding()
        command_buffer.commit()
        command_buffer.waitUntilCompleted()
    return command_buffer, checker


def test_an_access_out_of_bounds_is_a_finding_and_still_fails_the_command_buffer() -> None:
    command_buffer, checker = run_real("outside")
    assert command_buffer.status() == Metal.MTLCommandBufferStatusError
    [finding] = checker.findings
    assert (finding.check, finding.kind) == ("bounds", "out-of-bounds-write")
    assert (finding.kernel, finding.offset, finding.site.line) == ("outside", 256, 5)
    assert "x" in finding.memory
    [party] = finding.parties
    assert party.what == "write of 4 bytes"
    assert (party.thread, party.simdgroup, party.lane) == ((63, 0, 0), 1, 31)
    assert "program_source.metal:5" in str(finding)


def test_a_loop_without_end_is_a_finding() -> None:
    command_buffer, checker = run_real("forever", fuel=100_000)
    assert command_buffer.status() == Metal.MTLCommandBufferStatusError
    [finding] = checker.findings
    assert (finding.check, finding.kind, finding.site.line) == ("bounds", "runaway", 8)
    assert finding.offset == -1 and finding.memory == ""
