"""The Metal HAL driver: memory types, transfers, fences, executables, refusals."""

import time

import numpy as np
import pytest

from assay.checks.programs import checked, chosen_checks
from assay.hal.buffer import Buffer, File
from assay.hal.device import Binding, BufferRef, Copy, Fill, Update
from assay.hal.flags import BufferUsage, MemoryType
from assay.hal.metal import emulated
from assay.hal.metal.device import MetalDevice
from assay.hal.metal.driver import MetalDriver
from assay.hal.semaphore import Fence
from assay.hal.status import StatusError
from assay.hal.vm.marshal import host_bytes
from assay.reports.report import Report

LOCAL = MemoryType.DEVICE_LOCAL
HOST = MemoryType.HOST_LOCAL | MemoryType.DEVICE_VISIBLE
USAGE = BufferUsage.DEFAULT | BufferUsage.MAPPING


@pytest.fixture(scope="module")
def device() -> MetalDevice:
    return MetalDriver(emulated).open()


def fence(device: MetalDevice) -> Fence:
    return Fence(((device.create_semaphore(0), 1),))


def filled(device: MetalDevice, data: bytes, memory_type: int = HOST) -> Buffer:
    buffer = device.allocator.allocate(memory_type, USAGE, len(data))
    done = fence(device)
    device.queue_transfer(None, done, Update(data, BufferRef(buffer, 0, 0, len(data))))
    assert done.wait(10_000)
    return buffer


@pytest.mark.parametrize(
    ("memory_type", "mode", "cache"),
    [
        (LOCAL, "MTLStorageModePrivate", "MTLCPUCacheModeDefaultCache"),
        (
            LOCAL | MemoryType.HOST_VISIBLE,
            "MTLStorageModeShared",
            "MTLCPUCacheModeWriteCombined",
        ),
        (HOST, "MTLStorageModeShared", "MTLCPUCacheModeWriteCombined"),
        (
            HOST | MemoryType.HOST_CACHED,
            "MTLStorageModeShared",
            "MTLCPUCacheModeDefaultCache",
        ),
        (MemoryType.HOST_LOCAL, "MTLStorageModeShared", "MTLCPUCacheModeWriteCombined"),
    ],
)
def test_memory_types_become_storage_and_cache_modes(
    device: MetalDevice, memory_type: int, mode: str, cache: str
) -> None:
    handle = device.allocator.allocate(memory_type, USAGE, 16).storage.handle  # type: ignore[attr-defined]
    assert handle.storageMode() == getattr(emulated, mode)
    assert handle.cpuCacheMode() == getattr(emulated, cache)


def test_sizes_are_rounded_up_to_words_and_never_zero(device: MetalDevice) -> None:
    sizes = [device.allocator.allocate(HOST, USAGE, size).length for size in (0, 1, 4, 13)]
    assert sizes == [4, 4, 4, 16]


def test_an_allocation_beyond_the_device_is_refused(device: MetalDevice) -> None:
    for size in (1 << 62, -1):
        with pytest.raises(StatusError) as error:
            device.allocator.allocate(LOCAL, USAGE, size)
        assert error.value.status == "RESOURCE_EXHAUSTED"


def test_the_host_cannot_map_private_memory(device: MetalDevice) -> None:
    buffer = device.allocator.allocate(LOCAL, USAGE, 16)
    with pytest.raises(StatusError, match="operation requires HOST_VISIBLE") as error:
        buffer.read(0, 4)
    assert error.value.status == "PERMISSION_DENIED"


@pytest.mark.parametrize("memory_type", [LOCAL, HOST])
def test_updates_fills_and_copies_reach_the_bytes_they_name(
    device: MetalDevice, memory_type: int
) -> None:
    data = bytes(range(64))
    source, target = filled(device, data, memory_type), filled(device, bytes(64), memory_type)
    first, second = fence(device), fence(device)
    copy = Copy(BufferRef(source, 0, 8, 16), BufferRef(target, 0, 32, 16))
    device.queue_transfer(None, first, copy)
    device.queue_transfer(first, second, Fill(BufferRef(target, 0, 4, 8), b"\xaa"))
    assert second.wait(10_000)
    expected = bytearray(64)
    expected[32:48] = data[8:24]
    expected[4:12] = b"\xaa" * 8
    assert host_bytes(device, target, 64) == expected


@pytest.mark.parametrize(
    ("offset", "length", "pattern"),
    [(1, 5, b"\x07"), (2, 6, b"\x01\x02"), (4, 12, b"\x01\x02\x03\x04"), (3, 1, b"\xff")],
)
def test_fills_that_blits_cannot_do_are_done_by_a_kernel(
    device: MetalDevice, offset: int, length: int, pattern: bytes
) -> None:
    target = filled(device, bytes(32))
    done = fence(device)
    device.queue_transfer(None, done, Fill(BufferRef(target, 0, offset, length), pattern))
    assert done.wait(60_000)
    expected = bytearray(32)
    expected[offset : offset + length] = pattern * (length // len(pattern))
    assert host_bytes(device, target, 32) == expected


def test_copies_of_odd_ranges_are_done_by_a_kernel(device: MetalDevice) -> None:
    data = bytes(range(1, 33))
    source, target = filled(device, data), filled(device, bytes(32))
    done = fence(device)
    copy = Copy(BufferRef(source, 0, 3, 7), BufferRef(target, 0, 5, 7))
    device.queue_transfer(None, done, copy)
    assert done.wait(60_000)
    assert host_bytes(device, target, 32)[5:12] == data[3:10]


def test_a_file_is_read_into_memory_that_the_host_cannot_see(device: MetalDevice) -> None:
    buffer = device.allocator.allocate(LOCAL, USAGE, 1000)
    data = np.random.default_rng(1).bytes(1000)
    done = fence(device)
    device.queue_read(None, done, File(memoryview(data)), 100, BufferRef(buffer, 0, 0, 900))
    assert done.wait(10_000)
    assert host_bytes(device, buffer, 900) == data[100:]


def test_commands_with_slots_use_the_table_of_each_submission(device: MetalDevice) -> None:
    commands = device.create_command_buffer(0, 1)
    commands.fill(BufferRef(None, 0, 4, 4), b"\x11")
    commands.finalize()
    one, two = filled(device, bytes(16)), filled(device, bytes(16))
    done = [fence(device), fence(device)]
    device.queue_execute(None, done[0], commands, [Binding(one, 0, 16)])
    device.queue_execute(None, done[1], commands, [Binding(two, 8, 8)])
    assert all(item.wait(10_000) for item in done)
    assert host_bytes(device, one, 16) == bytes(4) + b"\x11" * 4 + bytes(8)
    assert host_bytes(device, two, 16) == bytes(12) + b"\x11" * 4


def test_ranges_outside_their_buffer_are_refused_when_recorded(device: MetalDevice) -> None:
    buffer = filled(device, bytes(16))
    commands = device.create_command_buffer(0, 1)
    with pytest.raises(StatusError, match="outside of the valid buffer range"):
        commands.fill(BufferRef(buffer, 0, 8, 12), b"\0")
    with pytest.raises(StatusError, match="slot 3 out of range"):
        commands.fill(BufferRef(None, 3, 0, 4), b"\0")


def test_ranges_outside_their_binding_are_refused_when_submitted(device: MetalDevice) -> None:
    commands = device.create_command_buffer(0, 1)
    commands.fill(BufferRef(None, 0, 8, 12), b"\0")
    commands.finalize()
    buffer = filled(device, bytes(16))
    with pytest.raises(StatusError, match="binding table slot 0, which has 16"):
        device.queue_execute(None, None, commands, [Binding(buffer, 0, 16)])
    with pytest.raises(StatusError, match="out of range of the provided table of 0"):
        device.queue_execute(None, None, commands)


def test_a_finalised_command_buffer_takes_no_more(device: MetalDevice) -> None:
    commands = device.create_command_buffer(0, 0)
    commands.finalize()
    with pytest.raises(StatusError, match="not in a recording state"):
        commands.execution_barrier()


def test_joined_fences_are_reached_when_all_are(device: MetalDevice) -> None:
    first, second = fence(device), fence(device)
    joined = Fence.join([first, None, second])
    assert joined is not None and not joined.reached()
    first.signal()
    assert not joined.reached() and not joined.wait(1)
    second.signal()
    assert joined.reached() and joined.wait(1)
    assert Fence.join([None]) is None


def test_a_failed_fence_gives_its_error_to_those_who_wait(device: MetalDevice) -> None:
    broken, after = fence(device), fence(device)
    device.queue_execute(broken, after, None)
    broken.fail(StatusError("DATA_LOSS", "the input is gone"))
    with pytest.raises(StatusError, match="DATA_LOSS; the input is gone"):
        broken.wait()
    with pytest.raises(StatusError, match="the input is gone"):
        after.wait(10_000)


def test_the_device_answers_for_metal_and_its_executable_format(device: MetalDevice) -> None:
    assert device.query_i64("hal.device.id", "metal*") == 1
    assert device.query_i64("hal.device.id", "vulkan") == 0
    assert device.query_i64("hal.executable.format", "metal-msl-fb") == 1
    assert device.query_i64("hal.executable.format", "vulkan-spirv-fb") == 0
    assert device.query_i64("hal.dispatch", "concurrency") is None


def test_devices_are_opened_by_name_and_unknown_ones_refused_with_the_choices() -> None:
    driver = MetalDriver(emulated)
    (info,) = driver.devices()
    assert driver.open(info.name).info == info
    with pytest.raises(StatusError, match=f"no Metal device 'none'; there are: 0 .{info.name}"):
        driver.open("none")


def test_what_is_not_an_executable_is_refused(device: MetalDevice) -> None:
    with pytest.raises(StatusError, match="not a Metal executable: 12 bytes"):
        device.executable_cache.prepare("metal-msl-fb", memoryview(b"not this one"), ())
    with pytest.raises(StatusError, match="--iree-hal-target-device=metal"):
        device.executable_cache.prepare("vulkan-spirv-fb", memoryview(b""), ())


def test_staging_memory_that_a_handler_gave_back_is_no_race_of_the_programs(
    device: MetalDevice,
) -> None:
    """Nobody but the driver knows that the submissions before have ended."""
    report = Report(chosen_checks("all"))
    with checked(report):
        for _ in range(3):
            buffer = device.allocator.allocate(MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT, 64)
            update = Update(bytes(64), BufferRef(buffer, 0, 0, 64))
            device.queue_transfer(None, None, update)
            time.sleep(0.05)  # long enough for it to end, and to give back what it had
    assert [finding.kind for finding in report.findings] == []


def test_one_semaphore_may_be_waited_for_and_signalled_by_each_submission(
    device: MetalDevice,
) -> None:
    buffer = device.allocator.allocate(HOST, USAGE, 64)
    done = device.create_semaphore(0, private=True)
    for turn in (1, 2, 3):
        update = Update(bytes([turn]) * 64, BufferRef(buffer, 0, 0, 64))
        device.queue_transfer(Fence([(done, turn - 1)]), Fence([(done, turn)]), update)
    assert done.wait(3, 10_000)
    assert host_bytes(device, buffer, 64) == bytes([3]) * 64
