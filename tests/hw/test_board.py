"""Boards: machines as they are alone, on one clock, slowed down by what they share."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from assay.hal.torq.driver import TorqDevice
from assay.hal.torq.executable import LoadedExecutable
from assay.hal.torq.write import write_executable
from assay.hw.apple.facts.chips import chip
from assay.hw.apple.system import (
    Commit,
    HostCall,
    Pass,
    Submission,
    WaitForEnd,
    Work,
    overheads,
    run,
)
from assay.hw.board import Board
from assay.hw.torq.facts.costs import sl2610
from assay.hw.torq.facts.hardware import hardware
from assay.hw.torq.words.commands import NssProgram
from assay.npu import NpuModule
from assay.sim.clock import TICKS_PER_SECOND
from tests.hw.torq.device.test_device import loading, put, start
from tests.support.torq_executables import multiply

M1 = chip("m1")
CALLS: list[HostCall] = [Commit(submission=0), WaitForEnd(submission=0)]
MICROSECOND = TICKS_PER_SECOND // 10**6


def streaming(microseconds: int, rate: int) -> list[Submission]:
    """A dispatch that moves `rate` bytes per second, for so long when it is alone."""
    work = Work(
        label="stream",
        ticks=microseconds * MICROSECOND,
        share=1.0,
        group=0,
        ident=0,
        traffic=microseconds * rate // 10**6,
    )
    return [Submission(label="buffer", queue=0, steps=(Pass(label="pass", work=(work,)),))]


def buffers() -> list[np.ndarray]:  # type: ignore[type-arg]
    return [np.zeros(136, np.uint8), np.zeros(64, np.uint8)]


def test_a_machine_alone_on_a_board_takes_as_long_as_without_one() -> None:
    submissions = streaming(100, 10**9)
    board = Board(dram=10**12)
    gpu = board.gpu(submissions, CALLS, costs=overheads(M1), cores=M1.cores)
    board.finish()
    assert gpu.schedule() == run(submissions, CALLS, costs=overheads(M1), cores=M1.cores)
    alone = LoadedExecutable(multiply())
    there = LoadedExecutable(multiply(), device=Board(dram=10**12).npu())
    assert there.dispatch(buffers()) == alone.dispatch(buffers())
    assert there.device.events == alone.device.events


def test_two_machines_with_dram_enough_do_not_know_of_each_other() -> None:
    submissions = streaming(100, 10**9)
    board = Board(dram=10**12)
    gpu = board.gpu(submissions, CALLS, costs=overheads(M1), cores=M1.cores)
    there = LoadedExecutable(multiply(), device=board.npu())
    cycles = there.dispatch(buffers())
    board.finish()
    assert gpu.schedule() == run(submissions, CALLS, costs=overheads(M1), cores=M1.cores)
    assert cycles == LoadedExecutable(multiply()).dispatch(buffers())


SIZE = 1 << 16
LOAD_AT = 0x100000


def load_time(board: Board, *, wait: int = 0) -> tuple[int, int]:
    """(first, last) tick of a transfer of SIZE bytes into LRAM, after `wait` cycles of the host."""
    npu = board.npu()
    npu.map(LOAD_AT, SIZE)
    put(npu, NssProgram(tasks=(loading(LOAD_AT, 0x2000, SIZE, dma_xr_wait=True),)))
    if wait:
        npu.host("start", wait)
    start(npu)
    npu.wait_irq()
    (work,) = [w for w in npu.events if w.unit == "XR"]
    tick = Fraction(TICKS_PER_SECOND, npu.machine.clock_hz)
    return round(work.begin * tick), round(work.end * tick)


def test_both_are_slower_together_than_alone_as_the_closed_form_says() -> None:
    begin, end = load_time(Board(dram=10**12))
    alone = end - begin
    wanted = Fraction(SIZE * TICKS_PER_SECOND, alone)  # bytes per second that the channel moves
    # Half of what both want: each gets half of that, and takes twice as long while both move.
    rate = round(wanted)
    board = Board(dram=rate)
    gpu = board.gpu(streaming(1000, rate), CALLS, costs=overheads(M1), cores=M1.cores)
    cycles = 200 * MICROSECOND * sl2610().clock_hz // TICKS_PER_SECOND
    begin, end = load_time(board, wait=cycles)
    board.finish()
    (span,) = gpu.schedule().submissions[0].passes[0].work
    assert span.begin < begin and end < span.end
    assert end - begin == pytest.approx(2 * alone, rel=1e-6)
    # What the GPU got less while the NPU moved, it makes up for behind that.
    assert span.end - span.begin == pytest.approx(1000 * MICROSECOND + alone, rel=1e-6)


def test_one_timeline_has_both_machines_and_what_each_uses_of_dram() -> None:
    board = Board(dram=10**9, name="both")
    board.gpu(streaming(100, 10**9), CALLS, costs=overheads(M1), cores=M1.cores)
    LoadedExecutable(multiply(), device=board.npu()).dispatch(buffers())
    board.finish()
    trace = board.trace()
    names = [track.name for track in trace.tracks]
    assert {"GPU", "NPU", "DRAM", "XR", "SLC0", "dispatches"} <= set(names)
    assert {"used by GPU", "used by NPU"} <= set(names)
    assert trace.clock.unit == "ps"
    with pytest.raises(ValueError, match="has a machine 'NPU' already"):
        board.npu()


def test_an_npu_that_is_reset_leaves_the_rest_of_the_board_alone() -> None:
    submissions = streaming(100, 10**9)
    board = Board(dram=10**12)
    gpu = board.gpu(submissions, CALLS, costs=overheads(M1), cores=M1.cores)
    npu = board.npu()
    npu.map(LOAD_AT, SIZE)
    put(npu, NssProgram(tasks=(loading(LOAD_AT, 0x2000, SIZE, dma_xr_wait=True),)))
    start(npu)
    npu.host("start", 100)
    npu.reset()
    board.finish()
    assert gpu.schedule() == run(submissions, CALLS, costs=overheads(M1), cores=M1.cores)
    assert not [work for work in npu.events if work.unit == "XR"]


def test_the_hal_drives_an_npu_of_a_board_and_leaves_what_it_did_for_the_timeline() -> None:
    board = Board(dram=10**12)
    device = TorqDevice(hardware(), npu=board.npu())
    module = NpuModule(
        "multiply", device, device.open(memoryview(write_executable(multiply())), "")
    )
    module.multiply(np.zeros(136, np.int8))
    assert len(board.trace().slices) > 0 and device.npu.now > 0
