"""Results for people: what takes how long, why, and where in the source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from io import StringIO

from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from assay.hw.apple.core.result import CAUSES, BankUse, DispatchTime
from assay.hw.apple.core.shared import PARTITIONS
from assay.hw.apple.facts.accuracy import ModelError
from assay.hw.apple.facts.chips import Chip

from ..launches.grid import size_text
from .numbers import amount, bar, digits, percent, rate, seconds, short_name
from .result import DispatchResult, TimeResult
from .sites import ELSEWHERE, ELSEWHERE_IS

COLOURS: Mapping[str, str] = {
    "issue": "green",
    "dependency": "yellow",
    "l1": "bright_cyan",
    "l2": "cyan",
    "slc": "blue",
    "dram": "bright_blue",
    "threadgroup_memory": "magenta",
    "barrier": "red",
    "atomic": "bright_magenta",
    "launch": "bright_yellow",
    "idle": "bright_black",
}
LEVEL_NAMES: Mapping[str, str] = {
    "l1": "L1",
    "l2": "L2",
    "slc": "SLC",
    "dram": "DRAM",
    "threadgroup_memory": "threadgroup memory",
}
"""Levels of memory for people."""
SHORT = {"threadgroup_memory": "tg memory"}
"""Names of causes where room is scarce."""

_BAR = 24
_FACTS_BAR = 16  # beside long texts
_FUNCTIONS = 8
_ROWS = 24
_NAME = 36  # characters of a kernel's name in a table
_PREFIX = 8  # common to all names, from which on they are shortened
_WIDTH = 100
_DIFFERENT = 0.05  # shares of DRAM that differ by less are alike
_LEAST = 0.0005  # shares below are not shown


def result_text(result: TimeResult) -> str:
    """The result as plain text."""
    console = Console(file=StringIO(), width=_WIDTH, color_system=None, highlight=False)
    console.print(renderable(result))
    assert isinstance(console.file, StringIO)
    return console.file.getvalue().rstrip()


def renderable(result: TimeResult) -> RenderableType:
    """One dispatch in detail, or a table of several."""
    if not result.dispatches:
        return Text(f"{result.program}: no kernel was timed on the GPU")
    if len(result.dispatches) == 1:
        return _one(result, result.dispatches[0])
    return _several(result)


def chip_text(chip: Chip) -> str:
    """`Apple M4 Max, 40 cores at 1578 MHz`."""
    return f"{chip.name}, {chip.cores} cores at {chip.clock / 1e6:.0f} MHz"


def cause_table(causes: Mapping[str, float], total: float) -> Table:
    """Causes with bars, the largest first."""
    table = Table.grid(padding=(0, 1))
    table.add_column(min_width=12)
    table.add_column(justify="right")
    table.add_column(width=_BAR)
    table.add_column(style="dim")
    for cause in sorted(causes, key=lambda each: -causes[each]):
        share = causes[cause] / total if total else 0.0
        if share >= _LEAST:
            text = cause.replace("_", " ")
            drawn = Text(bar(share, _BAR), COLOURS.get(cause, ""))
            table.add_row(text, percent(share), drawn, _idle(share) if cause == "idle" else "")
    return table


def _idle(share: float) -> str:
    """What is idle: of a core's partitions so many, on average."""
    count = round(share * PARTITIONS, 1)
    said = f"{count:g}" if count else "less than 0.1"
    return f"partitions without a simdgroup ({said} of {PARTITIONS})"


def _one(result: TimeResult, dispatch: DispatchResult) -> RenderableType:
    parts: list[RenderableType] = [
        Text.assemble((dispatch.kernel, "bold"), " on ", (chip_text(result.chip), "bold")),
        Text(_grid(dispatch), "dim", overflow="fold"),
        Text(""),
        _facts(result, dispatch),
        Text(""),
        Text("where the time goes", "bold"),
        cause_table(dispatch.time.causes, dispatch.cycles),
    ]
    if len(dispatch.functions) > 1:
        parts += [Text(""), _functions(dispatch)]
        if any(each.name == ELSEWHERE for each in dispatch.functions[:_FUNCTIONS]):
            parts.append(Text(f"{ELSEWHERE}: {ELSEWHERE_IS}", "dim"))
    return Group(*parts, *_assumed(result))


def _assumed(result: TimeResult) -> list[RenderableType]:
    if not result.assumptions:
        return []
    parts: list[RenderableType] = [Text("")]
    if result.missed:
        parts.append(Text.assemble(("warning: ", "bold yellow"), missed_text(result)))
    return [*parts, Text("assumed: " + "; ".join(result.assumptions), "dim")]


def missed_text(result: TimeResult) -> str:
    """What of a kernel takes no time here, but may with values that somebody states."""
    said = "; ".join(result.missed)
    return (
        f"of kernel '{result.dispatches[0].kernel}' not all is timed: {said}: state args, as assay "
        "inspect --args-template prints it"
    )


def _grid(dispatch: DispatchResult) -> str:
    x, y, z = dispatch.grid
    groups = x * y * z
    threads = size_text(dispatch.threadgroup)
    place = f", {dispatch.file}:{dispatch.line}" if dispatch.file else ""
    count = f"{size_text(dispatch.grid)} threadgroup{'' if groups == 1 else 's'}"
    return f"{count} of {threads} threads{place}"


def _facts(result: TimeResult, dispatch: DispatchResult) -> Table:
    time, roofline, occupancy = dispatch.time, dispatch.time.roofline, dispatch.time.occupancy
    table = Table.grid(padding=(0, 2))
    table.add_column(min_width=12, no_wrap=True)
    table.add_column()
    table.add_column(justify="right", no_wrap=True)
    table.add_column(max_width=_FACTS_BAR, no_wrap=True)
    table.add_row(
        "time",
        Text.assemble(
            (seconds(time.seconds), "bold"),
            f"{_sampling(time.error)}, {digits(time.cycles)} cycles",
        ),
    )
    table.add_row("model error", model_error_text(dispatch.model_error))
    table.add_row("caches", caches_text(result))
    table.add_row(
        "with launch", f"{seconds(result.gpu_seconds)} of GPU time in a command buffer of its own"
    )
    if time.flops:
        table.add_row(*_rate("compute", time.achieved, roofline.flops_per_second, "FLOP"))
    for level, name in LEVEL_NAMES.items():
        achieved = time.achieved_bytes.get(level, 0.0)
        if achieved or level == "dram":
            name = "tg memory" if level == "threadgroup_memory" else name
            table.add_row(*_rate(name, achieved, time.peak_bytes[level], "B"))
    if time.banks is not None:
        table.add_row("tg accesses", _banks_text(time.banks))
    if roofline.seconds:
        table.add_row(
            "roofline",
            f"{seconds(roofline.seconds)} at least, by {_bound(roofline.bound)}",
            percent(roofline.fraction),
            Text(bar(roofline.fraction, _FACTS_BAR), "green"),
        )
    else:
        table.add_row("roofline", "no bound: no floating-point operations, no memory")
    table.add_row("occupancy", occupancy_text(dispatch))
    if occupancy.spilled:
        table.add_row("spilled", f"{percent(occupancy.spilled)} of a thread's registers")
    if time.sampled < time.threadgroups or time.extrapolated:
        table.add_row("simulated", _simulated(time))
    return table


def caches_text(result: TimeResult) -> str:
    """What caches held before, and how it would be the other way where DRAM tells them apart."""
    if result.is_cold is None:
        return "as the program left them: cold for what it touches first"
    name, meaning = ("cold", "nothing") if result.is_cold else ("warm", "what an equal run left")
    text = f"{name}: they hold {meaning}"
    other = result.otherwise
    if other is None:
        return text
    shares = [_dram_share(each) for each in (result, other)]
    if abs(shares[0] - shares[1]) < _DIFFERENT:
        return text
    opposite = "warm" if result.is_cold else "cold"
    return f"{text}; {opposite}: {seconds(other.seconds)}, DRAM {percent(shares[1])}"


def _dram_share(result: TimeResult) -> float:
    """Of the bandwidth that DRAM sustains, what the program takes."""
    peak = result.dispatches[0].time.roofline.bytes_per_second
    return result.achieved_bytes.get("dram", 0.0) / peak if peak else 0.0


def _sampling(error: float) -> str:
    """The error that is known of one prediction: what sampling may have missed."""
    return f" ± {percent(error)} (sampling alone)" if error else ""


def model_error_text(error: ModelError) -> str:
    """How far off the model itself may be, by what it made of published measurements."""
    return (
        f"of {error.count} published {error.what}, "
        f"half within {percent(error.median)}, 9 in 10 within {percent(error.p90)}"
    )


def _simulated(time: DispatchTime) -> str:
    """What of the dispatch was simulated."""
    text = f"{time.sampled} of {time.threadgroups:,} threadgroups"
    if time.extrapolated:
        text += (
            f", {percent(1 - time.extrapolated)} of their instructions; steady loops go on alike"
        )
    return text


def occupancy_text(dispatch: DispatchResult) -> str:
    """How many simdgroups and threadgroups a core holds, and why not more."""
    found = dispatch.time.occupancy
    groups = f"{found.threadgroups} threadgroup{'' if found.threadgroups == 1 else 's'}"
    simdgroups = f"{found.simdgroups} simdgroup{'' if found.simdgroups == 1 else 's'}"
    return f"{simdgroups}, {groups} per core; limited by {found.limiter}"


def _rate(name: str, achieved: float, peak: float, unit: str) -> tuple[str, str, str, Text]:
    share = achieved / peak if peak else 0.0
    text = f"{rate(achieved, unit)} of {rate(peak, unit)}"
    return name, text, percent(share), Text(bar(share, _FACTS_BAR), "cyan")


def _banks_text(banks: BankUse) -> str:
    """How long threadgroup memory is taken, and by what."""
    ways = "no bank conflicts"
    if banks.worst > 1:
        ways = f"bank conflicts of {digits(banks.ways)} ways, {banks.worst:.0f} at worst"
    return f"{digits(banks.cycles)} cycles each, {ways}"


def _bound(bound: str) -> str:
    return LEVEL_NAMES.get(bound, bound)


def _functions(dispatch: DispatchResult) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1))
    table.add_column("function")
    table.add_column("cycles", justify="right")
    table.add_column("", justify="right")
    table.add_column("", width=_BAR)
    shown = dispatch.functions[:_FUNCTIONS]
    for each in shown:
        share = each.cycles / dispatch.cycles if dispatch.cycles else 0.0
        table.add_row(
            each.name, digits(each.cycles), percent(share), stacked(each.causes, dispatch.cycles)
        )
    if len(dispatch.functions) > len(shown):
        table.add_row(f"and {len(dispatch.functions) - len(shown)} more")
    return table


def stacked(causes: Mapping[str, float], total: float, width: int = _BAR) -> Text:
    """One bar whose parts are the causes, in their colours, as long as their share of `total`."""
    text = Text()
    done = 0.0
    drawn = 0
    for cause in CAUSES:
        done += causes.get(cause, 0.0)
        until = round(width * done / total) if total else 0
        text.append("█" * (until - drawn), COLOURS.get(cause, ""))
        drawn = max(drawn, until)
    return text


def _several(result: TimeResult) -> RenderableType:
    unique = result.unique()
    total = result.seconds
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1))
    prefix = _prefix([dispatch.kernel for dispatch, _ in unique])
    table.add_column(f"{prefix}..." if prefix else "kernel", overflow="ellipsis", no_wrap=True)
    for name in ("times", "each", "all", "", "compute", "DRAM", "resident"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("mostly", no_wrap=True)
    for dispatch, count in unique[:_ROWS]:
        name = short_name(dispatch.kernel.removeprefix(prefix), _NAME)
        table.add_row(name, *_row(dispatch, count, total))
    parts: list[RenderableType] = [
        Text.assemble((result.program, "bold"), " on ", (chip_text(result.chip), "bold")),
        Text(""),
        table,
    ]
    if len(unique) > _ROWS:
        rest = sum(each.seconds * count for each, count in unique[_ROWS:])
        parts.append(
            Text(f"and {len(unique) - _ROWS} more that take {seconds(rest)} together", "dim")
        )
    parts += [Text(""), _totals(result), Text(""), Text("where the time goes", "bold")]
    parts.append(cause_table(_in_seconds(result), total))
    return Group(*parts, *_assumed(result))


def _prefix(names: list[str]) -> str:
    """What all names begin with, if that is worth leaving out: whole words up to a `_`."""
    first, last = min(names), max(names)
    same = next((n for n, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), 0)
    prefix = first[: first.rfind("_", 0, same) + 1]
    return prefix if _PREFIX <= len(prefix) <= _NAME else ""


def _in_seconds(result: TimeResult) -> dict[str, float]:
    return {cause: cycles / result.chip.clock for cause, cycles in result.causes.items()}


def _row(dispatch: DispatchResult, count: int, total: float) -> Iterator[RenderableType]:
    time = dispatch.time
    yield f"{count:,}"
    yield seconds(time.seconds)
    yield seconds(time.seconds * count)
    yield percent(time.seconds * count / total) if total else "-"
    yield rate(time.achieved, "FLOP")
    yield rate(time.achieved_bytes.get("dram", 0.0), "B")
    yield str(time.occupancy.simdgroups)
    main = max(time.causes, key=lambda cause: time.causes[cause])
    yield Text(main.replace("_", " "), COLOURS.get(main, ""))


def _totals(result: TimeResult) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(min_width=12, no_wrap=True)
    table.add_column()
    count = len(result.dispatches)
    table.add_row(
        "kernels",
        Text.assemble(
            (seconds(result.seconds), "bold"),
            f"{_sampling(result.error)} in {count:,} dispatches, "
            f"{result.simulations} of them different",
        ),
    )
    if result.model_error is not None:
        table.add_row("model error", model_error_text(result.model_error))
    buffers = len(result.schedule.submissions)
    table.add_row(
        "GPU time",
        Text.assemble(
            (seconds(result.gpu_seconds), "bold"),
            f" with launches and barriers, {buffers} command buffer{'' if buffers == 1 else 's'}",
        ),
    )
    table.add_row("seen by host", f"after {seconds(result.host_seconds)}")
    moved = result.bytes.get("dram", 0.0)
    table.add_row("work", f"{amount(result.flops, 'FLOP')}, {amount(moved, 'B')} of DRAM traffic")
    if result.schedule.stuck:
        table.add_row(
            "never ran", f"{len(result.schedule.stuck)} command buffers wait for an event"
        )
    return table
