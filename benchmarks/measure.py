"""Repeats, medians, tables."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

from rich.console import Console
from rich.table import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of a report; `bar` is the least or most allowed, `passed` None if there is none.

    `seconds` is None where something else was measured.
    """

    what: str
    who: str
    seconds: float | None = None
    rate: str = ""
    ratio: str = ""
    bar: str = ""
    passed: bool | None = None


def median_seconds(run: Callable[[], object], repetitions: int, warm_up: int = 1) -> float:
    """Median wall-clock time of a call, in seconds."""
    for _ in range(warm_up):
        run()
    times = []
    for _ in range(repetitions):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def report(title: str, rows: Sequence[Row], *, as_json: bool) -> int:
    """Print the rows; returns 1 if a bar was missed, else 0."""
    if as_json:
        print(json.dumps({"title": title, "rows": [asdict(row) for row in rows]}, indent=2))
    else:
        table = Table(title=title)
        for name in ("what", "who", "seconds", "rate", "ratio", "bar", ""):
            table.add_column(name, justify="right" if name in ("seconds", "rate") else "left")
        for row in rows:
            verdict = "" if row.passed is None else "pass" if row.passed else "FAIL"
            seconds = "" if row.seconds is None else f"{row.seconds:.5f}"
            table.add_row(row.what, row.who, seconds, row.rate, row.ratio, row.bar, verdict)
        Console(width=140).print(table)
    return int(any(row.passed is False for row in rows))
