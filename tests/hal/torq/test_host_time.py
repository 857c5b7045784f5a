"""What the host costs: starts, interrupts and copies take time, and units have a reason for it."""

from dataclasses import replace

import numpy as np

from assay.hal.torq.executable import LoadedExecutable
from assay.hw.torq.facts.costs import sl2610
from assay.hw.torq.timing.unit_time import npu_time
from tests.support.torq_executables import multiply


def _ran() -> LoadedExecutable:
    loaded = LoadedExecutable(multiply())
    loaded.dispatch([np.zeros(136, np.uint8), np.zeros(64, np.uint8)])
    return loaded


def test_a_dispatch_takes_a_copy_a_start_and_an_interrupt_of_the_host() -> None:
    npu = sl2610()
    assert (npu.host_start, npu.host_interrupt) == (8_000, 40_000)
    events = _ran().device.events
    host = [(work.what, work.end - work.begin) for work in events if work.unit == "HOST"]
    assert host == [
        ("copy", npu.host_window_cycles(640)),
        ("start", 8_000),
        ("interrupt", 40_000),
    ]


def test_the_host_between_two_programs_is_why_units_have_none() -> None:
    once = multiply()
    twice = LoadedExecutable(replace(once, actions=once.actions * 2))
    twice.dispatch([np.zeros(136, np.uint8), np.zeros(64, np.uint8)])
    time = npu_time(twice.device.events)
    nss = next(unit for unit in time.units if unit.unit == "NSS")
    assert nss.reasons["the host starts the NPU"] == 8_000
    assert nss.reasons["the host takes the interrupt"] == 40_000
    assert nss.reasons["the host copies"] == sl2610().host_window_cycles(640)
    assert time.cycles == sum(nss.reasons.values())
    assert time.host == 2 * (8_000 + 40_000 + sl2610().host_window_cycles(640))


def test_a_copy_takes_as_long_as_its_bytes() -> None:
    npu = sl2610()
    assert npu.host_window_cycles(0) == 0
    assert npu.host_window_cycles(20) == 800  # 1 us
