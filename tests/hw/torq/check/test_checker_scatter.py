"""Hazards of scattered results: they are found where the offsets in LRAM say."""

import numpy as np
import pytest

from assay.hw.torq.check.watcher import Watcher
from assay.hw.torq.device.device import Device
from assay.hw.torq.words.commands import NssProgram, NssTask, SliceProgram
from tests.hw.torq.datapath.test_movement import OUT, A, B, W, scattering
from tests.hw.torq.device.test_device import put, start, storing

from .test_checker import RUN, RUNNING, STORE, WAITING

TARGET = OUT + 50


@pytest.mark.parametrize(("place", "harm"), [(40, True), (300, False)])
def test_a_race_with_scattered_results_goes_by_the_offsets(place: int, harm: bool) -> None:
    program = SliceProgram(tasks=(scattering(4),), address=RUN)
    watcher = Watcher()
    device = Device(watcher=watcher)
    device.map(STORE, 0x1000)
    store = storing(TARGET + place, STORE, 1)
    both = NssTask(slc_wait=(True, False), dma_xw_wait=True)
    put(device, NssProgram(tasks=(RUNNING, store, both)), program)
    device.lram.write(A, bytes(64))
    device.lram.write(B, np.array([7, -3, 40, 9], np.int16).tobytes())
    device.lram.write(W, np.array([0, 1], np.int32).tobytes())
    device.lram.write(OUT, bytes(512))
    start(device)
    device.wait_irq()
    found = [(f.kind, f.at.unit, f.at.agent, f.offset) for f in watcher.findings]
    assert found == ([("npu-race", "SLC0", "DEQW", TARGET + place)] if harm else [])


def test_only_places_that_were_scattered_to_are_written() -> None:
    program = SliceProgram(tasks=(scattering(4),), address=RUN)
    watcher = Watcher()
    device = Device(watcher=watcher)
    put(device, NssProgram(tasks=(RUNNING, WAITING)), program)
    device.lram.write(A, bytes(64))
    device.lram.write(B, np.array([7, -3, 40, 9], np.int16).tobytes())
    device.lram.write(W, np.array([0, 1], np.int32).tobytes())
    start(device)
    device.wait_irq()
    for place in (-3, 7, 9, 40):
        device.lram.read(TARGET + place, 1)
    assert not watcher.findings
    device.lram.read(TARGET + 8, 1)
    assert [f.kind for f in watcher.findings] == ["npu-uninitialised"]
