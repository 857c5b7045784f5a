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
        causes = each.causes
        main = max(causes, key=lambda cause: causes[cause]) if causes else ""
        time = each.seconds or 1.0
        table.add_row(
            each.chip.key,
            seconds(each.seconds),
            seconds(each.gpu_seconds),
            rate(each.flops / time, "FLOP"),
            rate(each.bytes.get("dram", 0.0) / time, "B"),
            percent(sum(d.time.roofline.seconds for d in each.dispatches) / time),
            Text(bar(each.seconds / longest, _BAR), "cyan"),
            Text(main.replace("_", " "), COLOURS.get(main, "")),
        )
    return table


def comparison_json(results: Sequence[TimeResult]) -> dict[str, Any]:
    """All results as plain data."""
    return {"format": FORMAT, "results": [each.to_json() for each in results]}
