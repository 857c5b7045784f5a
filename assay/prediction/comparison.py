"""Results of one program on several chips, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from .numbers import bar, percent, rate, seconds
from .result import TimeResult
from .text import COLOURS

FORMAT = "assay-time-comparison/1"
_BAR = 24
_MOST = 0.5  # of the time, from which on the roofline's bound explains it


def comparison(results: Sequence[TimeResult]) -> Table:
    """A row for each chip, in the order given; bars are times."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1))
    table.add_column("chip")
    for name in ("time", "GPU time", "compute", "DRAM", "roofline"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("", width=_BAR)
    table.add_column("mostly", no_wrap=True)
    longest = max(each.seconds for each in results) or 1.0
    for each in results:
        time = each.seconds or 1.0
        least = sum(d.time.roofline.seconds for d in each.dispatches)
        main = _mostly(each, least / time)
        table.add_row(
            each.chip.key,
            seconds(each.seconds),
            seconds(each.gpu_seconds),
            rate(each.flops / time, "FLOP"),
            rate(each.bytes.get("dram", 0.0) / time, "B"),
            f"{percent(least / time)} {_bound(each)}" if least else "no bound",
            Text(bar(each.seconds / longest, _BAR), "cyan"),
            Text(main.replace("_", " "), COLOURS.get(main, "")),
        )
    return table


def _mostly(result: TimeResult, share: float) -> str:
    """What most of the time goes to: the bound of the roofline where it is most of the time."""
    if share >= _MOST:
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
