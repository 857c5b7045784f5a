"""Several kernels on several chips in one table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from .comparison import RATES, RATES_ARE, mostly
from .numbers import bar, digits, seconds, short_name
from .result import DispatchResult, TimeResult
from .text import COLOURS, LEVEL_NAMES, SHORT, caches_text, chip_text, missed_text

FORMAT = "assay-time-kernels/1"
_BAR = 10
_NAME = 24  # characters of a kernel's name
_WIDTHS = {"time": 7, "cycles": 6, "ways": 9, "GFLOP/s": 7}
_LEGEND = (
    f"{RATES_ARE}. Cycles and ways: per access of a simdgroup to threadgroup memory, "
    "how long its port is taken, and how many words want one bank (1 is no conflict), the worst in "
    "brackets."
)


def kernel_table(kernels: Sequence[Sequence[TimeResult]]) -> RenderableType:
    """A row for each kernel and chip; for each kernel its results by chip."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1))
    table.add_column("kernel", no_wrap=True, overflow="ellipsis")
    table.add_column("chip", min_width=max(len(each.chip.key) for each in kernels[0]))
    heads = ["time", *(LEVEL_NAMES[level] for level in RATES), "cycles", "ways"]
    computes = any(each.flops for results in kernels for each in results)
    for name in [*heads, "GFLOP/s"] if computes else heads:
        table.add_column(name, justify="right", min_width=_WIDTHS.get(name, 4))
    table.add_column("", width=_BAR)
    table.add_column("mostly", min_width=10)
    longest = max(each.seconds for results in kernels for each in results) or 1.0
    for results in kernels:
        for number, each in enumerate(results):
            [dispatch] = each.dispatches
            name = "" if number else short_name(dispatch.kernel, _NAME)
            cells = _cells(dispatch, mostly(each), longest)
            table.add_row(name, each.chip.key, *(cells if computes else cells[:-3] + cells[-2:]))
    chips = dict.fromkeys(chip_text(each.chip) for results in kernels for each in results)
    return Group(
        Text("; ".join(chips), "bold"),
        Text(""),
        table,
        Text(""),
        Text(_LEGEND, "dim"),
        Text(_caches(kernels[0][0]), "dim"),
        *(Text(f"warning: {missed_text(each[0])}") for each in kernels if each[0].missed),
        *_assumed([results[0] for results in kernels]),
    )


def _cells(dispatch: DispatchResult, main: str, longest: float) -> list[RenderableType]:
    """From the time on; the last but two is of arithmetic. `main` is what most time goes to."""
    time = dispatch.time
    cycles = ways = "-"
    if time.banks is not None:
        cycles = digits(time.banks.cycles)
        ways = f"{digits(time.banks.ways)} ({time.banks.worst:.0f})"
    return [
        seconds(time.seconds),
        *(digits(time.achieved_bytes.get(level, 0.0) / 1e9) for level in RATES),
        cycles,
        ways,
        digits(time.achieved / 1e9) if time.flops else "-",
        Text(bar(time.seconds / longest, _BAR), "cyan"),
        Text(SHORT.get(main, main), COLOURS.get(main, "")),
    ]


def _caches(result: TimeResult) -> str:
    """What they hold, and how to see the other way: it changes what comes from DRAM."""
    other = (
        "without --cold they hold what an equal run left" if result.is_cold else "--cold: nothing"
    )
    return f"Caches are {caches_text(result)} ({other})."


def _assumed(results: Sequence[TimeResult]) -> list[RenderableType]:
    """What was assumed, once for all kernels of which it is the same."""
    kernels: dict[str, list[str]] = {}
    for each in results:
        if each.assumptions:
            text = "; ".join(each.assumptions)
            kernels.setdefault(text, []).append(each.dispatches[0].kernel)
    return [
        Text(f"assumed for {', '.join(names)}: {text}", "dim") for text, names in kernels.items()
    ]


def kernels_json(kernels: Sequence[Sequence[TimeResult]]) -> dict[str, Any]:
    """All results as plain data, kernel by kernel and in it chip by chip."""
    return {
        "format": FORMAT,
        "results": [each.to_json() for results in kernels for each in results],
    }
