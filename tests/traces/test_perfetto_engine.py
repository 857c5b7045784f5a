"""Perfetto's own engine, in the UI that is served offline, reads in a trace what was recorded."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import Any

import numpy as np
import pytest

from assay.traces import Clock, Recorder, Role, Trace, TraceError
from assay.traces.events.kinds import ALLOCATION, DATA, DMA, MARKER, PHASE, STEP
from assay.traces.formats.perfetto.write import write_perfetto
from assay.traces.viewer.perfetto_serve import PerfettoServer, perfetto_folder
from tests.support import chromium

QUERY = """async (sql) => {
    const result = await window.app.trace.engine.query(sql);
    const columns = result.columns(), rows = [];
    for (const it = result.iter({}); it.valid(); it.next())
        rows.push(columns.map(name => {
            const value = it.get(name);
            return typeof value === 'bigint' ? Number(value) : value;
        }));
    return rows;
}"""

pytestmark = pytest.mark.slow


def trace_of_everything() -> Trace:
    """Nesting, equal begins, ends that meet begins, overlaps, no lengths, flows of each order."""
    numbers = np.random.default_rng(5)
    taker = Recorder(Clock.cycles("M4 Max GPU", 1_578_000_000), title="everything")
    gpu = taker.track("gpu")
    references = []
    for number in range(6):
        track = taker.track(f"simdgroup[{number}]", gpu, Role.SIMDGROUP)
        at = 0
        for _ in range(200):
            parts = numbers.integers(0, 9, 3).tolist()
            inner = at
            for part in parts:
                taker.slice(STEP, track, "wait", inner, part, "dram", line=inner)
                inner += part
            name = ("load_A", "compute")[len(references) % 2]
            references.append(taker.slice(PHASE, track, name, at, inner - at, file="g.metal"))
            at = inner + int(numbers.integers(0, 2))
        taker.instant(MARKER, track, "here", 50)
    channel, memory = taker.track("dma", -1, Role.DMA), taker.track("LRAM", -1, Role.MEMORY)
    for begin in numbers.integers(0, 2000, 400).tolist():
        duration = int(numbers.integers(0, 60))
        references.append(taker.slice(DMA, channel, "read", begin, duration, source=4096))
        taker.slice(ALLOCATION, memory, "tile", begin, 5, offset=0, bytes=8)
    counter = taker.track("occupancy", gpu, Role.COUNTER, unit="simdgroups")
    for time in range(300):
        taker.counters()(counter, 7 * time, time / 4)
    for source, destination in numbers.choice(references, (200, 2), replace=False).tolist():
        taker.flow(DATA, source, destination)
    return taker.finish()


@contextmanager
def opened(trace: Trace) -> Iterator[Any]:
    """A page of the Perfetto UI that has loaded a trace."""
    if reason := chromium.missing():
        pytest.skip(reason)
    try:
        folder = perfetto_folder()
    except TraceError as error:
        pytest.skip(str(error))
    stream = BytesIO()
    write_perfetto(trace, stream)
    with PerfettoServer(stream.getvalue(), folder=folder) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            with chromium.browser() as browser:
                page = browser.new_page()
                page.route(lambda url: not url.startswith(server.url), lambda route: route.abort())
                page.goto(f"{server.url}?testing=1")
                page.wait_for_function("window.app?.trace?.engine", timeout=90_000)
                yield lambda sql: [tuple(row) for row in page.evaluate(QUERY, sql)]
        finally:
            server.shutdown()
            thread.join()


def test_perfetto_reads_what_was_recorded() -> None:
    trace = trace_of_everything()
    slices, counters = trace.slices, trace.counters
    instants = len(trace.instants)
    with opened(trace) as query:
        assert query("select name, value from stats where severity != 'info' and value != 0") == []
        read = query(
            "select t.name, s.name, s.ts, s.dur, s.depth, s.category from slice s "
            "join track t on t.id = s.track_id where s.category != 'marker'"
        )
        expected = [
            (
                trace.tracks[slices.track[i]].name,
                trace.names[slices.name[i]],
                int(slices.begin[i]),
                int(slices.duration[i]),
                int(slices.depth[i]),
                trace.kinds[slices.kind[i]].name,
            )
            for i in range(len(slices))
        ]
        assert Counter(read) == Counter(expected)
        assert query("select count() from slice where category = 'marker'") == [(instants,)]
        values = query("select ts, value from counter order by ts")
        assert values == list(zip(counters.time.tolist(), counters.value.tolist(), strict=True))
        flows = query(
            "select a.ts, a.dur, b.ts, b.dur from flow f join slice a on a.id = f.slice_out "
            "join slice b on b.id = f.slice_in"
        )
        assert Counter(flows) == Counter(_flows_that_perfetto_can_show(trace))
        units = query("select unit from counter_track")
        assert units == [("simdgroups",)]
        parents = query(
            "select t.name, p.name from track t left join track p on p.id = t.parent_id "
            "where t.name like 'simdgroup%'"
        )
        assert parents == [(f"simdgroup[{n}]", "gpu") for n in range(6)]
        arguments = query(
            "select a.key, a.display_value, count() from args a join slice s "
            "on s.arg_set_id = a.arg_set_id where a.key in "
            "('debug.cause', 'debug.source', 'debug.file') group by 1, 2 order by 1"
        )
        assert arguments == [
            ("debug.cause", "dram", 3600),
            ("debug.file", "g.metal", 1200),
            ("debug.source", "0x1000", 400),
        ]


def _flows_that_perfetto_can_show(trace: Trace) -> list[tuple[int, ...]]:
    """All flows but those into a slice that has ended before the source begins.

    Perfetto turns an arrow round whose destination begins before its source.
    """
    begin, end, duration = trace.slices.begin, trace.slices.end, trace.slices.duration
    pairs = zip(trace.flows.source.tolist(), trace.flows.destination.tolist(), strict=True)
    shown = [(a, b) for a, b in pairs if begin[b] >= begin[a] or end[b] > begin[a]]
    return [
        (int(begin[a]), int(duration[a]), int(begin[b]), int(duration[b]))
        for a, b in (pair if begin[pair[1]] >= begin[pair[0]] else pair[::-1] for pair in shown)
    ]
