"""What devices hand each other holds up neither of them, nor what others hand each other."""

import threading
import time
from collections.abc import Callable

import numpy as np
import pytest

from assay.hal.buffer import Buffer
from assay.hal.cpu.device import CpuDriver
from assay.hal.device import Device
from assay.hal.hosted.commands import HostCommandBuffer
from assay.hal.module.memory import allocate
from assay.hal.module.queues import Bridge, Lane, outside_fence
from assay.hal.semaphore import Fence
from assay.hal.status import StatusError

SOON_MS = 5000


@pytest.fixture
def lanes() -> tuple[Lane, Lane, Lane]:
    one, two, three = (Lane(CpuDriver().open()) for _ in range(3))
    return one, two, three


def filled(device: Device, number: int) -> Buffer:
    buffer = allocate(device, 64)
    buffer.write(0, bytes([number]) * 64)
    return buffer


def give(lane: Lane, work: Callable[[], object]) -> Fence:
    """Work for a lane's device, behind what the lane has."""
    commands = lane.device.create_command_buffer(1, 0)
    assert isinstance(commands, HostCommandBuffer)
    commands.add(lambda _: work())
    commands.finalize()
    done = Fence(((lane.device.create_semaphore(0, private=True), 1),))
    lane.device.queue_execute(lane.last, done, commands)
    lane.wait_for(done)
    return done


def test_a_copy_does_not_wait_for_what_an_earlier_one_waits_for(
    lanes: tuple[Lane, Lane, Lane],
) -> None:
    one, two, three = lanes
    bridge, gate = Bridge(), outside_fence(one.device)
    one.wait_for(gate)
    bridge.copy(one, filled(one.device, 1), two, filled(two.device, 0), 64)
    place = filled(three.device, 0)
    bridge.copy(Lane(two.device), filled(two.device, 2), three, place, 64)
    assert three.last is not None and three.last.wait(SOON_MS)
    assert bytes(place.read(0, 64)) == bytes([2]) * 64
    gate.signal()
    assert two.last is not None and two.last.wait(SOON_MS)
    bridge.close()


def test_a_copy_and_the_program_go_on_while_a_device_does_what_a_copy_was_for(
    lanes: tuple[Lane, Lane, Lane],
) -> None:
    one, two, three = lanes
    bridge, gate, end = Bridge(), outside_fence(one.device), threading.Event()
    one.wait_for(gate)
    bridge.copy(one, filled(one.device, 1), two, filled(two.device, 0), 64)
    begun = threading.Event()
    give(two, lambda: (begun.set(), end.wait(10)))
    gate.signal()
    assert begun.wait(5)
    start = time.monotonic()
    last = give(two, lambda: None)  # does not block, though the device is at work
    bridge.copy(Lane(one.device), filled(one.device, 3), three, filled(three.device, 0), 64)
    assert three.last is not None and three.last.wait(SOON_MS)
    assert time.monotonic() - start < 4 and not last.reached()
    end.set()
    assert last.wait(SOON_MS)
    bridge.close()


def test_the_source_goes_on_while_it_is_copied_unless_it_is_written(
    lanes: tuple[Lane, Lane, Lane],
) -> None:
    one, two, _ = lanes
    bridge, gate = Bridge(), outside_fence(two.device)
    two.wait_for(gate)  # the copy waits for this
    source, place = filled(one.device, 1), filled(two.device, 0)
    bridge.copy(one, source, two, place, 32)
    assert give(one, lambda: None).wait(SOON_MS)
    one.overwrites([source.subspan(32, 32)])
    assert give(one, lambda: None).wait(SOON_MS)
    one.overwrites([filled(one.device, 9), source.subspan(16, 32)])
    written = give(one, lambda: source.write(0, bytes(64)))
    assert not written.wait(100)
    gate.signal()
    assert written.wait(SOON_MS)
    assert bytes(place.read(0, 32)) == bytes([1]) * 32
    bridge.close()


def test_a_copy_that_fails_fails_those_who_wait_for_it(lanes: tuple[Lane, Lane, Lane]) -> None:
    one, two, _ = lanes
    bridge, gate = Bridge(), outside_fence(one.device)
    one.wait_for(gate)
    source = filled(one.device, 1)
    bridge.copy(one, source, two, filled(two.device, 0), 64)
    gate.fail(StatusError("INTERNAL", "it fell over"))
    assert two.last is not None
    with pytest.raises(StatusError, match="it fell over"):
        two.last.wait(SOON_MS)
    bridge.close()


def test_threads_of_a_bridge_end_with_it(lanes: tuple[Lane, Lane, Lane]) -> None:
    one, two, _ = lanes

    def bridges() -> int:
        return sum(thread.name == "assay-bridge" for thread in threading.enumerate())

    before = bridges()
    bridge = Bridge()
    for _ in range(5):
        bridge.copy(one, filled(one.device, 1), two, filled(two.device, 0), 64)
    assert bridges() > before
    bridge.close()
    assert bridges() == before
    other = Bridge()
    other.copy(one, filled(one.device, 1), two, filled(two.device, 0), 64)
    del other
    end = time.monotonic() + 5
    while bridges() > before and time.monotonic() < end:
        time.sleep(0.01)
    assert bridges() == before
    assert np.all(np.frombuffer(filled(one.device, 1).read(0, 64), np.uint8) == 1)
