"""The HTML timeline: how fast it is written, how large it is, how fast it opens and redraws.

The page runs in a headless Chromium without a GPU, as on a CI machine: numbers of a desktop are
better. Times of the page are taken by the page; the time to the first picture counts from the
start of the navigation to the frame after the first drawing.
"""

from __future__ import annotations

import io
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from assay.traces.events.trace import Trace
from assay.traces.viewer.html_write import write_html
from tests.support import chromium, timelines

from .measure import Row

WRITE_BAR = 700e3  # events per second
SIZE_BAR = 10.0  # bytes per event
OPEN_BARS = {1_000_000: 1.5, 5_000_000: 4.0}  # seconds to the first picture
REDRAW_BAR = 33e-3  # seconds, 95th percentile

# Draws at many zooms and places and waits for the pixels each time. Returns milliseconds.
_REDRAW = """() => {
  const { span } = timeline.model;
  const times = [];
  const draw = (begin, width) => {
    Object.assign(timeline.state, { begin: begin * span, end: (begin + width) * span });
    const start = performance.now();
    timeline.draw();
    timeline.context.getImageData(0, 0, 1, 1);
    times.push(performance.now() - start);
  };
  for (const closed of [true, false]) {
    timeline.closeAll(closed);
    for (let width = 1; width > 1e-5; width /= 1.6) {
      for (const place of [0.2, 0.4, 0.6, 0.8]) draw((1 - width) * place, width);
    }
  }
  return times;
}"""


def rows(*, threads: int, repetitions: int) -> list[Row]:
    """Write, open and redraw traces of one and of five million events."""
    del threads
    found = []
    for events, bar in OPEN_BARS.items():
        trace = timelines.mixture(events)
        found += [_written(trace, repetitions), _size(trace, "repetitive arguments")]
        found += _opened(trace, bar, min(repetitions, 5))
    found.append(_size(timelines.mixture(1_000_000, repetitive=False), "random arguments"))
    return found


def _name(trace: Trace) -> str:
    return f"{trace.events / 1e6:g} M events"


def _written(trace: Trace, repetitions: int) -> Row:
    times = []
    for _ in range(repetitions):
        start = time.process_time()
        write_html(trace, io.BytesIO())
        times.append(time.process_time() - start)
    seconds = statistics.median(times)
    rate = trace.events / seconds
    return Row(
        what=f"write {_name(trace)}",
        who="html",
        seconds=seconds,
        rate=f"{rate / 1e6:.2f} M events/s",
        bar=f">= {WRITE_BAR / 1e6:g} M events/s",
        passed=rate >= WRITE_BAR,
    )


def _size(trace: Trace, arguments: str) -> Row:
    stream = io.BytesIO()
    write_html(trace, stream)
    size = stream.tell() / trace.events
    return Row(
        what=f"size of {_name(trace)}",
        who=arguments,
        rate=f"{size:.2f} B/event",
        bar=f"<= {SIZE_BAR:g} B/event",
        passed=size <= SIZE_BAR,
    )


def _opened(trace: Trace, bar: float, repetitions: int) -> list[Row]:
    """The page in a browser; rows without numbers, and with the reason, where there is none."""
    what = f"open {_name(trace)} to first paint"
    if reason := chromium.missing():
        return [Row(what=what, who=reason), Row(what=f"redraw {_name(trace)}", who=reason)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "timeline.html"
        with path.open("wb") as stream:
            write_html(trace, stream)
        runs = [_run(path) for _ in range(repetitions)]
    opened = statistics.median(run["first"] for run in runs) / 1e3
    # The same views in each fresh browser: their medians leave out what others did meanwhile.
    redraws = sorted(map(statistics.median, zip(*(run["redraws"] for run in runs), strict=True)))
    late = redraws[int(0.95 * len(redraws))] / 1e3
    heap = statistics.median(run["heap"] for run in runs) / 1e6
    return [
        Row(
            what=what,
            who="Chromium",
            seconds=opened,
            rate=f"{heap:.0f} MB heap",
            bar=f"<= {bar:g} s",
            passed=opened <= bar,
        ),
        Row(
            what=f"redraw {_name(trace)}, 95th percentile",
            who="Chromium",
            seconds=late,
            rate=f"median {statistics.median(redraws):.1f} ms",
            bar=f"<= {REDRAW_BAR * 1e3:g} ms",
            passed=late <= REDRAW_BAR,
        ),
    ]


def _run(path: Path) -> dict[str, Any]:
    """One fresh browser."""
    with (
        chromium.browser() as running,
        chromium.tab(running, path, size=(1400, 860)) as tab,
    ):
        first = tab.call("timeline.firstPaint")
        heap = tab.call("performance.memory.usedJSHeapSize")
        return {"first": first, "redraws": tab.call(_REDRAW), "heap": heap}
