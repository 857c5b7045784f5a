"""IREE's command buffers on the emulated Metal: what barriers and fences of the HAL order."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from assay.hal.buffer import Buffer
from assay.hal.device import BufferRef
from assay.hal.flags import BufferUsage, MemoryType
from assay.hal.metal import emulated
from assay.hal.metal.device import MetalDevice
from assay.hal.metal.driver import MetalDriver
from assay.hal.metal.emulated.order.guard import guard
from assay.hal.semaphore import Fence

from .script import findings, kinds

HOST = MemoryType.HOST_LOCAL | MemoryType.DEVICE_VISIBLE
USAGE = BufferUsage.DEFAULT | BufferUsage.MAPPING
# A pattern that a kernel writes, and one that a blit can.
KERNEL, BLIT = b"\1\2\3\4", b"\5"


@pytest.fixture(scope="module")
def device() -> MetalDevice:
    return MetalDriver(emulated).open()


def fences(device: MetalDevice) -> Iterator[Fence]:
    while True:
        yield Fence(((device.create_semaphore(0), 1),))


def memory(device: MetalDevice) -> Buffer:
    return device.allocator.allocate(HOST, USAGE, 256)


@pytest.mark.parametrize("second", [KERNEL, BLIT], ids=["kernels", "kernel and blit"])
@pytest.mark.parametrize("barrier", [False, True])
def test_commands_of_one_recording_need_barriers(
    device: MetalDevice, second: bytes, barrier: bool
) -> None:
    done = next(fences(device))
    with findings() as found:
        target = memory(device)
        commands = device.create_command_buffer(0, 0)
        commands.fill(BufferRef(target, 0, 0, 256), KERNEL)
        if barrier:
            commands.execution_barrier()
        commands.fill(BufferRef(target, 0, 64, 64), second)
        commands.finalize()
        device.queue_execute(None, done, commands)
        assert done.wait(60_000)
    # Between encoders the driver waits in any case.
    right = barrier or second == BLIT
    assert kinds(found) == ([] if right else ["unordered-dispatches"])


@pytest.mark.parametrize("waits", [False, True])
def test_submissions_need_fences(device: MetalDevice, waits: bool) -> None:
    first, second = (fence for fence, _ in zip(fences(device), range(2), strict=False))
    with findings() as found:
        target, gate = memory(device), device.create_semaphore(0)
        started = Fence(((gate, 1),))
        for wait, signal in ((started, first), (first if waits else None, second)):
            commands = device.create_command_buffer(0, 0)
            commands.fill(BufferRef(target, 0, 0, 256), KERNEL)
            commands.finalize()
            device.queue_execute(wait, signal, commands)
        gate.signal(1)  # once both are submitted: or the host may see the first one end
        assert first.wait(60_000) and second.wait(60_000)
    assert kinds(found) == ([] if waits else ["unordered-passes"])


def test_a_submission_that_has_ended_unseen_still_needs_a_fence(
    device: MetalDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The driver hears of the end before the second submission comes; the program does not.
    heard = threading.Event()
    completed = MetalDevice._completed

    def hear(*arguments: Any) -> None:
        completed(*arguments)
        heard.set()

    monkeypatch.setattr(MetalDevice, "_completed", hear)
    first, second = (fence for fence, _ in zip(fences(device), range(2), strict=False))
    with findings() as found:
        target = memory(device)
        for signal in (first, second):
            commands = device.create_command_buffer(0, 0)
            commands.fill(BufferRef(target, 0, 0, 256), KERNEL)
            commands.finalize()
            device.queue_execute(None, signal, commands)
            assert heard.wait(60)
        assert first.wait(60_000) and second.wait(60_000)
    assert kinds(found) == ["unordered-passes"]


@pytest.mark.skipif(guard() is None, reason="this host does not show what programs do to memory")
@pytest.mark.parametrize("waits", [False, True])
def test_the_host_needs_the_fence_too(device: MetalDevice, waits: bool) -> None:
    done = next(fences(device))
    with findings() as found:
        target = memory(device)
        commands = device.create_command_buffer(0, 0)
        commands.fill(BufferRef(target, 0, 0, 256), KERNEL)
        commands.finalize()
        device.queue_execute(None, done, commands)
        if waits:
            assert done.wait(60_000)
        assert len(bytes(target.read(0, 256))) == 256
        assert done.wait(60_000)
    assert kinds(found) == ([] if waits else ["host-read-early"])
