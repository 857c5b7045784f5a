"""Recording, writing and reading a trace of a million events: processor time, size."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from timeit import repeat

import numpy as np

from assay.traces import Clock, Recorder, Role, Trace
from assay.traces.events.kinds import DATA, PHASE, STEP
from assay.traces.events.summary import summarise
from assay.traces.files import read_trace, write_trace

from .measure import Row

EVENTS = 1_000_000
SINGLE = 200_000
_RECORD = 1e6  # events per second, least
_OFF = 20e-9  # seconds per place that emits, most
_WRITE = {".pftrace": (300e3, 50.0), ".html": (700e3, 10.0)}  # events per second, bytes per event
_CORES, _SIMDGROUPS = 10, 8
_FUNCTIONS = ("load_A_tile", "load_B_tile", "compute", "store_C")


def rows(*, threads: int, repetitions: int) -> list[Row]:
    """Measure all of it; one thread each."""
    trace = _example(EVENTS)
    found = [
        _rated("record, one call each", _record_single, SINGLE, repetitions, _RECORD),
        _rated("record, whole columns", lambda: _recorder(EVENTS), EVENTS, repetitions, _RECORD),
        _off(repetitions),
        _rated("sort, nest and check", lambda: _example(EVENTS), trace.events, repetitions),
    ]
    with tempfile.TemporaryDirectory() as folder:
        for suffix in (".pftrace", ".html", ".json", ".assay-trace"):
            found += _files(trace, Path(folder) / f"run{suffix}", repetitions)
    found.append(_rated("summary", lambda: summarise(trace), trace.events, repetitions))
    return found


def _median_cpu_seconds(run: Callable[[], object], repetitions: int) -> float:
    """Median processor time of a call, in seconds: one thread, so others do not count."""
    run()
    times = []
    for _ in range(repetitions):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return statistics.median(times)


def _rated(
    what: str, run: Callable[[], object], events: int, repetitions: int, least: float | None = None
) -> Row:
    seconds = _median_cpu_seconds(run, repetitions)
    rate = events / seconds
    return Row(
        what=what,
        who="Assay",
        seconds=seconds,
        rate=f"{rate / 1e3:,.0f} k events/s",
        bar="" if least is None else f"> {least / 1e3:,.0f} k events/s",
        passed=None if least is None else rate > least,
    )


def _record_single() -> Recorder:
    recorder = Recorder(Clock.cycles("GPU", 10**9))
    track = recorder.track("simdgroup[0]", -1, Role.SIMDGROUP)
    emit = recorder.slices(STEP)
    for number in range(SINGLE):
        emit(track, "load_A_tile", 10 * number, 7, "dram", 12, "gemm.metal")
    recorder.flush()
    return recorder


def _off(repetitions: int) -> Row:
    """What a place that could emit costs when nothing is recorded."""
    count = 1_000_000
    loop = "for _ in range(count): pass"
    site = "for _ in range(count):\n    if emit is not None: emit(0, '', 0, 0)"
    names = {"count": count, "emit": None}
    times = [
        min(repeat(text, globals=names, number=1, repeat=repetitions)) for text in (site, loop)
    ]
    seconds = (times[0] - times[1]) / count
    return Row(
        what="record, switched off",
        who="Assay",
        rate=f"{seconds * 1e9:.1f} ns a place",
        bar=f"< {_OFF * 1e9:.0f} ns a place",
        passed=seconds < _OFF,
    )


def _files(trace: Trace, path: Path, repetitions: int) -> list[Row]:
    name = path.suffix
    least, most = _WRITE.get(name, (None, None))
    written = _rated(
        f"write {name}", lambda: write_trace(trace, path), trace.events, repetitions, least
    )
    size = path.stat().st_size / trace.events
    found = [
        written,
        Row(
            what=f"size of {name}",
            who="Assay",
            rate=f"{size:.1f} B/event",
            bar="" if most is None else f"< {most:g} B/event",
            passed=None if most is None else size < most,
        ),
    ]
    if name != ".html":
        found.append(_rated(f"read {name}", lambda: read_trace(path), trace.events, 1))
    return found


def _example(events: int) -> Trace:
    return _recorder(events).finish()


def _recorder(events: int) -> Recorder:
    """Phases of simdgroups with two arguments, counters (a quarter), flows (some 7 %)."""
    numbers = np.random.default_rng(0)
    recorder = Recorder(Clock.cycles("M4 Max GPU", 1_578_000_000), title="benchmark")
    gpu = recorder.track("gpu")
    names = np.array([recorder.name(name) for name in _FUNCTIONS])
    phases, counters, flows = recorder.slices(PHASE), recorder.counters(), recorder.flows(DATA)
    slices = int(events * 0.68) // (_CORES * _SIMDGROUPS)
    values = events // 4 // _CORES
    for core in range(_CORES):
        parent = recorder.track(f"core[{core}]", gpu, Role.CORE)
        counter = recorder.track("occupancy", parent, Role.COUNTER, unit="simdgroups")
        before = None
        for simdgroup in range(_SIMDGROUPS):
            duration = numbers.integers(1, 200, slices)
            taken = phases.extend(
                track=recorder.track(f"simdgroup[{simdgroup}]", parent, Role.SIMDGROUP),
                name=names[numbers.integers(0, len(names), slices)],
                begin=np.cumsum(duration) - duration,
                duration=duration,
                line=numbers.integers(1, 200, slices),
                file="gemm.metal",
            )
            if before is not None:
                flows.extend(source=before[: slices // 9], destination=taken[1 : slices // 9 + 1])
            before = taken
        counters.extend(
            track=counter,
            time=np.cumsum(numbers.integers(1, 500, values)),
            value=numbers.integers(0, 64, values),
        )
    return recorder
