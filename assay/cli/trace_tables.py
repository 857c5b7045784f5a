"""Summaries and differences of traces as tables."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from .terminal import show

if TYPE_CHECKING:
    from rich.table import Table

    from assay.traces.events.clock import Clock
    from assay.traces.events.compare import Difference
    from assay.traces.events.summary import Summary


def show_summary(summary: "Summary", clock: "Clock", limit: int) -> None:
    """Print a summary."""
    from assay.traces.events.words import counted

    span = clock.text(summary.end - summary.begin)
    typer.echo(f"{summary.title or 'trace'}: {span}, {summary.clock}")
    events = {
        "slice": summary.slices,
        "instant": summary.instants,
        "counter value": summary.values,
        "flow": summary.flows,
    }
    typer.echo(", ".join(counted(count, thing) for thing, count in events.items()))
    _show_tracks(summary, limit)
    _show_names(summary, clock, limit)
    _show_path(summary, clock, limit)
    _show_memories(summary, clock, limit)
    _show_counters(summary, limit)


def show_difference(difference: "Difference", files: Sequence[str], limit: int) -> None:
    """Print how traces differ."""
    from assay.traces.events.clock import time_text
    from assay.traces.events.words import counted

    for file, seconds, slices in zip(files, difference.seconds, difference.slices, strict=True):
        span = f"{time_text(seconds)} from first to last event"
        typer.echo(f"{file}: {span}, {counted(slices, 'slice')}")
    if difference.equal:
        typer.echo("equal: the same slices on the same tracks at the same times")
        return
    if difference.kernels:
        _show_kernel_differences(difference, files, limit)
    for track, numbers in list(difference.only.items())[:limit]:
        names = ", ".join(files[number] for number in numbers)
        typer.echo(f"track {track} is only in {names}")
    _show_rest(len(difference.only), limit, "tracks that are not in all")
    if difference.causes:
        _show_cause_differences(difference, files)
    if difference.names:
        _show_name_differences(difference, files, limit)
    for found in difference.divergences[:limit]:
        typer.echo(
            f"{files[found.trace]}: track {found.track} differs first at slice {found.index} "
            f"({found.what}), {time_text(found.seconds)} in:\n"
            f"  {files[0]}: {found.expected}\n"
            f"  {files[found.trace]}: {found.found}"
        )
    _show_rest(len(difference.divergences), limit, "tracks that differ")


def _table(title: str, left: Sequence[str], right: Sequence[str]) -> "Table":
    from rich import box
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
    for name in left:
        table.add_column(name, overflow="fold")
    for name in right:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _show_rest(count: int, limit: int, what: str) -> None:
    if count > limit:
        typer.echo(f"... and {count - limit:,} more {what}; --limit shows more")


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"


def _show_tracks(summary: "Summary", limit: int) -> None:
    from rich.markup import escape

    if not summary.tracks:
        return
    length = summary.end - summary.begin
    table = _table("Tracks", ["track"], ["slices", "busy", "stalled", "idle"])
    table.add_column("by cause")
    for use in summary.tracks[:limit]:
        causes = [f"{name} {_percent(t, length)}" for name, t in list(use.causes.items())[:4]]
        table.add_row(
            escape(use.track),
            f"{use.slices:,}",
            _percent(use.busy, length),
            _percent(use.stalled, length),
            _percent(use.idle, length),
            escape(", ".join(causes)),
        )
    show(table)
    _show_rest(len(summary.tracks), limit, "tracks")


def _show_names(summary: "Summary", clock: "Clock", limit: int) -> None:
    from rich.markup import escape

    if not summary.names:
        return
    columns = ["count", "total", "own", "median", "p95", "longest"]
    table = _table(f"Slices by name, in {_unit(clock)}", ["name", "kind"], columns)
    for use in summary.names[:limit]:
        figures = (use.count, use.total, use.own, use.median, use.p95, use.most)
        cells = [f"{figure:,}" for figure in figures]
        table.add_row(escape(use.name), escape(use.kind), *cells)
    show(table)
    _show_rest(len(summary.names), limit, "names")


def _show_path(summary: "Summary", clock: "Clock", limit: int) -> None:
    from rich.markup import escape

    if not summary.path:
        return
    length = summary.end - summary.begin
    title = f"Critical path, in {_unit(clock)}"
    table = _table(title, ["track", "name"], ["slices", "in them", "waits before", "of the range"])
    for use in summary.path[:limit]:
        share = _percent(use.ticks + use.wait, length)
        cells = [f"{use.links:,}", f"{use.ticks:,}", f"{use.wait:,}", share]
        table.add_row(escape(use.track), escape(use.name), *cells)
    show(table)
    _show_rest(len(summary.path), limit, "entries")


def _show_memories(summary: "Summary", clock: "Clock", limit: int) -> None:
    from rich.markup import escape

    if not summary.memories:
        return
    table = _table("Memories", ["track"], ["peak", "of its capacity", "at", "highest byte"])
    for use in summary.memories[:limit]:
        share = "-" if use.capacity is None else _percent(use.peak, use.capacity)
        at = f"{use.time:,} {_unit(clock)}"
        table.add_row(escape(use.track), f"{use.peak:,} B", share, at, f"{use.top:,}")
    show(table)
    _show_rest(len(summary.memories), limit, "memories")


def _show_counters(summary: "Summary", limit: int) -> None:
    from rich.markup import escape

    if not summary.counters:
        return
    table = _table("Counters", ["counter", "unit"], ["least", "mean", "most", "last"])
    for use in summary.counters[:limit]:
        figures = (use.least, use.mean, use.most, use.last)
        table.add_row(escape(use.track), escape(use.unit), *[f"{f:,.4g}" for f in figures])
    show(table)
    _show_rest(len(summary.counters), limit, "counters")


def _show_kernel_differences(difference: "Difference", files: Sequence[str], limit: int) -> None:
    """How long kernels take: all other figures hold the host, the queue and tracks in parallel."""
    from rich.markup import escape

    from assay.traces.events.clock import time_text

    heads = [f"{head} {number}" for number in range(1, len(files) + 1) for head in ("count", "sum")]
    table = _table("Kernels: this is the answer", ["kernel"], [*heads, "ratio"])
    totals = [sum(each.seconds[n] for each in difference.kernels) for n in range(len(files))]
    for found in difference.kernels[:limit]:
        names = list(dict.fromkeys(name or "(none)" for name in found.names))
        cells = []
        for count, seconds in zip(found.counts, found.seconds, strict=True):
            cells += [f"{count:,}", time_text(seconds)]
        table.add_row(escape(" -> ".join(names)), *cells, _ratio(found.seconds))
    if len(difference.kernels) > 1:
        cells = [cell for seconds in totals for cell in ("", time_text(seconds))]
        table.add_row("all", *cells, _ratio(totals))
    show(table)
    _show_rest(len(difference.kernels), limit, "kernels")


def _show_cause_differences(difference: "Difference", files: Sequence[str]) -> None:
    from assay.traces.events.clock import time_text

    heads = [f"sum {number}" for number in range(1, len(files) + 1)]
    table = _table("Time by cause", ["cause"], [*heads, "ratio"])
    for cause, seconds in difference.causes.items():
        table.add_row(cause, *[time_text(value) for value in seconds], _ratio(seconds))
    show(table)


def _ratio(seconds: Sequence[float]) -> str:
    """The last against the first."""
    return f"{seconds[-1] / seconds[0]:.3g}" if seconds[0] else "-"


def _show_name_differences(difference: "Difference", files: Sequence[str], limit: int) -> None:
    from rich.markup import escape

    from assay.traces.events.clock import time_text

    heads = [f"{head} {number}" for number in range(1, len(files) + 1) for head in ("count", "sum")]
    table = _table("Slices that differ", ["track", "name"], [*heads, "ratio"])
    for found in difference.names[:limit]:
        cells = []
        for count, seconds in zip(found.counts, found.seconds, strict=True):
            cells += [f"{count:,}", time_text(seconds)]
        table.add_row(escape(found.track), escape(found.name), *cells, _ratio(found.seconds))
    show(table)
    _show_rest(len(difference.names), limit, "names")


def _unit(clock: "Clock") -> str:
    return "cycles" if clock.unit == "cycle" else clock.unit
