"""Results of one program on several chips, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from .numbers import bar, digits, percent, rate, seconds
from .result import TimeResult
from .text import COLOURS, LEVEL_NAMES

FORMAT = "assay-time-comparison/1"
RATES = ("l1", "l2", "slc", "dram")
RATES_ARE = "L1 to DRAM: GB/s achieved"
_BAR = 16
_MOST = 0.5  # of the time, from which on the roofline's bound explains it


def comparison(results: Sequence[TimeResult]) -> RenderableType:
    """A row for each chip, in the order given; bars are times."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1))
    table.add_column("chip")
    computes = any(each.flops for each in results)
    rates = [LEVEL_NAMES[level] for level in RATES]
    for name in ("time", "GPU time", *(["compute"] if computes else []), *rates, "roofline"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("", width=_BAR)
    table.add_column("mostly", no_wrap=True)
    longest = max(each.seconds for each in results) or 1.0
    for each in results:
        time = each.seconds or 1.0
        least = sum(d.time.roofline.seconds for d in each.dispatches)
        main = mostly(each)
        moved = (each.bytes.get(level, 0.0) / time for level in RATES)
        table.add_row(
            each.chip.key,
            seconds(each.seconds),
            seconds(each.gpu_seconds),
            *([rate(each.flops / time, "FLOP")] if computes else []),
            *(digits(each_second / 1e9) for each_second in moved),
            f"{percent(least / time)} {_bound(each)}" if least else "no bound",
            Text(bar(each.seconds / longest, _BAR), "cyan"),
            Text(main.replace("_", " "), COLOURS.get(main, "")),
        )
    return Group(table, Text(""), Text(f"{RATES_ARE}.", "dim"))


def mostly(result: TimeResult) -> str:
    """What most of the time goes to: the bound of the roofline where it is most of the time."""
    least = sum(each.time.roofline.seconds for each in result.dispatches)
    if result.seconds and least / result.seconds >= _MOST:
        bound = _bound(result)
        return "issue" if bound == "compute" else bound
    causes = result.causes
    return max(causes, key=lambda cause: causes[cause]) if causes else ""


def _bound(result: TimeResult) -> str:
    """The roofline's bound of the dispatches that take longest by it."""
    found: dict[str, float] = {}
    for each in result.dispatches:
        roofline = each.time.roofline
        found[roofline.bound] = found.get(roofline.bound, 0.0) + roofline.seconds
    return max(found, key=lambda bound: found[bound]) if found else ""


def comparison_json(results: Sequence[TimeResult]) -> dict[str, Any]:
    """All results as plain data."""
    return {"format": FORMAT, "results": [each.to_json() for each in results]}
