"""What the simdgroups of a threadgroup do, and when, as a picture; plain SVG.

A row is a simdgroup. Its upper band tells the function that it is in, its lower one what it does
there: works, or waits, and for what. A column of pixels has the colour of what takes most of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
from numpy.typing import NDArray

from assay.hw.apple.core.result import SIMDGROUP_CAUSES, CoreTimeline
from assay.sim.site import Site

from ..numbers import seconds
from ..picture import COLOURS, Picture
from ..result import DispatchResult, TimeResult
from ..sites import own_places

_FUNCTIONS = ("#4477aa", "#ee9944", "#66aa55", "#aa3377", "#66ccee", "#ccbb44", "#994455")
_BARRIER, _LAUNCH = "barrier", "launch"
_WAITING = {_BARRIER: "#dddddd", _LAUNCH: "#f4e3c1"}
_CAUSES = {**COLOURS, "unit": "#8fd0b8"}
_STYLE = (
    "text{font:12px system-ui,sans-serif;fill:currentColor}.t{font-weight:600;font-size:14px}"
    ".s{fill-opacity:.65}.a{stroke:currentColor;stroke-opacity:.25}"
)
_WIDTH, _LEFT, _TOP, _COLUMNS = 860, 100, 60, 736
_ROW, _UPPER, _LOWER = 34, 18, 8
_LEGEND, _ENTRY = 18, 205
_MOST_OF = 0.9
"""A function with so much of the time tells nothing: those that it calls do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shown:
    """Slices of one threadgroup between two cycles; columns of one length."""

    simdgroup: NDArray[np.int32]
    begin: NDArray[np.float64]
    end: NDArray[np.float64]
    cause: NDArray[np.int64]
    phase: NDArray[np.int64]
    phases: tuple[str, ...]
    first: float
    last: float


def plot_timeline(
    result: TimeResult, *, dispatch: int = 0, cycles: tuple[float, float] | None = None
) -> Picture:
    """The first threadgroup of a dispatch, from its launch to its end.

    Args:
        result: timed with `timeline=True`.
        dispatch: its number in the result.
        cycles: only these, counted from the launch.

    Raises:
        ValueError: if there is no such dispatch, or no timeline was kept, or nothing ran then.
    """
    if not 0 <= dispatch < len(result.dispatches):
        raise ValueError(f"{result.program} has {len(result.dispatches)} dispatches, no {dispatch}")
    chosen = result.dispatches[dispatch]
    if chosen.time.timeline is None:
        raise ValueError(f"{chosen.kernel}: no timeline was kept; time it with timeline=True")
    shown = _shown(chosen, chosen.time.timeline, cycles)
    rows = np.unique(shown.simdgroup)
    bottom = _TOP + len(rows) * _ROW
    parts = [*_head(result, chosen, shown), *_axis(shown, bottom)]
    for place, number in enumerate(rows):
        parts += _row(shown, int(number), _TOP + place * _ROW)
    legend = list(_legend(shown, bottom + 44))
    height = bottom + 44 + _LEGEND * (1 + len(_entries(shown)) // (_WIDTH // _ENTRY))
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
        f'width="{_WIDTH}" height="{height}" role="img" style="color:#222;background:#fff">'
    )
    return Picture("\n".join([opening, f"<style>{_STYLE}</style>", *parts, *legend, "</svg>"]))


def _shown(
    dispatch: DispatchResult, timeline: CoreTimeline, cycles: tuple[float, float] | None
) -> _Shown:
    group = timeline.threadgroup[int(np.argmin(timeline.begin))]
    own = timeline.threadgroup == group
    launch = float(timeline.begin[own].min())
    first, last = cycles or (0.0, float(timeline.end[own].max()) - launch)
    begin = np.maximum(timeline.begin - launch, first)
    end = np.minimum(timeline.end - launch, last)
    kept = own & (end > begin)
    if not kept.any():
        raise ValueError(f"{dispatch.kernel}: nothing runs from cycle {first:g} to {last:g}")
    cause = timeline.cause[kept].astype(np.int64)
    names = _phases(timeline, dispatch, (end - begin) * kept)
    phases = tuple(dict.fromkeys([*names, dispatch.kernel, _BARRIER, _LAUNCH]))
    numbers = np.array([phases.index(name) for name in [*names, dispatch.kernel]])
    phase = numbers[timeline.site[kept]]  # Site -1 is the last: the kernel.
    for name in (_BARRIER, _LAUNCH):
        phase = np.where(cause == SIMDGROUP_CAUSES.index(name), phases.index(name), phase)
    return _Shown(
        simdgroup=timeline.simdgroup[kept],
        begin=begin[kept],
        end=end[kept],
        cause=cause,
        phase=phase,
        phases=phases,
        first=first,
        last=last,
    )


def _phases(
    timeline: CoreTimeline, dispatch: DispatchResult, lasts: NDArray[np.float64]
) -> list[str]:
    """The function that each place counts for: the outermost that does not hold nearly all."""
    chains = [_calls(site, dispatch) for site in timeline.sites]
    works = (timeline.site >= 0) & (timeline.cause != SIMDGROUP_CAUSES.index(_BARRIER))
    times = np.zeros(len(chains))
    np.add.at(times, timeline.site[works], lasts[works])
    depth = 0
    while _one_calls_others(chains, times, depth):
        depth += 1
    return [chain[min(depth, len(chain) - 1)] for chain in chains]


def _calls(site: Site, dispatch: DispatchResult) -> tuple[str, ...]:
    """Functions of the source from the kernel inwards, without arguments of templates."""
    places = own_places(site, dispatch.sources)[::-1]
    names = (place.function.partition("<")[0] or dispatch.kernel for place in places)
    return tuple(names) or (dispatch.kernel,)


def _one_calls_others(
    chains: Sequence[tuple[str, ...]], times: NDArray[np.float64], depth: int
) -> bool:
    """Whether one function so deep holds nearly all of the time, and calls others."""
    held: dict[str, float] = {}
    for chain, time in zip(chains, times, strict=True):
        if len(chain) > depth:
            held[chain[depth]] = held.get(chain[depth], 0.0) + float(time)
    name = max(held, key=lambda each: held[each], default=None)
    if name is None or held[name] < _MOST_OF * float(times.sum()):
        return False
    return any(len(chain) > depth + 1 and chain[depth] == name for chain in chains)


def _head(result: TimeResult, dispatch: DispatchResult, shown: _Shown) -> Iterator[str]:
    together = dispatch.time.occupancy.threadgroups
    whole = shown.last - shown.first
    about = "a threadgroup" if together == 1 else f"one of the {together} threadgroups of a core"
    yield _text(16, 24, f"{dispatch.kernel} on {result.chip.name}", "t")
    length = seconds(whole * dispatch.seconds / dispatch.cycles)
    yield _text(16, 44, f"{about}, {whole:,.0f} cycles, {length}", "s")


def _axis(shown: _Shown, bottom: int) -> Iterator[str]:
    """Lines at round numbers of cycles."""
    length = shown.last - shown.first
    step = 10.0 ** np.floor(np.log10(length))
    step *= next(part for part in (0.1, 0.2, 0.5, 1.0) if length / (step * part) <= 10)
    for number in range(int(np.ceil(shown.first / step)), int(shown.last / step) + 1):
        at = _LEFT + (number * step - shown.first) / length * _COLUMNS
        yield f'<path class="a" d="M{at:.1f} {_TOP - 6}V{bottom}"/>'
        yield _text(at, bottom + 14, f"{number * step:,.10g}", "s", "middle")
    yield _text(_LEFT - 8, bottom + 14, "cycle", "s", "end")


def _row(shown: _Shown, simdgroup: int, top: int) -> Iterator[str]:
    yield _text(_LEFT - 8, top + 16, f"simdgroup {simdgroup}", "", "end")
    own = shown.simdgroup == simdgroup
    colours = _function_colours(shown)
    for label, left, width in _columns(shown, own, shown.phase):
        name = shown.phases[label]
        yield _box(left, top, width, _UPPER, colours[name], name)
    for label, left, width in _columns(shown, own, shown.cause):
        name = SIMDGROUP_CAUSES[label]
        yield _box(left, top + _UPPER, width, _LOWER, _CAUSES[name], name)


def _columns(
    shown: _Shown, own: NDArray[np.bool_], labels: NDArray[np.int64]
) -> Iterator[tuple[int, int, int]]:
    """(label, first column, columns) of each run of columns that one label has most of."""
    edges = np.linspace(shown.first, shown.last, _COLUMNS + 1)
    known = np.unique(labels[own])
    times = np.array([_time_until(shown, own & (labels == label), edges) for label in known])
    parts = np.diff(times, axis=1)
    most = np.where(parts.sum(axis=0) > 0, known[parts.argmax(axis=0)], -1)
    starts = np.flatnonzero(np.diff(most, prepend=-2))
    for start, stop in zip(starts, [*starts[1:], _COLUMNS], strict=True):
        if most[start] >= 0:
            yield int(most[start]), int(start), int(stop - start)


def _time_until(
    shown: _Shown, chosen: NDArray[np.bool_], edges: NDArray[np.float64]
) -> NDArray[np.float64]:
    """How long the chosen slices, which do not overlap, have lasted up to each edge."""
    order = np.argsort(shown.begin[chosen], kind="stable")
    begin, end = shown.begin[chosen][order], shown.end[chosen][order]
    lasted = np.cumsum(end - begin)
    points = np.column_stack([begin, end]).reshape(-1)
    values = np.column_stack([lasted - (end - begin), lasted]).reshape(-1)
    return np.interp(edges, points, values)


def _function_colours(shown: _Shown) -> Mapping[str, str]:
    own = [name for name in shown.phases if name not in _WAITING]
    return {n: _FUNCTIONS[i % len(_FUNCTIONS)] for i, n in enumerate(own)} | _WAITING


def _entries(shown: _Shown) -> list[tuple[str, str]]:
    """(colour, text) of functions, then of what is done in them, that are in the picture."""
    colours = _function_colours(shown)
    functions = [(colours[n], n) for i, n in enumerate(shown.phases) if (shown.phase == i).any()]
    causes = [SIMDGROUP_CAUSES[number] for number in np.unique(shown.cause)]
    return functions + [(_CAUSES[name], f"below: {name.replace('_', ' ')}") for name in causes]


def _legend(shown: _Shown, top: int) -> Iterator[str]:
    across = _WIDTH // _ENTRY
    for number, (colour, text) in enumerate(_entries(shown)):
        left, y = 16 + number % across * _ENTRY, top + number // across * _LEGEND
        yield f'<rect x="{left}" y="{y - 10}" width="12" height="12" fill="{colour}"/>'
        yield _text(left + 18, y, text)


def _box(column: int, top: int, width: int, height: int, colour: str, title: str) -> str:
    return (
        f'<rect x="{_LEFT + column}" y="{top}" width="{width}" height="{height}" fill="{colour}">'
        f"<title>{escape(title.replace('_', ' '))}</title></rect>"
    )


def _text(x: float, y: float, text: str, style: str = "", anchor: str = "start") -> str:
    kind = f' class="{style}"' if style else ""
    place = "" if anchor == "start" else f' text-anchor="{anchor}"'
    return f'<text x="{x:.1f}" y="{y:.1f}"{kind}{place}>{escape(text)}</text>'
