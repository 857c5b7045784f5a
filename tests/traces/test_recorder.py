"""Recording: what is taken, what is refused, what a crash leaves behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from assay.traces import Argument, Clock, Form, Kind, Recorder, Role, TraceError, Type
from assay.traces.events.kinds import COUNTER, DATA, DMA, KINDS, MARKER, PHASE, STEP
from assay.traces.files import read_trace
from assay.traces.record.container import HEADER
from tests.support.traces import told

ROOT = Path(__file__).parents[2]


def recorder() -> Recorder:
    return Recorder(Clock.cycles("M4 Max GPU", 1_578_000_000), title="gemm")


def test_events_taken_one_by_one_and_all_at_once_are_the_same() -> None:
    single, bulk = recorder(), recorder()
    count = 20_000  # more than one batch
    begin = np.arange(count) * 10
    causes = [("dram", "issue")[n % 2] for n in range(count)]
    for taker in (single, bulk):
        taker.track("simdgroup[0]", -1, Role.SIMDGROUP)
    emit = single.slices(STEP)
    references = [
        emit(0, f"step {n % 7}", n * 10, 5, causes[n], n, "a.metal") for n in range(count)
    ]
    taken = bulk.slices(STEP).extend(
        track=0,
        name=[f"step {n % 7}" for n in range(count)],
        begin=begin,
        duration=5,
        cause=causes,
        line=begin // 10,
        file="a.metal",
    )
    assert references == taken.tolist()
    assert told(single.finish()) == told(bulk.finish())


def test_numbers_of_names_and_causes_serve_in_columns() -> None:
    taker = recorder()
    track = taker.track("simdgroup[0]", -1, Role.SIMDGROUP)
    names = np.array([taker.name("load"), taker.name("store")])
    taker.slices(STEP).extend(
        track=track,
        name=names,
        begin=np.array([0, 5]),
        duration=np.array([5, 2]),
        cause=np.array([taker.cause("dram"), taker.cause("issue")]),
    )
    trace = taker.finish()
    assert [trace.names[n] for n in trace.slices.name] == ["load", "store"]
    assert [trace.cause(n) for n in (0, 1)] == ["dram", "issue"]
    assert trace.slice_arguments(0) == {}


def test_tracks_are_shown_below_their_parents_in_the_order_of_declaration() -> None:
    taker = recorder()
    gpu, host = taker.track("gpu"), taker.track("host", order=-1)
    core = taker.track("core[0]", gpu, Role.CORE)
    taker.track("main", host, Role.HOST)
    taker.track("core[1]", gpu, Role.CORE)
    assert taker.track("core[0]", gpu) == core
    paths = [str(track) for track in taker.finish().tracks]
    assert paths == ["host", "host.main", "gpu", "gpu.core[0]", "gpu.core[1]"]


def test_overlapping_slices_get_lanes_and_those_that_nest_keep_the_first() -> None:
    taker = recorder()
    track = taker.track("dma[0]", -1, Role.DMA)
    for name, begin, duration in (("a", 0, 10), ("b", 5, 10), ("c", 10, 5), ("d", 12, 1)):
        taker.slice(DMA, track, name, begin, duration)
    taker.slice(PHASE, track, "outer", 0, 20)
    trace = taker.finish()
    names, found = trace.slices.name.tolist(), trace.slices.lane.tolist()
    lanes = {trace.names[name]: lane for name, lane in zip(names, found, strict=True)}
    assert lanes == {"outer": 0, "a": 1, "b": 2, "c": 1, "d": 3}
    assert trace.slices.parent.tolist() == [-1] * 5


def test_of_equal_intervals_the_tiled_kind_is_outside() -> None:
    taker = recorder()
    track = taker.track("simdgroup[0]", -1, Role.SIMDGROUP)
    taker.slice(STEP, track, "wait", 0, 10, "dram")
    taker.slice(PHASE, track, "load", 0, 10)
    trace = taker.finish()
    assert [trace.names[n] for n in trace.slices.name] == ["load", "wait"]
    assert trace.slices.depth.tolist() == [0, 1]


def test_a_gap_in_a_tiled_slice_is_told_with_its_place() -> None:
    taker = recorder()
    track = taker.track("simdgroup[0]", -1, Role.SIMDGROUP)
    taker.slice(PHASE, track, "load", 0, 10)
    taker.slice(STEP, track, "wait", 0, 9, "dram")
    with pytest.raises(
        TraceError, match=r"'load' \[0, 10\] lasts 10 ticks, .* covers 9; kind phase"
    ):
        taker.finish()


@pytest.mark.parametrize(
    ("emit", "message"),
    [
        (lambda r: r.slice(STEP, 0, "x", 0, 1), "kind step states no cause"),
        (lambda r: r.slice(STEP, 0, "x", 0, 1, "boredom"), "no cause 'boredom'; there are busy,"),
        (lambda r: r.slice(STEP, 9, "x", 0, 1, "dram"), "event 0 of kind step: track 9 is out of"),
        (lambda r: r.slice(STEP, 0, "x", -1, 1, "dram"), "begin -1 is out of range"),
        (lambda r: r.slice(STEP, 0, "x", 0, -1, "dram"), "duration -1 is out of range"),
        (lambda r: r.slice(STEP, 0, "x", 0, 2**63, "dram"), "duration: 9223372036854775808 was"),
        (lambda r: r.slice(STEP, 0, "x", 0.5, 1, "dram"), "begin: 0.5 was given where a 64-bit"),
        (lambda r: r.slice(STEP, 0, 5, 0, 1, "dram"), "5 was given where text is expected"),
        (lambda r: r.slice(PHASE, 0, "x", 0, 1, colour=3), "no argument 'colour'; there are line"),
        (lambda r: r.slices(STEP)(0, "x", 0, 1, "dram"), "0 arguments were given; it has line, f"),
        (lambda r: r.slices(MARKER), "kind marker is a instant, not slice"),
        (
            lambda r: r.slices(STEP).extend(track=[0, 0], name="", begin=np.arange(3), duration=1),
            "2 values for track, but 3 events",
        ),
        (
            lambda r: r.slices(STEP).extend(track=0, name="", begin=np.arange(3), duration=1, at=1),
            "kind step has no column 'at'",
        ),
        (lambda r: r.slice(STEP, 1, "x", 0, 1, "dram"), "track occupancy is a counter"),
        (lambda r: r.counters()(0, 0, 1.0), "track simdgroup\\[0\\] is no counter"),
        (lambda r: r.flow(DATA, 5, 6), "a flow names slice 5 as its source"),
        (lambda r: r.track("x", 7), "track 'x': there is no track 7"),
    ],
)
def test_what_is_wrong_with_an_event_is_said(emit: object, message: str) -> None:
    taker = recorder()
    taker.track("simdgroup[0]", -1, Role.SIMDGROUP)
    taker.track("occupancy", -1, Role.COUNTER)
    with pytest.raises(TraceError, match=message):
        emit(taker)  # type: ignore[operator]
        taker.finish()


def test_two_kinds_of_one_name_are_refused() -> None:
    taker = recorder()
    taker.slices(STEP)
    other = Kind(name="step", form=Form.SLICE, category="x", text="Another.")
    with pytest.raises(TraceError, match="two different kinds called step"):
        taker.slices(other)


def test_a_kind_refuses_arguments_that_columns_have_already() -> None:
    with pytest.raises(TraceError, match="'duration' is no name for an argument"):
        Kind(
            name="x", form=Form.SLICE, category="x", text="", arguments=(Argument("duration", ""),)
        )


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.name)
def test_every_declared_kind_records_all_of_its_arguments(kind: Kind) -> None:
    taker = recorder()
    values = {Type.INTEGER: 7, Type.REAL: 0.5, Type.TEXT: "text"}
    given = {argument.name: values[argument.type] for argument in kind.arguments}
    assert kind.text.endswith(".")
    track = taker.track("track", -1, Role.COUNTER if kind is COUNTER else Role.GROUP)
    if kind.form is Form.SLICE:
        taker.slice(kind, track, "one", 3, 4, "busy", **given)
        assert taker.finish().slice_arguments(0) == given
    elif kind.form is Form.INSTANT:
        taker.instant(kind, track, "one", 3, **given)
        trace = taker.finish()
        assert trace.payload(0, int(trace.instants.payload[0])) == given
    elif kind.form is Form.COUNTER:
        taker.counters()(track, 3, 0.25)
        assert taker.finish().counters.value.tolist() == [0.25]
    else:
        source, destination = (taker.slice(PHASE, track, name, 0, 0) for name in "ab")
        taker.flow(kind, source, destination)
        flows = taker.finish().flows
        assert (flows.source.tolist(), flows.destination.tolist()) == ([0], [1])


def test_a_recording_in_a_file_is_the_one_in_memory(tmp_path: Path) -> None:
    memory = recorder()
    with Recorder(memory.clock, title="gemm", file=tmp_path / "run.assay-trace") as file:
        for taker in (memory, file):
            track = taker.track("simdgroup[0]", -1, Role.SIMDGROUP)
            for n in range(3000):
                taker.slice(STEP, track, f"step {n}", n, 1, "dram", line=n)
                taker.instant(MARKER, track, "m", n)
    trace = read_trace(tmp_path / "run.assay-trace")
    assert trace.notes == ()
    assert told(trace) == told(memory.finish())


def test_an_error_while_recording_leaves_what_came_before(tmp_path: Path) -> None:
    path = tmp_path / "run.assay-trace"
    with pytest.raises(ZeroDivisionError), Recorder(Clock.nanoseconds(), file=path) as taker:
        track = taker.track("x")
        taker.slice(STEP, track, "only", 0, 1, "dram")
        taker.slice(PHASE, track, "cut", 0, 9)
        print(1 // 0)
    trace = read_trace(path)
    assert not trace.complete
    assert len(trace.slices) == 2
    assert trace.notes == ("the run did not finish; it saved 2 events before",)


def test_a_process_that_is_killed_leaves_all_but_its_last_events(tmp_path: Path) -> None:
    path = tmp_path / "run.assay-trace"
    program = f"""
import os, signal
from pathlib import Path
from assay.traces import Clock, Recorder
from assay.traces.events.kinds import PHASE
taker = Recorder(Clock.nanoseconds(), file=Path({str(path)!r}))
track = taker.track("x")
for n in range(5000):
    taker.slice(PHASE, track, "p", n, 1)
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert done.returncode == -signal.SIGKILL
    trace = read_trace(path)
    assert not trace.complete
    assert 5000 - 1024 <= len(trace.slices) <= 5000
    assert trace.slices.begin.tolist() == list(range(len(trace.slices)))


def test_every_cut_of_a_recording_reads_as_a_prefix_of_it(tmp_path: Path) -> None:
    path = tmp_path / "run.assay-trace"
    with Recorder(Clock.nanoseconds(), file=path) as taker:
        track = taker.track("x")
        for n in range(40):
            taker.slice(PHASE, track, "p", n, 1)
            if n % 10 == 9:
                taker.flush()
    data = path.read_bytes()
    seen = set()
    for length in range(HEADER.size, len(data), 7):
        path.write_bytes(data[:length])
        try:
            trace = read_trace(path)
        except TraceError as error:
            assert "nothing was recorded" in str(error)
            continue
        assert not trace.complete and trace.notes
        assert trace.slices.begin.tolist() == list(range(len(trace.slices)))
        seen.add(len(trace.slices))
    assert seen == {0, 10, 20, 30, 40}


def test_a_closed_recording_takes_no_more(tmp_path: Path) -> None:
    with Recorder(Clock.nanoseconds(), file=tmp_path / "run.assay-trace") as taker:
        emit = taker.slices(PHASE)
        track = taker.track("x")
    emit(track, "late", 0, 1, "", 0, "")
    with pytest.raises(TraceError, match="the recording was closed"):
        taker.flush()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": "x", "unit": "fortnight", "hz": 1}, "unit 'fortnight'; there are cycle, ns, ps"),
        ({"name": "x", "unit": "ns", "hz": 5}, "5 ticks per second in ns; it is 1000000000"),
        ({"name": "x", "unit": "cycle", "hz": 0}, "0 Hz; a frequency is above zero"),
    ],
)
def test_impossible_clocks_are_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(TraceError, match=message):
        Clock(**arguments)  # type: ignore[arg-type]


def test_clocks_tell_times() -> None:
    clock = Clock.cycles("M4 Max GPU", 1_578_000_000)
    assert clock.text(1578) == "1,578 cycles (1 µs)"
    assert clock.ticks(1e-6) == 1578
    assert Clock.picoseconds().text(1500) == "1.5 ns"
