"""Random traces, and what a trace says in a form that can be compared."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from assay.traces import Argument, Clock, Form, Kind, Recorder, Role, Trace, Type
from assay.traces.events.kinds import ALLOCATION, DATA, DMA, MARKER, PHASE, RELEASE, STEP

TUNE = Kind(
    name="tune",
    form=Form.SLICE,
    category="compute",
    text="A slice with every type of argument.",
    arguments=(
        Argument("count", "an integer"),
        Argument("share", "a real number", type=Type.REAL),
        Argument("label", "a text", type=Type.TEXT),
        Argument("at", "an address", "address"),
    ),
)

names = st.text(
    st.characters(codec="utf-8", exclude_characters="\x00"), min_size=0, max_size=6
) | st.sampled_from(["load A", "compute", '"quoted" \\ </script>', "ü∆"])
times = st.integers(0, 60)
causes = st.sampled_from(["dram", "barrier", "issue", "idle"])


@st.composite
def traces(draw: st.DrawFn) -> Trace:
    """A trace with nested, tiled and overlapping slices, instants, counters and flows."""
    return draw(recorders()).finish()


@st.composite
def recorders(draw: st.DrawFn) -> Recorder:
    """A recorder that has taken such a trace."""
    clock = draw(
        st.sampled_from(
            [
                Clock.cycles("M4 Max GPU", 1_578_000_000),
                Clock.nanoseconds(),
                Clock.picoseconds("everything"),
            ]
        )
    )
    recorder = Recorder(clock, title=draw(names))
    references: list[int] = []
    gpu = recorder.track("gpu")
    for number in range(draw(st.integers(1, 3))):
        lane = recorder.track(f"simdgroup[{number}]", gpu, Role.SIMDGROUP)
        references += _nested(draw, recorder, lane, 0, draw(times) + 20, 0)
        _tiled(draw, recorder, lane, 100)
        for _ in range(draw(st.integers(0, 2))):
            recorder.instant(MARKER, lane, draw(names), draw(times))
    channel = recorder.track("dma[0]", -1, Role.DMA)
    for _ in range(draw(st.integers(0, 8))):
        references.append(
            recorder.slice(
                DMA, channel, draw(names), draw(times), draw(times), bytes=draw(st.integers(0, 9))
            )
        )
    memory = recorder.track("LRAM", -1, Role.MEMORY, capacity=64)
    for _ in range(draw(st.integers(0, 3))):
        start = draw(times)
        recorder.slice(ALLOCATION, memory, draw(names), start, draw(times), offset=0, bytes=8)
    counter = recorder.track("occupancy", gpu, Role.COUNTER, unit="simdgroups")
    for _ in range(draw(st.integers(0, 5))):
        value = draw(st.integers(-5, 5) | st.floats(-1e9, 1e9, allow_nan=False))
        recorder.counters()(counter, draw(times), value)
    for _ in range(draw(st.integers(0, 4)) if references else 0):
        source, end = draw(st.sampled_from(references)), draw(st.sampled_from(references))
        if source != end:
            recorder.flow(draw(st.sampled_from([DATA, RELEASE])), source, end)
    return recorder


def _nested(
    draw: st.DrawFn, recorder: Recorder, track: int, begin: int, end: int, depth: int
) -> list[int]:
    """Slices side by side in a range, inner ones recorded before the outer ones."""
    found: list[int] = []
    at = begin
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(at, end))
        stop = draw(st.integers(at, end))
        if depth < 3:
            found += _nested(draw, recorder, track, at, stop, depth + 1)
        arguments: dict[str, Any] = {}
        if draw(st.booleans()):
            arguments["count"] = draw(st.integers(-(2**63) + 1, 2**63 - 1))
        if draw(st.booleans()):
            arguments["share"] = draw(st.floats(allow_nan=False, allow_infinity=False))
        if draw(st.booleans()):
            arguments["label"] = draw(names.filter(bool))
        if draw(st.booleans()):
            arguments["at"] = draw(st.integers(0, 2**63 - 1))
        name, cause = draw(names), draw(causes | st.just(""))
        found.append(recorder.slice(TUNE, track, name, at, stop - at, cause, **arguments))
        at = stop
    return found


def _tiled(draw: st.DrawFn, recorder: Recorder, track: int, begin: int) -> None:
    """A phase and the steps that tile it, the steps first."""
    at = begin
    for _ in range(draw(st.integers(0, 4))):
        duration = draw(st.integers(0, 9))
        recorder.slice(STEP, track, "wait", at, duration, draw(causes), line=3)
        at += duration
    recorder.slice(PHASE, track, "load", begin, at - begin, file="a.metal")


def told(trace: Trace) -> dict[str, Any]:
    """Everything that a trace says, without the order in which its tables number things."""
    slices, instants, counters, flows = trace.slices, trace.instants, trace.counters, trace.flows
    said = [
        (
            trace.tracks[slices.track[i]].path,
            int(slices.lane[i]),
            int(slices.depth[i]),
            int(slices.begin[i]),
            int(slices.duration[i]),
            trace.names[slices.name[i]],
            trace.kinds[slices.kind[i]].name,
            trace.cause(i),
            tuple(sorted(trace.slice_arguments(i).items())),
        )
        for i in range(len(slices))
    ]
    return {
        "title": trace.title,
        "clock": trace.clock,
        "complete": trace.complete,
        "tracks": trace.tracks,
        "slices": sorted(said, key=repr),
        "instants": sorted(
            (
                trace.tracks[instants.track[i]].path,
                int(instants.time[i]),
                trace.names[instants.name[i]],
                tuple(
                    sorted(trace.payload(int(instants.kind[i]), int(instants.payload[i])).items())
                ),
            )
            for i in range(len(instants))
        ),
        "counters": sorted(
            (trace.tracks[counters.track[i]].path, int(counters.time[i]), float(counters.value[i]))
            for i in range(len(counters))
        ),
        "flows": sorted(
            (
                repr(said[flows.source[i]]),
                repr(said[flows.destination[i]]),
                trace.kinds[flows.kind[i]].name,
            )
            for i in range(len(flows))
        ),
    }
