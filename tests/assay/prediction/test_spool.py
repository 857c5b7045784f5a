"""What of a timeline is on disk while a program runs."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

import assay
from assay.hal.metal import emulated as metal
from assay.hal.metal.timed import ProgramTimer
from assay.hw.apple.facts.chips import chip
from assay.prediction.timelines.spool import Spool
from assay.traces.files import read_trace
from assay.traces.record.container import CHUNK, HEADER
from tests.support.predictions import MadeUp
from tests.support.timed_program import COUNT, Program

EVENTS = 421


def soon(path: Path) -> bytes:
    """What the file holds when nothing more reaches it."""
    end = time.monotonic() + 20
    while read_trace(path).events < EVENTS:
        assert time.monotonic() < end
        time.sleep(0.02)
    return path.read_bytes()


@pytest.fixture
def spooled(tmp_path: Path) -> Path:
    """What is on disk when the last of two dispatches and a copy has run."""
    program = Program()
    buffer = program.buffer(np.ones(COUNT, np.float32))
    path = tmp_path / "spool.assay-trace"
    with (
        Spool(path, chip("m1"), "two steps") as spool,
        metal.timing(ProgramTimer(MadeUp(timelines=True), took=spool.took)),
    ):
        commands = program.queue.commandBuffer()
        encoder = commands.computeCommandEncoder()
        program.scale(encoder, buffer, 2.0)
        program.scale(encoder, buffer, 2.0, 64)
        encoder.endEncoding()
        blit = commands.blitCommandEncoder()
        blit.fillBuffer_range_value_(buffer, metal.NSMakeRange(0, 32), 0)
        blit.endEncoding()
        program.finish(commands)
        found = soon(path)
    path.write_bytes(found)
    return path


def test_each_dispatch_is_on_disk_before_the_next(spooled: Path) -> None:
    trace = read_trace(spooled)
    assert not trace.complete
    paths = [str(track) for track in trace.tracks]
    assert "GPU.core 0.threadgroup place 0.simdgroup 0" in paths
    row = next(row for row in trace.rows() if paths[row.track] == "queue 0.dispatches")
    names = [trace.names[trace.slices.name[each]] for each in row.slices]
    assert names == ["scale", "scale", "fill"]
    begins, ends = trace.slices.begin[row.slices], trace.slices.end[row.slices]
    assert begins[0] > 0 and ends[0] < begins[1] and ends[1] == begins[2]


def head_bytes(data: bytes) -> int:
    """Where the chunk ends that says what the file is; it is there before anything runs."""
    size = int.from_bytes(data[HEADER.size + 4 : HEADER.size + 8], "little")
    return HEADER.size + CHUNK.size + size


def test_wherever_the_file_ends_it_is_read_up_to_there(spooled: Path) -> None:
    data = spooled.read_bytes()
    events = []
    for size in [*range(head_bytes(data), len(data), 101), len(data)]:
        spooled.write_bytes(data[:size])
        events.append(read_trace(spooled).events)
    assert events == sorted(events) and events[-1] == EVENTS


def test_a_disk_that_is_full_ends_no_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = Program()
    buffer = program.buffer(np.ones(COUNT, np.float32))

    def full(*given: object) -> None:
        raise OSError(28, "No space left on device")

    with assay.timing("m1", spool=tmp_path / "spool.assay-trace") as seen:
        monkeypatch.setattr("assay.traces.record.spill.Spill.rows", full)
        commands = program.queue.commandBuffer()
        encoder = commands.computeCommandEncoder()
        program.scale(encoder, buffer, 2.0)
        encoder.endEncoding()
        program.finish(commands)
    assert len(seen.result().dispatches) == 1
