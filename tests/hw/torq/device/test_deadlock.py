"""Tasks of the CSS core that wait, and chains and circles of units that wait for each other."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from assay.hw.torq.check.watcher import Watcher
from assay.hw.torq.device.css import CssSteps, CssView
from assay.hw.torq.device.device import Device
from assay.hw.torq.faults import Deadlock
from assay.hw.torq.timing.unit_time import npu_time
from assay.hw.torq.words.commands import NssProgram, NssTask
from tests.support.torq_golden import MULTIPLY

from .test_device import (
    CONFIG,
    CONTROL,
    CSS,
    HOST_ENABLES,
    START,
    finish,
    loading,
    mapped,
    put,
    start,
    storing,
)

CALL, RETURN = NssTask(css_start=True), NssTask(css_wait=True)
SLICE, SLICE_DONE = (
    NssTask(slc_start=(True, False), slc_cfg_addr=(0x5A00, 0)),
    NssTask(slc_wait=(True, False)),
)
COPY = NssTask(cdma_start=True, cdma_src_addr=0x40000, cdma_dst_addr=0x50000, cdma_len=64)
SLICE_WAITS_FOR_ITSELF = 0xE0000001


def with_core(function: Callable[[CssView], CssSteps], *tasks: NssTask) -> Device:
    """A device whose core has a task `poll`, with a program and a slice's program in LRAM."""
    device = mapped()
    device.memories.itcm.write(0, b"task")
    device.register_css(b"task", "poll", function)
    put(device, MULTIPLY, NssProgram(tasks=tasks))
    return device


def waiting_for(*names: str) -> Callable[[CssView], CssSteps]:
    def poll(view: CssView) -> CssSteps:
        yield 10
        yield view.wait(*names)
        return 5

    return poll


def chain_of(device: Device) -> tuple[str, ...]:
    start(device)
    with pytest.raises(Deadlock) as caught:
        device.wait_irq()
    return caught.value.chain


def test_a_task_of_the_core_goes_on_when_what_it_waits_for_has_ended() -> None:
    device = with_core(
        waiting_for("SLC0", "XR"), CALL, SLICE, loading(0x100000, 0x8000, 64), RETURN
    )
    start(device)
    finish(device)
    ends = {w.unit: w.end for w in device.events if w.what in ("program", "load", "css")}
    (wait,) = [w for w in device.events if w.unit == "CSS" and w.what == "wait"]
    assert wait.waits_for == ("XR", "SLC0")
    assert wait.end == max(ends["SLC0"], ends["XR"])
    assert ends["CSS"] == wait.end + 5
    (core,) = [unit for unit in npu_time(device.events).units if unit.unit == "CSS"]
    assert core.causes["busy"] == 15
    assert core.reasons["waits for SLC0"] + core.reasons.get("waits for XR, SLC0", 0) > 0


def test_a_part_of_a_task_sees_what_others_wrote_until_then() -> None:
    seen: list[bytes] = []

    def poll(view: CssView) -> CssSteps:
        seen.append(view.read(0x20008000, 4))
        yield view.wait("XR")
        seen.append(view.read(0x20008000, 4))
        view.write(0x20009000, b"done")
        return None

    device = with_core(
        poll,
        CALL,
        loading(0x100000, 0x8000, 64),
        RETURN,
        storing(0x9000, 0x200000, 4, dma_xw_wait=True),
    )
    device.xram.write(0x100000, b"data")
    start(device)
    finish(device)
    assert seen == [bytes(4), b"data"]
    assert device.xram.read(0x200000, 4) == b"done"
    parts = [a for a in device.accesses if a.unit == "CSS"]
    assert [(a.ranges, a.writes) for a in parts] == [
        (((0x8000, 0x8004),), False),
        (((0x8000, 0x8004),), False),
        (((0x9000, 0x9004),), True),
    ]


def test_a_mailbox_that_the_host_rings_wakes_a_task_again_and_again() -> None:
    def poll(view: CssView) -> CssSteps:
        for _ in range(2):
            yield view.wait("mailbox 2")
        return 1

    device = with_core(poll, CALL, RETURN)
    start(device)
    for _ in range(2):
        for _ in range(20):
            device.read32(0x1F000C)
        assert not device.irq()
        device.write32(CSS + 0x18, 1)
    finish(device)
    assert device.read32(CSS + 0x18) == 0


def test_a_task_can_wait_for_the_mailbox_that_woke_it() -> None:
    device = with_core(waiting_for("mailbox 0"), CALL, RETURN)
    start(device)
    for _ in range(100):
        device.read32(0x1F000C)
    device.write32(CSS + 0x10, 1)
    finish(device)


@pytest.mark.parametrize("name", ["CSS", "CSS (mailbox 1)", "mailbox 1", "SLC2"])
def test_a_task_cannot_wait_for_what_does_not_exist(name: str) -> None:
    device = with_core(waiting_for(name), CALL, RETURN)
    start(device)
    with pytest.raises(ValueError, match=f"wait for {re.escape(repr(name))}; there are NSS, XR"):
        device.wait_irq()


@pytest.mark.parametrize("unit", ["XR", "XW", "SLC0", "SLC1", "CDMA"])
def test_a_core_that_waits_for_what_the_stream_would_start_later_is_a_circle(unit: str) -> None:
    device = with_core(waiting_for(unit), CALL, RETURN, SLICE)
    first, *rest = chain_of(device)
    assert re.fullmatch(r"NSS at 0x\w+ waits for CSS \(mailbox 1\), which waits itself", first)
    assert rest == [
        f"CSS with task poll at 0x0 waits for {unit}, which is not running: it was never started",
        f"a circle: NSS waits for CSS; CSS waits for {unit}, which NSS would start",
    ]


def test_a_core_that_waits_for_the_end_of_the_stream_is_a_circle() -> None:
    chain = chain_of(with_core(waiting_for("NSS"), CALL, RETURN))
    assert chain[-1] == "a circle: NSS waits for CSS; CSS waits for NSS"


def test_a_mailbox_that_nobody_rings_is_a_circle() -> None:
    chain = chain_of(with_core(waiting_for("mailbox 3"), CALL, RETURN))
    assert chain[1:] == (
        "CSS with task poll at 0x0 waits for mailbox 3, which nobody rang",
        "a circle: NSS waits for CSS; CSS waits for mailbox 3, which NSS would ring",
    )


def test_a_slice_between_core_and_stream_is_in_the_chain_but_not_in_the_circle() -> None:
    """The slice waits for its own agent; the core waits for the slice, the stream for the core."""
    device = with_core(waiting_for("SLC0"), SLICE, CALL, RETURN)
    device.write32(0x5A00, SLICE_WAITS_FOR_ITSELF)
    assert chain_of(device)[1:] == (
        "CSS with task poll at 0x0 waits for SLC0, which waits itself",
        "SLC0 at 0x5a00 waits for DR, not started",
    )


def test_both_slices_that_wait_are_named() -> None:
    device = mapped()
    both = NssTask(slc_start=(True, True), slc_cfg_addr=(0x600, 0x700))
    put(device, NssProgram(tasks=(both, NssTask(slc_wait=(True, True)))))
    device.write32(0x600, SLICE_WAITS_FOR_ITSELF)
    device.write32(0x700, SLICE_WAITS_FOR_ITSELF | 0x8)
    chain = chain_of(device)
    assert [line.split(" waits for ")[1] for line in chain] == [
        "SLC0, which waits itself",
        "SLC1, which waits itself",
        "DR, not started",
        "DR, QW, not started",
    ]


def test_both_slices_between_core_and_stream_are_a_chain() -> None:
    device = with_core(
        waiting_for("SLC0", "SLC1"),
        CALL,
        NssTask(slc_start=(True, False), slc_cfg_addr=(0x600, 0)),
        NssTask(slc_wait=(True, False)),
    )
    device.write32(0x600, SLICE_WAITS_FOR_ITSELF)
    chain = chain_of(device)
    assert chain[1:3] == (
        "CSS with task poll at 0x0 waits for SLC0, which waits itself",
        "CSS with task poll at 0x0 waits for SLC1, which is not running: it was never started",
    )
    assert "a circle" not in chain[-1]  # SLC0 does not wait for the core.


def test_a_copy_whose_end_is_not_enabled_is_said_to_have_ended() -> None:
    device = mapped()
    put(device, NssProgram(tasks=(COPY, NssTask(cdma_wait=True))))
    enables = next(k for k in range(0, 0x200, 4) if device.read32(k) == 0x1001E20C)
    device.write32(enables + 4, 0)
    (line,) = chain_of(device)
    assert line.endswith(
        "waits for CDMA, which has ended: that was cleared before, or is not enabled"
    )


def test_a_core_that_the_host_started_and_that_waits_is_a_deadlock_too() -> None:
    device = with_core(waiting_for("SLC0"), NssTask())
    device.write32(0x1FD000, 0)
    with pytest.raises(Deadlock, match="CSS with task poll at 0x0 waits for SLC0") as caught:
        device.run()
    assert len(caught.value.chain) == 1


def test_a_device_is_reset_while_its_core_waits() -> None:
    device = with_core(waiting_for("SLC1"), CALL, RETURN)
    chain_of(device)
    device.reset()
    put(device, NssProgram(tasks=(SLICE, SLICE_DONE)))
    start(device)
    finish(device)


def test_what_a_task_waited_for_is_no_race() -> None:
    def poll(view: CssView) -> CssSteps:
        yield view.wait("XR")
        view.read(0x20008000, 4)
        return 1

    watcher = Watcher()
    device = Device(watcher=watcher)
    device.map(0x100000, 0x1000)
    device.xram.write(0x100000, bytes(64), "HOST")
    device.memories.itcm.write(0, b"task", "HOST")
    device.register_css(b"task", "poll", poll)
    put(device, NssProgram(tasks=(CALL, loading(0x100000, 0x8000, 64), RETURN)))
    for register, value in ((CONFIG, 1 << 24), (CONTROL, 1), (HOST_ENABLES, 1), (START, 1)):
        device.write32(register, value)
    finish(device)
    assert not watcher.findings
