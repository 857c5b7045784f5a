"""The Torq HAL driver: buffers, transfers, fences, dispatches of executables, refusals."""

import threading

import numpy as np
import pytest

from assay.hal import observe
from assay.hal.buffer import Buffer, File
from assay.hal.device import Binding, BufferRef, Copy, Fill, Update
from assay.hal.flags import BufferUsage, MemoryType
from assay.hal.semaphore import Fence
from assay.hal.status import StatusError
from assay.hal.torq.archive import Container, write_container
from assay.hal.torq.commands import FORMAT, TorqExecutable
from assay.hal.torq.driver import TorqDevice, TorqDriver
from assay.hal.torq.executable import LoadedExecutable
from assay.hal.torq.timing import NpuRun
from assay.hal.torq.write import write_executable
from assay.sim.check import Checker
from tests.support.torq_executables import multiply

HOST = MemoryType.HOST_LOCAL | MemoryType.DEVICE_VISIBLE
OPERANDS = (
    np.arange(64, dtype=np.int8).tobytes()
    + np.full(64, 2, np.int8).tobytes()
    + np.array([10, 1 << 16], np.int32).tobytes()
)
PRODUCTS = np.clip(2 * np.arange(64) + 7, -128, 127).astype(np.int8).tobytes()


@pytest.fixture
def device() -> TorqDevice:
    return TorqDriver().open()


def fence(device: TorqDevice) -> Fence:
    return Fence(((device.create_semaphore(0), 1),))


def whole(buffer: Buffer) -> BufferRef:
    return BufferRef(buffer, 0, 0, buffer.length)


def filled(device: TorqDevice, data: bytes) -> Buffer:
    buffer = device.allocator.allocate(HOST, BufferUsage.DEFAULT, len(data))
    device.queue_transfer(None, None, Update(data, whole(buffer)))
    return buffer


def executable(device: TorqDevice) -> TorqExecutable:
    data = memoryview(write_executable(multiply()))
    return device.executable_cache.prepare(FORMAT, data, ())  # type: ignore[return-value]


def test_a_dispatch_multiplies_through_a_binding_table(device: TorqDevice) -> None:
    prepared = executable(device)
    commands = device.create_command_buffer(0, 2)
    ranges = [BufferRef(None, 0, 0, 136), BufferRef(None, 1, 0, 64)]
    commands.begin_debug_group("products")
    commands.dispatch(prepared, prepared.lookup("multiply"), (1, 1, 1), (), ranges)
    commands.execution_barrier()
    commands.end_debug_group()
    commands.finalize()
    for start in (0, 64):
        operands, products = filled(device, OPERANDS), filled(device, bytes(128))
        done = fence(device)
        table = (Binding(operands, 0, 136), Binding(products, start, 64))
        device.queue_execute(None, done, commands, table)
        assert done.wait(1000)
        assert bytes(products.read(start, 64)) == PRODUCTS
        assert bytes(products.read(64 - start, 64)) == bytes(64)


def test_work_waits_for_its_fence_and_runs_on_whoever_signals(device: TorqDevice) -> None:
    buffer = filled(device, bytes(4))
    first, second = fence(device), fence(device)
    device.queue_transfer(second, None, Fill(whole(buffer), b"\2"))
    device.queue_transfer(first, second, Fill(BufferRef(buffer, 0, 0, 2), b"\1"))
    assert bytes(buffer.read(0, 4)) == bytes(4)
    thread = threading.Thread(target=first.signal)
    thread.start()
    assert second.wait(10_000)
    thread.join()
    assert bytes(buffer.read(0, 4)) == b"\2\2\2\2"


def test_a_failure_travels_along_fences(device: TorqDevice) -> None:
    buffer = filled(device, bytes(4))
    first, second = fence(device), fence(device)
    device.queue_transfer(None, first, Fill(whole(buffer), b"\1\2\3"))
    device.queue_execute(first, second, None)
    with pytest.raises(StatusError, match="a fill of 4 bytes with a pattern of 3"):
        second.wait(1000)


def test_a_semaphore_that_nobody_will_signal_is_known_to_be(device: TorqDevice) -> None:
    private = device.create_semaphore(0, private=True)
    assert private.unreachable(1)
    blocked = Fence(((device.create_semaphore(0), 1),))
    device.queue_execute(blocked, Fence(((private, 1),)), None)
    assert not private.unreachable(1)
    assert private.unreachable(2)
    assert not private.wait(1, 10)
    blocked.signal()
    assert private.query() == 1


def test_transfers_copy_fill_and_read_files(device: TorqDevice) -> None:
    source, target = filled(device, b"abcdefgh"), filled(device, bytes(8))
    device.queue_transfer(None, None, Copy(BufferRef(source, 0, 2, 4), BufferRef(target, 0, 0, 4)))
    file = File(memoryview(b"0123456789"))
    device.queue_read(None, None, file, 5, BufferRef(target, 0, 6, 2))
    assert bytes(target.read(0, 8)) == b"cdef\0\x0056"
    overlapping = Copy(BufferRef(source, 0, 0, 4), BufferRef(source, 0, 2, 4))
    with pytest.raises(StatusError, match="overlapping ranges"):
        device.queue_transfer(None, None, overlapping)
    buffer = device.queue_alloca(None, None, HOST, BufferUsage.DEFAULT, 12)
    device.queue_dealloca(None, None, buffer)
    assert buffer.length == 12


def test_the_device_says_what_it_is_and_takes(device: TorqDevice) -> None:
    assert device.query_i64("hal.device.id", "tor*") == 1
    assert device.query_i64("hal.device.id", "metal") == 0
    assert device.query_i64("hal.executable.format", "torq-fb") == 1
    assert device.query_i64("hal.dispatch", "concurrency") is None
    assert device.allocator.import_host(memoryview(b"x"), HOST, 0) is None
    assert [info.identifier for info in TorqDriver().devices()] == ["SL2610"]
    with pytest.raises(StatusError, match="hardware 'SL9' is not known"):
        TorqDriver().open("SL9")
    with pytest.raises(StatusError, match="unable to allocate"):
        device.allocator.allocate(HOST, 0, 1 << 40)


def test_executables_are_found_by_name_in_archives(device: TorqDevice) -> None:
    members = (("a_torq_fb.fb", multiply()), ("b_torq_fb.fb", multiply()))
    data = memoryview(write_container(Container(executables=members)))
    prepared = device.executable_cache.prepare(FORMAT, data, ())
    assert (prepared.lookup("b_torq_fb.fb"), prepared.lookup("multiply")) == (1, 0)
    with pytest.raises(StatusError, match="function 'x' not found; there are: multiply, multiply"):
        prepared.lookup("x")
    with pytest.raises(StatusError, match="only 'torq-fb' runs"):
        device.executable_cache.prepare("metal-msl-fb", data, ())


def test_wrong_dispatches_are_refused(device: TorqDevice) -> None:
    prepared = executable(device)
    commands = device.create_command_buffer(0, 0)
    with pytest.raises(StatusError, match="executable function 3 out of range"):
        commands.dispatch(prepared, 3, (1, 1, 1), (), ())
    small = filled(device, bytes(8))
    commands.dispatch(prepared, 0, (1, 1, 1), (), (whole(small), whole(small)))
    with pytest.raises(StatusError, match="still being recorded"):
        device.queue_execute(None, None, commands)
    commands.finalize()
    with pytest.raises(StatusError, match="not in a recording state"):
        commands.execution_barrier()
    with pytest.raises(StatusError, match="buffer 0 has 8 bytes; 136 are needed"):
        device.queue_execute(None, None, commands)
    table = device.create_command_buffer(0, 1)
    table.fill(BufferRef(None, 1, 0, 4), b"\0")
    table.finalize()
    with pytest.raises(StatusError, match="binding slot 1 of 0"):
        device.queue_execute(None, None, table)


class Seen:
    """A timer and observer of NPUs."""

    keeps_accesses = False

    def __init__(self) -> None:
        self.runs: list[str] = []
        self.begun: list[str] = []

    def npu_ran(self, run: NpuRun) -> None:
        self.runs.append(run.program)

    def executable_runs(self, loaded: LoadedExecutable) -> None:
        self.begun.append(loaded.program)


def dispatched(device: TorqDevice, wait: Fence | None = None, done: Fence | None = None) -> None:
    prepared = executable(device)
    commands = device.create_command_buffer(0, 0)
    operands, products = filled(device, OPERANDS), filled(device, bytes(64))
    commands.dispatch(prepared, 0, (1, 1, 1), (), [whole(operands), whole(products)])
    commands.finalize()
    device.queue_execute(wait, done, commands)


def test_who_looks_on_is_whoever_did_when_work_was_submitted(device: TorqDevice) -> None:
    seen, start = Seen(), fence(device)
    with observe.checking(Checker(), observer=seen), observe.timing(seen):
        dispatched(device, wait=start)
    assert seen.begun == seen.runs == []
    start.signal()
    assert seen.begun == seen.runs == ["multiply"]
    late = fence(device)
    dispatched(device, wait=late)
    with observe.checking(Checker(), observer=seen), observe.timing(seen):
        late.signal()
    assert seen.begun == seen.runs == ["multiply"]


def test_a_long_lived_device_does_not_keep_what_was_done(device: TorqDevice) -> None:
    dispatched(device)
    dispatched(device)
    assert device.npu.events == [] and device.npu.now > 0


def test_an_executable_is_loaded_when_no_other_runs(
    device: TorqDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Work runs on whichever thread signals what it waits for; programs are loaded on others."""
    one, other = executable(device), executable(device)
    running, go_on, wait = threading.Event(), threading.Event(), LoadedExecutable._wait

    def held(self: LoadedExecutable) -> None:
        running.set()
        assert go_on.wait(10)
        wait(self)

    operands, products = filled(device, OPERANDS), filled(device, bytes(64))
    commands = device.create_command_buffer(0, 0)
    commands.dispatch(one, 0, (1, 1, 1), (), (whole(operands), whole(products)))
    commands.finalize()
    monkeypatch.setattr(LoadedExecutable, "_wait", held)
    done = fence(device)
    work = threading.Thread(target=lambda: device.queue_execute(None, done, commands))
    work.start()
    assert running.wait(10)
    load = threading.Thread(target=lambda: other.loaded(0))
    load.start()
    load.join(0.1)
    go_on.set()
    for thread in (work, load):
        thread.join(10)
    assert done.wait(1000)
    assert bytes(products.read(0, 64)) == PRODUCTS
