"""The whole NPU: programs through its registers, DMA, deadlocks, interrupts, time."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.hw.torq.device.css import CssView
from assay.hw.torq.device.device import Device
from assay.hw.torq.facts.costs import sl2610
from assay.hw.torq.faults import AccessFault, CountMismatch, Deadlock, NotModelled, TorqFault
from assay.hw.torq.timing.timeline import timeline
from assay.hw.torq.words.commands import Ndl, NssProgram, NssTask, SliceProgram
from assay.hw.torq.words.encode.programs import encode, memory_image
from tests.support.torq_golden import B1, COPY_AND_CALL, LOAD_RUN_STORE, MULTIPLY, dim
from tests.support.torq_tasks import conv

NSS, CSS = 0x1F0000, 0x1FC000
CONFIG, CONTROL, STATUS, START, HOST_ENABLES = NSS + 4, NSS + 8, NSS + 12, NSS + 16, CSS + 4
QUICK = settings(max_examples=15, deadline=None)


def put(device: Device, *programs: NssProgram | SliceProgram) -> None:
    for program in programs:
        for address, word in memory_image(encode(program)).items():
            device.write32(address, word)


def start(device: Device, address: int = 0) -> None:
    device.write32(CONFIG, address | 1 << 24)
    device.write32(CONTROL, 1)
    device.write32(HOST_ENABLES, 1)
    device.write32(START, 1)


def finish(device: Device) -> None:
    assert device.wait_irq() == 1
    device.write32(STATUS, 1)


def loading(source: int, target: int, size: int, **more: object) -> NssTask:
    return NssTask(
        ndls=(
            Ndl(agent="DIXR", low=(B1,), high=(dim("", size, 1),), base_address=source),
            Ndl(agent="DILW", low=(B1,), high=(dim("", size, 1),), base_address=target),
        ),
        dma_xr_start=True,
        dma_mtu_xr=4,
        **more,  # type: ignore[arg-type]
    )


def storing(source: int, target: int, size: int, **more: object) -> NssTask:
    return NssTask(
        ndls=(
            Ndl(agent="DOLR", low=(B1,), high=(dim("", size, 1),), base_address=source),
            Ndl(agent="DOXW", low=(B1,), high=(dim("", size, 1),), base_address=target),
        ),
        dma_xw_start=True,
        dma_mtu_xw=4,
        **more,  # type: ignore[arg-type]
    )


def mapped() -> Device:
    device = Device(record_accesses=True)
    device.map(0x100000, 0x10000)
    device.map(0x200000, 0x10000)
    return device


def test_load_run_and_store_as_the_vendor_encodes_them() -> None:
    device = mapped()
    put(device, LOAD_RUN_STORE, MULTIPLY)
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-128, 128, 64).astype(np.int8) for _ in range(2))
    data = rng.integers(0, 256, 256).astype(np.uint8)
    device.xram.write(0x100000, data.tobytes())
    device.lram.write(0x1000, a.tobytes() + b.tobytes() + np.array([5, 4000], np.int32).tobytes())
    start(device)
    finish(device)
    exact = ((a.astype(np.int64) * b + 5) * 4000 + (1 << 15) >> 16) - 3
    found = np.frombuffer(device.lram.read(0x10C0, 64), np.int8)
    assert found.tolist() == np.clip(exact, -128, 127).tolist()
    rows = np.frombuffer(device.xram.read(0x200000, 8 * 56), np.uint8).reshape(8, 56)
    assert rows[:, :16].tolist() == data[:128].reshape(8, 16).tolist()
    assert set(rows[:, 16:].ravel().tolist()) == {0x77}
    assert not device.irq()


def test_css_runs_the_function_that_stands_for_its_code() -> None:
    device = Device()
    put(device, COPY_AND_CALL)
    code = b"some code of the core"
    device.lram.write(0x2000, code)
    arguments = (2, 0x20003000, 0x20003040)
    device.memories.dtcm.write(0, b"".join(a.to_bytes(4, "little") for a in arguments))
    device.lram.write(0x3000, bytes(range(16)))

    def invert(view: CssView) -> int:
        source, target = view.arguments()
        view.write(target, bytes(255 - byte for byte in view.read(source, 16)))
        return 500

    device.register_css(code, "invert", invert)
    start(device)
    finish(device)
    assert device.lram.read(0x3040, 16) == bytes(255 - k for k in range(16))
    css = next(work for work in device.events if work.unit == "CSS")
    assert (css.limit, css.end - css.begin) == ("invert", 500)


def test_code_without_a_function_is_named_by_its_bytes() -> None:
    device = Device()
    put(device, COPY_AND_CALL)
    device.lram.write(0x2000, b"\x13\x05")
    start(device)
    with pytest.raises(TorqFault, match=r"13 05 00 00.*registered: none"):
        device.wait_irq()


@QUICK
@given(
    st.lists(st.tuples(st.integers(1, 5), st.integers(-300, 300)), min_size=0, max_size=3),
    st.integers(1, 40),
)
def test_strided_loads_take_rows_where_their_strides_say(
    outer: list[tuple[int, int]], row: int
) -> None:
    device = mapped()
    memory = np.random.default_rng(1).integers(0, 256, 0x10000).astype(np.uint8)
    device.xram.write(0x100000, memory.tobytes())
    size = row * int(np.prod([count for count, _ in outer], dtype=int))
    base = 0x8000
    task = NssTask(
        ndls=(
            Ndl(
                agent="DIXR",
                low=(B1,),
                base_address=0x100000 + base,
                high=(dim("", row, 1), *(dim("", count, stride) for count, stride in outer)),
            ),
            Ndl(agent="DILW", low=(B1,), high=(dim("", size, 1),), base_address=0x3000),
        ),
        dma_xr_start=True,
        dma_xr_wait=True,
    )
    put(device, NssProgram(tasks=(task,)))
    start(device)
    finish(device)
    starts = np.array([base])
    for count, stride in outer:
        starts = (np.arange(count)[:, None] * stride + starts[None, :]).ravel()
    expected = memory[starts[:, None] + np.arange(row)[None, :]].ravel()
    assert device.lram.read(0x3000, size) == expected.tobytes()


def test_a_load_can_deal_pixels_out_to_two_places() -> None:
    device = mapped()
    device.xram.write(0x100000, bytes(range(32)))
    pixel = dim("B", 2, 1)
    task = NssTask(
        ndls=(
            Ndl(agent="DIXR", low=(pixel,), high=(dim("", 16, 2),), base_address=0x100000),
            Ndl(
                agent="DILW",
                low=(pixel, dim("G", 2, 0x100)),
                high=(dim("", 8, 2),),
                base_address=0x3000,
            ),
        ),
        dma_xr_start=True,
        dma_xr_wait=True,
    )
    put(device, NssProgram(tasks=(task,)))
    start(device)
    finish(device)
    pairs = np.arange(32, dtype=np.uint8).reshape(8, 2, 2)
    assert device.lram.read(0x3000, 16) == pairs[:, 0].tobytes()
    assert device.lram.read(0x3100, 16) == pairs[:, 1].tobytes()


def test_a_wait_for_a_unit_that_nobody_started_is_a_deadlock() -> None:
    device = mapped()
    put(device, NssProgram(tasks=(NssTask(slc_wait=(True, False)),)))
    start(device)
    with pytest.raises(Deadlock, match=r"NSS at 0x10 waits for SLC0.*never started"):
        device.run()


def test_a_host_that_waits_for_nothing_is_told() -> None:
    with pytest.raises(Deadlock, match="the host waits for an interrupt, but no unit runs"):
        Device().wait_irq()


def test_a_slice_that_waits_for_an_agent_it_did_not_start_is_in_the_chain() -> None:
    device = mapped()
    put(
        device,
        NssProgram(
            tasks=(
                NssTask(slc_start=(True, False), slc_cfg_addr=(0x600, 0), slc_wait=(True, False)),
            )
        ),
    )
    device.write32(0x600, 0xE0000001)
    start(device)
    with pytest.raises(Deadlock) as caught:
        device.run()
    assert len(caught.value.chain) == 2
    assert "NSS" in caught.value.chain[0] and "SLC0" in caught.value.chain[0]
    assert caught.value.chain[1] == "SLC0 at 0x600 waits for DR, not started"


@pytest.mark.parametrize("unit", ["XR", "SLC0"])
def test_a_busy_unit_cannot_be_started(unit: str) -> None:
    device = mapped()
    start_slice = NssTask(slc_start=(True, False), slc_cfg_addr=(0x5A00, 0))
    load = loading(0x100000, 0x8000, 4096)
    task = load if unit == "XR" else start_slice
    put(device, NssProgram(tasks=(task, task)), MULTIPLY)
    start(device)
    with pytest.raises(TorqFault, match=f"{unit}: is started"):
        device.run()


def test_lengths_that_differ_would_hang_a_channel() -> None:
    device = mapped()
    put(device, NssProgram(tasks=(loading(0x100000, 0x8000, 64, dma_xr_wait=True),)))
    device.write32(0x0C, 65)
    start(device)
    with pytest.raises(CountMismatch, match="moves 64 bytes in XRAM and 65 in LRAM"):
        device.run()


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [(0x300000, 0x8000, "of XRAM are not mapped"), (0x100000, 0x7FFFF, "not inside of LRAM")],
)
def test_dma_outside_of_memory_is_refused(source: int, target: int, message: str) -> None:
    device = mapped()
    put(device, NssProgram(tasks=(loading(source, target, 64, dma_xr_wait=True),)))
    start(device)
    with pytest.raises(AccessFault, match=message):
        device.run()


@pytest.mark.parametrize(
    ("words", "error", "message"),
    [
        ([0x00000000], TorqFault, "is no command"),
        ([0x64000001], TorqFault, "sub-operation 4"),
        ([0x70000000], TorqFault, "without an end"),
        ([0x70FFFFFC], AccessFault, "not inside of LRAM"),
        ([0x70000002], AccessFault, "no multiple of 4"),
        ([0x90010060, 0], AccessFault, "no register at 0x60"),
        ([0x1FFF0008], AccessFault, "no register"),
    ],
)
def test_malformed_streams_are_refused(
    words: list[int], error: type[TorqFault], message: str
) -> None:
    device = Device()
    for k, word in enumerate(words):
        device.write32(4 * k, word)
    start(device)
    with pytest.raises(error, match=message):
        device.run()


def test_a_program_that_faults_is_in_the_record_up_to_there() -> None:
    device = Device()
    device.write32(0, 0)
    start(device)
    with pytest.raises(TorqFault, match="is no command"):
        device.run()
    (program,) = [work for work in device.events if work.what == "program"]
    assert (program.unit, program.end, program.limit) == ("NSS", device.now, "fault")
    trace = timeline(device.events, sl2610())
    assert not len(trace.instants) and len(trace.slices)  # The NSS never says that it is done.


def test_padding_of_dma_is_refused_by_its_field() -> None:
    device = mapped()
    put(device, NssProgram(tasks=(loading(0x100000, 0x8000, 64, dma_xr_wait=True),)))
    device.write32(0x0C, 64 | 3 << 24)
    start(device)
    with pytest.raises(NotModelled, match=r"DMA_XR.CFG.pad_n \(0x108\) is 3"):
        device.run()


def test_waiting_for_any_goes_on_with_the_first_and_flags_can_be_set() -> None:
    device = mapped()
    put(device, NssProgram(tasks=(loading(0x100000, 0x8000, 64),)))
    end = next(k for k in range(0, 0x100, 4) if device.read32(k) >> 28 == 0xE)
    device.write32(end, 0x61000014)
    device.write32(end + 4, 0x62000020)
    device.write32(end + 8, 0x60000020)
    device.write32(end + 12, 0xE3000020)
    start(device)
    finish(device)
    assert device.read32(STATUS) & 0x24 == 0x04


def test_two_loads_and_stores_share_the_path_to_dram() -> None:
    def end_of(*tasks: NssTask) -> int:
        device = mapped()
        put(device, NssProgram(tasks=tasks))
        start(device)
        finish(device)
        return max(work.end - work.begin for work in device.events if work.unit == "XR")

    size = 0x4000
    alone = end_of(loading(0x100000, 0x8000, size, dma_xr_wait=True))
    assert alone == sl2610().dma_start + sl2610().dma_cycles(size, 4)
    both = end_of(
        loading(0x100000, 0x8000, size),
        storing(0x20000, 0x200000, size, dma_xw_wait=True),
    )
    assert 1.9 * alone < both < 2.1 * alone


def test_dma_takes_what_the_vendors_estimate_says() -> None:
    machine = sl2610()
    for mtu, rate in ((4, 4.754), (2, 3.782)):
        assert 1_000_000 / machine.dma_cycles(1_000_000, mtu) == pytest.approx(rate, rel=1e-3)


@pytest.mark.parametrize("size", [1, 3])
def test_a_convolution_takes_one_cycle_per_tap_channel_and_64_pixels(size: int) -> None:
    device = mapped()
    task = conv(
        channels=8,
        outputs=8,
        height=16,
        width=16,
        size=size,
        source=0x2000,
        weights=0x4000,
        bias=0x5000,
        target=0x6000,
    )
    put(device, SliceProgram(tasks=(task,), address=0x600))
    put(
        device,
        NssProgram(
            tasks=(
                NssTask(slc_start=(True, False), slc_wait=(True, False), slc_cfg_addr=(0x600, 0)),
            )
        ),
    )
    start(device)
    finish(device)
    ran = next(work for work in device.events if work.what == "task")
    blocks, block = 2 * 4, 8 * size * size
    first, second = blocks * max(block, 16), blocks * block
    last = 16 if block >= 16 else block
    assert ran.end - ran.begin == max(first, second) + last
    assert dict(ran.agents)["ALU"] == blocks * block


def test_slices_run_at_the_same_time() -> None:
    device = mapped()
    tasks = (
        NssTask(slc_start=(True, True), slc_cfg_addr=(0x600, 0x600)),
        NssTask(slc_wait=(True, True)),
    )
    task = conv(
        channels=8,
        outputs=8,
        height=16,
        width=16,
        source=0x2000,
        weights=0x4000,
        bias=0x5000,
        target=0x6000,
    )
    put(device, NssProgram(tasks=tasks), SliceProgram(tasks=(task,), address=0x600))
    start(device)
    finish(device)
    runs = [work for work in device.events if work.what == "task"]
    assert [run.unit for run in runs] == ["SLC0", "SLC1"]
    assert runs[0].begin == runs[1].begin and runs[0].end == runs[1].end


def test_a_missing_wait_stores_what_was_there_before() -> None:
    """A transfer reads when it starts and writes when it ends: a forgotten wait is felt."""
    for waits in (True, False):
        device = mapped()
        device.xram.write(0x100000, bytes([7] * 64))
        put(
            device,
            NssProgram(
                tasks=(
                    loading(0x100000, 0x8000, 64, dma_xr_wait=waits),
                    storing(0x8000, 0x200000, 8, dma_xw_wait=True),
                )
            ),
        )
        start(device)
        finish(device)
        assert (device.xram.read(0x200000, 8) == bytes([7] * 8)) == waits


def test_accesses_say_who_touched_which_bytes_when() -> None:
    device = mapped()
    put(device, LOAD_RUN_STORE, MULTIPLY)
    device.lram.write(0x1080, np.array([0, 1], np.int32).tobytes())
    start(device)
    finish(device)
    found = {(a.unit, a.agent): (a.memory, a.writes, a.ranges) for a in device.accesses}
    assert found["XR", "DILW"] == ("LRAM", True, ((0x600, 0x700),))
    assert found["SLC0", "DEDR"] == ("LRAM", False, ((0x1000, 0x1040),))
    assert found["SLC0", "DEQW"] == ("LRAM", True, ((0x10C0, 0x1100),))
    assert found["XW", "DOXW"][2] == tuple((0x200000 + 56 * k, 0x200010 + 56 * k) for k in range(8))
    loads = next(a for a in device.accesses if a.agent == "DILW")
    tasks = next(a for a in device.accesses if a.agent == "DEQW")
    assert loads.end < tasks.begin


def test_runs_are_deterministic() -> None:
    seen = []
    for fast in (True, False, True):
        device = Device(fast=fast, record_accesses=True)
        device.map(0x100000, 0x10000)
        device.map(0x200000, 0x10000)
        put(device, LOAD_RUN_STORE, MULTIPLY)
        start(device)
        finish(device)
        seen.append((device.now, device.events, device.accesses, device.lram.bytes.tobytes()))
    assert seen[0] == seen[1] == seen[2]


def test_polling_the_status_gets_to_the_end() -> None:
    device = mapped()
    put(device, LOAD_RUN_STORE, MULTIPLY)
    start(device)
    polls = 0
    while not device.read32(STATUS) & 1:
        polls += 1
        assert polls < 1000
    assert device.events[-1].what == "program"


def test_a_reset_device_runs_again() -> None:
    device = mapped()
    put(device, NssProgram(tasks=(NssTask(slc_wait=(True, False)),)))
    start(device)
    with pytest.raises(Deadlock):
        device.run()
    device.reset()
    put(device, LOAD_RUN_STORE, MULTIPLY)
    start(device)
    finish(device)


def test_the_host_reads_what_it_wrote_to_each_memory() -> None:
    device = Device()
    for address in (0x0, 0x7FFFC, 0x1C0000, 0x1D7FFC, 0x1F0100, 0x1FC020):
        device.write32(address, 0xDEADBEEF)
        assert device.read32(address) == 0xDEADBEEF
    for address in (0x80000, 0x1C2000, 0x1F0060, 0x200000, 2, -4):
        with pytest.raises(AccessFault):
            device.read32(address)
