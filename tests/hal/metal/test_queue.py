"""Queues, command buffers, events: order, waiting, handlers, errors."""

import gc
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from assay.hal.metal import emulated as Metal
from assay.hal.metal.emulated import MetalValidationError, MTLBuffer, MTLDevice
from tests.support.metal_fakes import KERNELS, FakeKernel, fake_device

ROOT = Path(__file__).parents[3]
COMPLETED = Metal.MTLCommandBufferStatusCompleted
FAILED = Metal.MTLCommandBufferStatusError


@pytest.fixture
def device() -> MTLDevice:
    return fake_device()


def pipeline(device: MTLDevice, name: str) -> Metal.MTLComputePipelineState:
    library, error = device.newLibraryWithSource_options_error_("kernels", None, None)
    assert error is None and library is not None
    state, error = device.newComputePipelineStateWithFunction_error_(
        library.newFunctionWithName_(name), None
    )
    assert error is None and state is not None
    return state


def integers(device: MTLDevice, values: list[int]) -> MTLBuffer:
    data = np.array(values, dtype=np.int32)
    return device.newBufferWithBytes_length_options_(data, data.nbytes, 0)


def read(buffer: MTLBuffer) -> list[int]:
    return np.frombuffer(buffer.contents().as_buffer(buffer.length()), dtype=np.int32).tolist()


def encode_add_one(command_buffer: Metal.MTLCommandBuffer, a: MTLBuffer, b: MTLBuffer) -> None:
    encoder = command_buffer.computeCommandEncoder()
    encoder.setComputePipelineState_(pipeline(command_buffer.device(), "add_one"))
    encoder.setBuffer_offset_atIndex_(a, 0, 0)
    encoder.setBuffer_offset_atIndex_(b, 0, 1)
    encoder.dispatchThreads_threadsPerThreadgroup_((a.length() // 4, 1, 1), (32, 1, 1))
    encoder.endEncoding()


def encode_kernel(command_buffer: Metal.MTLCommandBuffer, name: str) -> None:
    encoder = command_buffer.computeCommandEncoder()
    encoder.setComputePipelineState_(pipeline(command_buffer.device(), name))
    encoder.dispatchThreads_threadsPerThreadgroup_((1, 1, 1), (1, 1, 1))
    encoder.endEncoding()


def test_a_dispatch_reads_and_writes_shared_buffers(device: MTLDevice) -> None:
    a, b = integers(device, [1, 2, 3]), integers(device, [0, 0, 0])
    command_buffer = device.newCommandQueue().commandBuffer()
    encode_add_one(command_buffer, a, b)
    assert command_buffer.status() == Metal.MTLCommandBufferStatusNotEnqueued
    command_buffer.commit()
    command_buffer.waitUntilCompleted()
    assert command_buffer.status() == COMPLETED and command_buffer.error() is None
    assert read(b) == [2, 3, 4]
    assert 0 < command_buffer.GPUStartTime() <= command_buffer.GPUEndTime()


def test_command_buffers_run_in_order_of_enqueueing_not_of_commit(device: MTLDevice) -> None:
    queue = device.newCommandQueue()
    a, b = integers(device, [1]), integers(device, [10])
    first, second = queue.commandBuffer(), queue.commandBuffer()
    first.enqueue()
    encode_add_one(second, b, a)
    second.commit()
    time.sleep(0.02)
    assert second.status() == Metal.MTLCommandBufferStatusCommitted
    encode_add_one(first, a, b)
    first.commit()
    second.waitUntilCompleted()
    assert (read(a), read(b)) == ([3], [2])


def test_handlers_run_in_order_before_the_wait_returns(device: MTLDevice) -> None:
    seen: list[object] = []
    command_buffer = device.newCommandQueue().commandBuffer()
    command_buffer.addScheduledHandler_(lambda buffer: seen.append("scheduled"))
    command_buffer.addCompletedHandler_(lambda buffer: seen.append(buffer.status()))
    command_buffer.addCompletedHandler_(lambda buffer: buffer.waitUntilCompleted())
    command_buffer.addCompletedHandler_(lambda buffer: seen.append("last"))
    command_buffer.commit()
    command_buffer.waitUntilCompleted()
    assert seen == ["scheduled", COMPLETED, "last"]


def test_a_completion_handler_may_wait_for_later_work_of_the_same_queue(device: MTLDevice) -> None:
    queue = device.newCommandQueue()
    first, second = queue.commandBuffer(), queue.commandBuffer()
    event = device.newSharedEvent()
    first.encodeWaitForEvent_value_(event, 1)
    first.addCompletedHandler_(lambda buffer: second.waitUntilCompleted())
    first.commit()
    second.commit()
    event.setSignaledValue_(1)
    first.waitUntilCompleted()
    assert second.status() == COMPLETED


def test_a_handler_that_raises_is_reported_and_stops_nothing(
    device: MTLDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[object] = []
    monkeypatch.setattr(threading, "excepthook", lambda report: seen.append(report.exc_type))
    queue = device.newCommandQueue()
    command_buffer = queue.commandBuffer()
    command_buffer.addCompletedHandler_(lambda buffer: 1 / 0)  # type: ignore[arg-type,return-value]
    command_buffer.addCompletedHandler_(lambda buffer: seen.append("after"))
    command_buffer.commit()
    command_buffer.waitUntilCompleted()
    assert seen == [ZeroDivisionError, "after"]


def test_a_fault_fails_its_command_buffer_and_the_queue_goes_on(device: MTLDevice) -> None:
    queue = device.newCommandQueue()
    a, b = integers(device, [1]), integers(device, [0])
    bad = queue.commandBuffer()
    encode_kernel(bad, "fail")
    encode_add_one(bad, b, a)
    good = queue.commandBuffer()
    encode_add_one(good, a, b)
    bad.commit()
    good.commit()
    good.waitUntilCompleted()
    error = bad.error()
    assert bad.status() == FAILED and error is not None
    assert error.domain() == Metal.MTLCommandBufferErrorDomain
    assert error.code() == Metal.MTLCommandBufferErrorPageFault
    assert error.localizedDescription() == "kernel 'fail' writes outside"
    assert getattr(error.cause, "kind", None) == "out-of-bounds write"
    assert (good.status(), read(a), read(b)) == (COMPLETED, [1], [2])


def test_a_defect_of_the_emulator_is_told_from_a_fault_of_the_kernel() -> None:
    def defect(*given: object) -> None:
        raise IndexError("list index out of range")

    device = fake_device(kernels={"defect": FakeKernel("defect", defect, [])})
    command_buffer = device.newCommandQueue().commandBuffer()
    encode_kernel(command_buffer, "defect")
    command_buffer.commit()
    command_buffer.waitUntilCompleted()
    error = command_buffer.error()
    assert error is not None and error.code() == Metal.MTLCommandBufferErrorInternal
    assert error.localizedDescription() == (
        "internal error of the emulator, IndexError: list index out of range"
    )


def test_an_event_orders_two_queues(device: MTLDevice) -> None:
    event = device.newEvent()
    a, b = integers(device, [1]), integers(device, [0])
    waiting = device.newCommandQueue().commandBuffer()
    waiting.encodeWaitForEvent_value_(event, 1)
    encode_add_one(waiting, b, a)
    waiting.commit()
    time.sleep(0.02)
    assert waiting.status() == Metal.MTLCommandBufferStatusScheduled
    signalling = device.newCommandQueue().commandBuffer()
    encode_add_one(signalling, a, b)
    signalling.encodeSignalEvent_value_(event, 1)
    signalling.commit()
    waiting.waitUntilCompleted()
    assert (read(a), read(b)) == ([3], [2])


def test_the_host_signals_waits_and_is_notified(device: MTLDevice) -> None:
    event = device.newSharedEvent()
    listener = Metal.MTLSharedEventListener.alloc().init()
    told: list[int] = []
    done = threading.Event()

    def tell(source: Metal.MTLSharedEvent, value: int) -> None:
        assert source is event
        told.append(value)
        if value >= 3:
            done.set()

    event.notifyListener_atValue_block_(listener, 1, tell)
    event.notifyListener_atValue_block_(listener, 3, tell)
    command_buffer = device.newCommandQueue().commandBuffer()
    command_buffer.encodeWaitForEvent_value_(event, 1)
    command_buffer.encodeSignalEvent_value_(event, 3)
    command_buffer.commit()
    assert not event.waitUntilSignaledValue_timeoutMS_(3, 10)
    event.setSignaledValue_(1)
    assert event.waitUntilSignaledValue_timeoutMS_(3, 5000)
    assert done.wait(5) and told == [1, 3]
    assert event.signaledValue() == 3
    event.notifyListener_atValue_block_(listener, 2, tell)
    while len(told) < 3:
        time.sleep(0.001)
    assert told == [1, 3, 3]


def test_a_failure_ends_the_waits_for_what_it_would_have_signalled(device: MTLDevice) -> None:
    event = device.newSharedEvent()
    waiting = device.newCommandQueue().commandBuffer()
    waiting.encodeWaitForEvent_value_(event, 2)
    waiting.commit()
    bad = device.newCommandQueue().commandBuffer()
    encode_kernel(bad, "fail")
    bad.encodeSignalEvent_value_(event, 2)
    bad.commit()
    waiting.waitUntilCompleted()
    error = waiting.error()
    assert waiting.status() == FAILED and error is not None
    assert "kernel 'fail' writes outside" in error.localizedDescription()
    assert not event.waitUntilSignaledValue_timeoutMS_(2, 60_000)


def test_a_full_queue_makes_the_program_wait_for_a_place(device: MTLDevice) -> None:
    event = device.newSharedEvent()
    queue = device.newCommandQueueWithMaxCommandBufferCount_(2)
    first, dropped = queue.commandBuffer(), queue.commandBuffer()
    first.encodeWaitForEvent_value_(event, 1)
    first.commit()
    del dropped
    second = queue.commandBuffer()
    second.commit()
    threading.Timer(0.05, event.setSignaledValue_, (1,)).start()
    begin = time.monotonic()
    queue.commandBuffer()
    assert time.monotonic() - begin > 0.02


@pytest.mark.parametrize(
    ("misuse", "message"),
    [
        (
            lambda c: (c.commit(), c.commit()),
            r"commit: <MTLCommandBuffer> is committed; take a new",
        ),
        (lambda c: (c.enqueue(), c.enqueue()), "is in the queue already"),
        (lambda c: (c.computeCommandEncoder(), c.commit()), "still encoding .* call its endEnc"),
        (lambda c: (c.computeCommandEncoder(), c.blitCommandEncoder()), "still encoding"),
        (lambda c: c.waitUntilCompleted(), "is not committed, so the wait would never end"),
        (lambda c: (c.commit(), c.addCompletedHandler_(print)), "add handlers before commit"),
        (lambda c: c.addCompletedHandler_(3), "must be callable, and is 3"),
        (lambda c: c.encodeSignalEvent_value_(c, 1), "event must be an MTLEvent, and is MTLCom"),
        (lambda c: c.encodeWaitForEvent_value_(fake_device().newEvent(), 1), "take a shared event"),
        (lambda c: c.popDebugGroup(), "call pushDebugGroup_ first"),
    ],
)
def test_misuse_of_a_command_buffer_is_refused(
    device: MTLDevice, misuse: Callable[[Metal.MTLCommandBuffer], object], message: str
) -> None:
    with pytest.raises(MetalValidationError, match=message):
        misuse(device.newCommandQueue().commandBuffer())


def test_buffers_live_as_long_as_a_command_buffer_that_retains_them(device: MTLDevice) -> None:
    event = device.newSharedEvent()
    queue = device.newCommandQueue()
    b = integers(device, [0])
    outcomes = []
    for make in (queue.commandBuffer, queue.commandBufferWithUnretainedReferences):
        a = integers(device, [5])
        command_buffer = make()
        command_buffer.encodeWaitForEvent_value_(event, 1)
        encode_add_one(command_buffer, a, b)
        command_buffer.commit()
        del a
        outcomes.append(command_buffer)
    event.setSignaledValue_(1)
    for command_buffer in outcomes:
        command_buffer.waitUntilCompleted()
    assert [command_buffer.status() for command_buffer in outcomes] == [COMPLETED, FAILED]
    assert read(b) == [6]


def test_memory_is_given_back_when_the_last_reference_goes(device: MTLDevice) -> None:
    memory = device.memory.memory
    queue = device.newCommandQueue()
    for _ in range(3):
        a = integers(device, [1])
        command_buffer = queue.commandBuffer()
        encoder = command_buffer.computeCommandEncoder()
        encoder.setComputePipelineState_(pipeline(device, "add_one"))
        encoder.setBytes_length_atIndex_(b"\1\0\0\0", 4, 0)
        encoder.setBuffer_offset_atIndex_(a, 0, 1)
        encoder.dispatchThreads_threadsPerThreadgroup_((1, 1, 1), (1, 1, 1))
        encoder.endEncoding()
        command_buffer.commit()
        command_buffer.waitUntilCompleted()
    assert read(a) == [2]
    del a, encoder, command_buffer
    time.sleep(0.02)
    gc.collect()
    assert memory.buffers == {} and device.currentAllocatedSize() == 0  # type: ignore[attr-defined]


def test_kernels_are_specialised_once_per_threadgroup_size() -> None:
    kernel = FakeKernel("nothing", lambda *given: None, [])
    device = fake_device(kernels=KERNELS | {"nothing": kernel})
    state = pipeline(device, "nothing")
    command_buffer = device.newCommandQueue().commandBuffer()
    encoder = command_buffer.computeCommandEncoder()
    encoder.setComputePipelineState_(state)
    for size in ((8, 1, 1), (8, 1, 1), (4, 2, 1)):
        encoder.dispatchThreadgroups_threadsPerThreadgroup_((1, 1, 1), size)
    encoder.dispatchThreadgroups_threadsPerThreadgroup_((0, 1, 1), (2, 1, 1))
    encoder.endEncoding()
    command_buffer.commit()
    command_buffer.waitUntilCompleted()
    assert kernel.specialised == [(8, 1, 1), (4, 2, 1)]


DEADLOCK = """
from tests.support.metal_fakes import fake_device
device = fake_device()
event = device.newEvent()
command_buffer = device.newCommandQueue().commandBuffer()
command_buffer.encodeWaitForEvent_value_(event, 1)
command_buffer.commit()
"""

INTERRUPT = (
    DEADLOCK
    + """
import _thread, signal, threading
# A shell's background job starts with the signal ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
threading.Timer(0.1, _thread.interrupt_main).start()
try:
    command_buffer.waitUntilCompleted()
except KeyboardInterrupt:
    print("interrupted")
"""
)


@pytest.mark.parametrize(("program", "output"), [(DEADLOCK, ""), (INTERRUPT, "interrupted\n")])
def test_a_wait_that_nobody_ends_holds_up_neither_exit_nor_interrupt(
    program: str, output: str
) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, output, "")
