"""Hazards of programs: found whatever the timing, and only where results depend on them."""

import numpy as np
import pytest

from assay.hw.torq.check.ranges import ordered, overlap
from assay.hw.torq.check.shadow import Shadow
from assay.hw.torq.check.watcher import Watcher
from assay.hw.torq.device.css import CssView
from assay.hw.torq.device.device import Device
from assay.hw.torq.faults import TorqFault
from assay.hw.torq.notes import Symbol
from assay.hw.torq.words.commands import Ndl, NssProgram, NssTask, SliceProgram
from assay.sim.check import Finding
from tests.hw.torq.device.test_device import loading, put, start, storing
from tests.support.torq_tasks import conv, dim, element, replaced, streaming

LOAD, RUN, STORE = 0x100000, 0x600, 0x200000
RUNNING = NssTask(slc_start=(True, False), slc_cfg_addr=(RUN, 0))
WAITING = NssTask(slc_wait=(True, False))
COPY = SliceProgram(
    tasks=(
        streaming(
            source=0x2000,
            target=0x3000,
            size=1,
            count=64,
            words=4,
            result=1,
            alu_op0_mode="DBYP",
            alu_op1_mode="BOR",
        ),
    ),
    address=RUN,
)


def kinds_of(
    *tasks: NssTask, program: SliceProgram = COPY, written: int = 256, read: int = 256
) -> list[str]:
    """Kinds of findings of a program that gets `written` bytes and whose host reads `read`."""
    return [
        finding.kind for finding in findings_of(*tasks, program=program, written=written, read=read)
    ]


def findings_of(
    *tasks: NssTask, program: SliceProgram = COPY, written: int = 256, read: int = 256
) -> tuple[Finding, ...]:
    watcher = Watcher(symbols=[Symbol(name="input", memory="LRAM", start=0x2000, stop=0x2100)])
    device = Device(watcher=watcher)
    device.map(LOAD, 0x1000)
    device.map(STORE, 0x1000)
    put(device, NssProgram(tasks=tasks), program)
    device.xram.write(LOAD, bytes(range(256))[:written] if written <= 256 else bytes(written))
    start(device)
    try:
        device.wait_irq()
        if read:
            device.xram.read(STORE, read)
    except TorqFault:
        pass
    return watcher.findings


IN = loading(LOAD, 0x2000, 256, dma_xr_wait=True)
OUT = storing(0x3000, STORE, 256, dma_xw_wait=True)


def test_a_program_that_waits_for_everything_has_no_findings() -> None:
    assert kinds_of(IN, RUNNING, WAITING, OUT) == []


@pytest.mark.parametrize(
    ("tasks", "kinds"),
    [
        ((loading(LOAD, 0x2000, 256), RUNNING, WAITING, OUT), ["npu-race"]),
        ((IN, RUNNING, OUT), ["npu-race"]),
        ((IN, RUNNING, WAITING, storing(0x3000, STORE, 256)), ["npu-race"]),
    ],
)
def test_a_forgotten_wait_is_a_race_even_when_the_timing_was_kind(
    tasks: tuple[NssTask, ...], kinds: list[str]
) -> None:
    assert sorted(set(kinds_of(*tasks)) - {"npu-uninitialised"}) == kinds


def test_a_race_names_both_units_the_task_and_the_tensor() -> None:
    found = findings_of(loading(LOAD, 0x2000, 256), RUNNING, WAITING, OUT)
    race = next(finding for finding in found if finding.kind == "npu-race")
    assert (race.at.unit, race.at.agent, race.at.task, race.tensor) == ("SLC0", "DEDR", 1, "input")
    assert "SLC0 reads what XR writes (DILW of task 0)" in str(race)


def test_a_transfer_that_was_over_before_the_slice_came_to_its_task_is_a_race_too() -> None:
    early = storing(0x3000, STORE, 8, dma_xw_wait=True)
    found = findings_of(IN, RUNNING, WAITING, RUNNING, early, WAITING, read=8)
    assert [(f.kind, f.at.task, f.at.unit, f.at.agent) for f in found] == [
        ("npu-race", 3, "SLC0", "DEQW")
    ]
    assert "SLC0 writes what XW reads (DOLR of task 4)" in str(found[0])
    apart = storing(0x2000, STORE, 8, dma_xw_wait=True)
    assert findings_of(IN, RUNNING, WAITING, RUNNING, apart, WAITING, read=8) == ()
    after = (IN, RUNNING, WAITING, early, RUNNING, WAITING)
    assert findings_of(*after, read=8) == ()


def test_starting_a_unit_again_before_anybody_waited_is_reported() -> None:
    again = (IN, RUNNING, NssTask(slc_wait=(True, False)), RUNNING)
    assert kinds_of(*again, read=0) == []
    quick = loading(LOAD, 0x2000, 8)
    found = findings_of(quick, *[NssTask()] * 20, quick, NssTask(), read=0)
    assert [finding.kind for finding in found] == ["npu-not-waited"]
    assert found[0].at.task == 21 and "task 0 started" in found[0].message


def test_results_made_of_unwritten_bytes_are_reported() -> None:
    assert "npu-uninitialised" in kinds_of(RUNNING, WAITING, OUT)
    assert "npu-uninitialised" in kinds_of(IN, RUNNING, WAITING, OUT, written=200)


def test_a_store_that_is_missing_leaves_unwritten_bytes_for_the_host() -> None:
    found = findings_of(IN, RUNNING, WAITING)
    assert [(finding.kind, finding.at.unit) for finding in found] == [("npu-uninitialised", "HOST")]


def test_unwritten_gaps_may_be_copied_as_long_as_nobody_uses_them() -> None:
    store = storing(0x3000, STORE, 512, dma_xw_wait=True)
    assert kinds_of(IN, RUNNING, WAITING, store) == []
    assert kinds_of(IN, RUNNING, WAITING, store, read=257) == ["npu-uninitialised"]


def test_words_read_beyond_a_tensor_are_no_finding() -> None:
    task = conv(
        channels=1,
        outputs=4,
        height=5,
        width=7,
        source=0x2000,
        weights=0x4000,
        bias=0x5000,
        target=0x3000,
    )
    watcher = Watcher()
    device = Device(watcher=watcher)
    put(device, NssProgram(tasks=(RUNNING, WAITING)), SliceProgram(tasks=(task,), address=RUN))
    device.lram.write(0x2000, bytes(35))
    device.lram.write(0x4000, bytes(36))
    device.lram.write(0x5000, np.ones(8, np.int32).tobytes())
    start(device)
    device.wait_irq()
    assert not watcher.findings
    assert device.lram.read(0x3000, 4 * 35) is not None and not watcher.findings


def test_an_unwritten_pixel_that_counts_is_a_finding() -> None:
    task = conv(
        channels=1,
        outputs=4,
        height=5,
        width=7,
        source=0x2000,
        weights=0x4000,
        bias=0x5000,
        target=0x3000,
    )
    watcher = Watcher()
    device = Device(watcher=watcher)
    put(device, NssProgram(tasks=(RUNNING, WAITING)), SliceProgram(tasks=(task,), address=RUN))
    device.lram.write(0x2000, bytes(34))
    device.lram.write(0x4000, bytes([9] * 36))
    device.lram.write(0x5000, np.full(8, 1 << 12, np.int32).tobytes())
    start(device)
    device.wait_irq()
    assert [(f.kind, f.at.agent) for f in watcher.findings] == [("npu-uninitialised", "DEDR")]


def test_loading_code_over_the_stream_that_runs_is_a_race() -> None:
    found = findings_of(loading(LOAD, 0x0, 256), *[NssTask()] * 30, IN, read=0, written=4096)
    assert any(f.kind == "npu-race" and f.at.unit == "NSS" for f in found)


def test_slices_that_write_the_same_bytes_race() -> None:
    both = NssTask(slc_start=(True, True), slc_cfg_addr=(RUN, RUN))
    found = kinds_of(IN, both, NssTask(slc_wait=(True, True)), OUT)
    assert set(found) == {"npu-race"}


def test_a_css_task_that_reads_what_nobody_wrote_is_reported() -> None:
    def double(view: CssView) -> int:
        (word,) = view.read(0x20003000, 1)
        view.write(0x20003000, bytes([2 * word & 0xFF]))
        return view.read(0x20003000, 1)[0]

    watcher = Watcher()
    device = Device(watcher=watcher)
    device.lram.write(0x4000, b"code")
    device.register_css(b"code", "double", double)
    bring = NssTask(
        cdma_start=True, cdma_wait=True, cdma_src_addr=0x4000, cdma_dst_addr=0x1C0000, cdma_len=4
    )
    put(device, NssProgram(tasks=(bring, NssTask(css_start=True), NssTask(css_wait=True))))
    start(device)
    device.wait_irq()
    (found,) = watcher.findings
    assert (found.kind, found.at.unit, found.at.agent) == ("npu-uninitialised", "CSS", "double")
    assert (found.at.task, found.memory, found.offset, found.offset + found.length) == (
        1,
        "LRAM",
        0x3000,
        0x3001,
    )


def test_a_slice_program_that_does_not_wait_for_its_task_is_reported() -> None:
    watcher = Watcher()
    device = Device(watcher=watcher)
    put(device, NssProgram(tasks=(RUNNING, WAITING)), COPY)
    device.lram.write(0x2000, bytes(256))
    last = next(a for a in range(RUN, RUN + 0x100, 4) if device.read32(a) >> 28 == 0xE)
    device.write32(last, 0xE0000000)
    start(device)
    device.wait_irq()
    assert [finding.kind for finding in watcher.findings] == ["npu-escaped"]


def test_faults_are_findings_too() -> None:
    assert kinds_of(WAITING) == ["npu-deadlock"]
    assert "npu-out-of-range" in kinds_of(loading(0x900000, 0x2000, 8, dma_xr_wait=True))


def test_each_kind_of_fault_has_its_name_and_says_who() -> None:
    def only(*tasks: NssTask, **more: object) -> object:
        (found,) = findings_of(*tasks, read=0, **more)  # type: ignore[arg-type]
        return found.kind, found.at.unit, found.at.agent

    counting = replaced(
        COPY.tasks[0], CEPR=Ndl(agent="CEPR", low=(element(4),), high=(dim("N", 1), dim("T", 3)))
    )
    assert only(IN, RUNNING, WAITING, program=SliceProgram(tasks=(counting,), address=RUN)) == (
        "npu-count-mismatch",
        "SLC0",
        "DEDR",
    )
    crossing = conv(
        channels=1,
        outputs=4,
        height=5,
        width=7,
        source=0x2000,
        weights=0x4000,
        bias=0x5002,
        target=0x3000,
    )
    assert only(RUNNING, WAITING, program=SliceProgram(tasks=(crossing,), address=RUN)) == (
        "npu-misaligned",
        "SLC0",
        "DEBR",
    )
    again = loading(LOAD, 0x2000, 256)
    kinds = [(f.kind, f.at.unit) for f in findings_of(again, again, read=0)]
    assert ("npu-busy", "XR") in kinds


def test_ranges_meet_where_both_have_bytes() -> None:
    assert ordered([(8, 9), (0, 4), (4, 6)]) == ((0, 6), (8, 9))
    assert overlap(((0, 6), (8, 9)), ((5, 20),)) == ((5, 6), (8, 9))
    assert overlap(((0, 6),), ((6, 8),)) == ()


def test_the_shadow_knows_what_was_written_across_its_pages() -> None:
    shadow = Shadow()
    shadow.mark("XRAM", 0xFFF0, 0x10010)
    assert shadow.unwritten("XRAM", ((0xFFE0, 0x10020),)) == ((0xFFE0, 0xFFF0), (0x10010, 0x10020))
    assert shadow.unwritten("LRAM", ((0, 4),)) == ((0, 4),)
