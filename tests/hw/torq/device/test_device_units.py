"""What starts units, wakes the core and interrupts the host, and what of it is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.hw.torq.device.css import CssView
from assay.hw.torq.device.device import Device
from assay.hw.torq.facts.costs import machine_of
from assay.hw.torq.facts.hardware import hardware
from assay.hw.torq.faults import AccessFault, Deadlock, NotModelled, TorqFault
from assay.hw.torq.words.commands import NssProgram, NssTask

from .test_device import (
    CONTROL,
    HOST_ENABLES,
    NSS,
    QUICK,
    START,
    STATUS,
    finish,
    loading,
    mapped,
    put,
    start,
    storing,
)

CPU, CDMA = 0x1FD000, 0x1FE000


@pytest.mark.parametrize(
    ("wait_mode", "end"), [(0, "the core is in reset again"), (1, "the core sleeps")]
)
def test_a_sleeping_core_is_woken_by_its_mailbox(wait_mode: int, end: str) -> None:
    device = Device()
    device.memories.itcm.write(0, b"task")
    asked: list[tuple[int, int, int, int]] = []

    def note(view: CssView) -> int:
        asked.append(view.mailboxes)
        return 100

    device.register_css(b"task", "note", note)
    device.write32(CPU + 4, 0)
    device.write32(CPU, 2)
    ring = NssTask(
        css_start=True,
        css_wait=True,
        css_start_mode=1,
        css_wait_mode=wait_mode,
        css_mbx=(0x10000, 2, 3, 4),
    )
    put(device, NssProgram(tasks=(ring,)))
    start(device)
    finish(device)
    assert asked == [(0x10000, 2, 3, 4)]
    (work,) = [work for work in device.events if work.unit == "CSS"]
    assert work.end - work.begin == 100
    assert device.read32(CPU) & 1 == (wait_mode == 0), end


def test_a_mailbox_does_not_wake_a_core_in_reset() -> None:
    device = Device()
    put(device, NssProgram(tasks=(NssTask(css_start=True, css_wait=True, css_start_mode=1),)))
    start(device)
    with pytest.raises(Deadlock, match=r"waits for CSS \(mailbox 1\)"):
        device.wait_irq()


@pytest.mark.parametrize(
    ("register", "value", "message"),
    [
        (0x1000, 1 << 4, "CDMA.CH0_CMD is 0x10; only its enablecmd"),
        (0x1000, 3, "CDMA.CH0_CMD is 0x3"),
    ],
)
def test_commands_of_cdma_besides_its_start_are_refused(
    register: int, value: int, message: str
) -> None:
    with pytest.raises(NotModelled, match=message):
        Device().write32(CDMA + register, value)


@pytest.mark.parametrize(
    ("register", "value", "message"),
    [
        (0x100C, 0x00200400, "CH0_CTRL.xtype is 2"),
        (0x100C, 0x00200201, "CH0_CTRL.transize is 1"),
        (0x1030, 0x00020001, "CH0_XADDRINC.desxaddrinc is 2"),
        (0x1020, 0x00400041, "copies 65 bytes to 64"),
        (0x1010, 0x3FFFFF, "0x3fffff"),
    ],
)
def test_copies_that_cdma_does_not_do_are_refused(register: int, value: int, message: str) -> None:
    device = Device()
    plain = {0x100C: 0x00200200, 0x1010: 0, 0x1018: 0x1C0000, 0x1020: 0x00400040, 0x1030: 0x10001}
    for at, word in (plain | {register: value}).items():
        device.write32(CDMA + at, word)
    with pytest.raises(TorqFault, match=message):
        device.write32(CDMA + 0x1000, 1)


def test_an_npu_with_one_slice_refuses_the_second() -> None:
    device = Device(machine_of(hardware("512:1:coral_v1:nss_v1")))
    second = NssTask(slc_start=(False, True), slc_cfg_addr=(0, 0x600))
    put(device, NssProgram(tasks=(second,)))
    start(device)
    with pytest.raises(AccessFault, match="there is no slice 1; this NPU has 1"):
        device.run()
    with pytest.raises(AccessFault, match="there is no slice 1"):
        device.read32(NSS + 0xC00)
    with pytest.raises(TorqFault, match="starts what this NPU has not: SLC1"):
        device.write32(START, 1 << 5)


def test_start_bits_without_a_unit_are_refused() -> None:
    with pytest.raises(TorqFault, match=r"NSS.START is 0x40, .*: bit 6"):
        Device().write32(START, 1 << 6)


@pytest.mark.parametrize(
    ("enables", "pending"), [(1 << 0, 1), (1 << 2, 1 << 2), (1 << 12, 1 << 12), (0b101, 0b100)]
)
def test_the_host_is_interrupted_by_what_it_enabled_only(enables: int, pending: int) -> None:
    device = mapped()
    load = loading(0x100000, 0x8000, 64, dma_xr_wait=False)
    copy = NssTask(cdma_start=True, cdma_src_addr=0, cdma_dst_addr=0x1C0000, cdma_len=64)
    put(device, NssProgram(tasks=(copy if enables == 1 << 12 else load, *[NssTask()] * 20)))
    for at in range(0, 0x400, 4):
        if device.read32(at) == 0x10030008:  # Each task writes NSS.CTRL, STATUS and START.
            device.write32(at + 4, enables & 0x3D)
    start(device)
    device.write32(CONTROL, enables & 0x3D)
    device.write32(HOST_ENABLES, enables)
    assert not device.irq()
    assert device.wait_irq() == pending
    if enables == 0b101:
        device.write32(STATUS, 1 << 2)
        assert device.wait_irq() == 1


@QUICK
@given(st.permutations(["load", "store", "copy"]), st.sampled_from(["any", "all"]))
def test_waits_for_any_or_all_of_several_units_end_when_they_should(
    order: list[str], what: str
) -> None:
    """The sizes say who ends first; a flag that is set shows when the stream went on."""
    sizes = dict(zip(order, (16, 2048, 16384), strict=True))
    device = mapped()
    tasks = {
        "load": loading(0x100000, 0x8000, sizes["load"]),
        "store": storing(0x20000, 0x200000, sizes["store"]),
        "copy": NssTask(
            cdma_start=True, cdma_src_addr=0x40000, cdma_dst_addr=0x50000, cdma_len=sizes["copy"]
        ),
    }
    put(device, NssProgram(tasks=tuple(tasks[name] for name in reversed(order))))
    end = next(k for k in range(0, 0x400, 4) if device.read32(k) >> 28 == 0xE)
    bits = 1 << 2 | 1 << 3 | 1 << 12
    device.write32(end, (0x61000000 if what == "any" else 0x60000000) | bits)
    device.write32(end + 4, 0xE2000020)
    start(device)
    finish(device)
    units = {"load": "XR", "store": "XW", "copy": "CDMA"}
    ends = sorted(work.end for work in device.events if work.unit in units.values())
    program = next(work for work in device.events if work.unit == "NSS" and work.what == "program")
    waits = [work for work in device.events if work.unit == "NSS" and work.what == "wait"]
    assert device.read32(STATUS) & 0x20
    if what == "all":
        assert [wait.end for wait in waits] == [ends[-1]] and len(ends) == 3
    else:
        assert [wait.end for wait in waits] in ([], [ends[0]])
        assert program.end < ends[0] + 10 if waits else program.end < 400
