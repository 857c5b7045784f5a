"""A result as a picture: the roofline with each dispatch, and time by cause; plain SVG."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path

from .numbers import amount, percent, rate, seconds
from .result import DispatchResult, TimeResult

# Okabe and Ito's palette, told apart with any colour vision; work is green, idling grey.
COLOURS = {
    "issue": "#009e73",
    "dependency": "#f0e442",
    "l1": "#a6d8f5",
    "l2": "#56b4e9",
    "slc": "#2d7fb8",
    "dram": "#0072b2",
    "threadgroup_memory": "#cc79a7",
    "barrier": "#d55e00",
    "atomic": "#882255",
    "launch": "#e69f00",
    "idle": "#bbbbbb",
}
_STYLE = (
    "text{font:12px system-ui,sans-serif;fill:currentColor}.t{font-weight:600;font-size:14px}"
    ".s{fill-opacity:.65}.a{stroke:currentColor;stroke-opacity:.25}"
    ".r{stroke:currentColor;stroke-width:2;fill:none}.p{stroke:#fff;stroke-width:1}"
)
_WIDTH, _TOP, _LEFT = 860, 84, 64
_PLOT_WIDTH, _PLOT_HEIGHT = 420, 280
_BARS_LEFT, _BARS_WIDTH, _ROW = 540, 200, 24
_LABELLED = 4  # dispatches whose name stands next to their point


@dataclass(frozen=True, slots=True)
class Picture:
    """An SVG picture; notebooks show it, `save` writes it."""

    svg: str

    def save(self, path: str | Path) -> None:
        """Write it as `.svg`, or as a page, `.html`. Raises ValueError for other names."""
        texts = {".svg": self.svg, ".html": self.html}
        suffix = Path(path).suffix
        if suffix not in texts:
            raise ValueError(f"{path}: a picture is written as {' or '.join(texts)}")
        Path(path).write_text(texts[suffix], encoding="utf-8")

    @property
    def html(self) -> str:
        """The picture as a page of its own."""
        return f"<!doctype html><meta charset=utf-8><title>assay time</title>{self.svg}"

    def _repr_svg_(self) -> str:
        return self.svg


def plot(result: TimeResult) -> Picture:
    """The picture of a result."""
    height = _TOP + _PLOT_HEIGHT + 52
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
        f'width="{_WIDTH}" height="{height}" role="img" style="color:#222;background:#fff">',
        f"<style>{_STYLE}</style>",
        _text(16, 24, f"{result.program} on {result.chip.name}", "t"),
        _text(16, 44, f"{seconds(result.seconds)}, dispatches: {len(result.dispatches)}", "s"),
    ]
    if result.dispatches:
        parts += _roofline(result)
        parts += _bars(result)
    return Picture("\n".join([*parts, "</svg>"]))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scale:
    """A logarithmic scale from powers of ten to pixels."""

    low: int
    high: int
    start: float
    length: float

    def at(self, value: float) -> float:
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return self.start + self.length * max(0.0, min(1.0, share))

    def decades(self) -> Iterator[tuple[float, float]]:
        """(value, pixel) of each power of ten."""
        for power in range(self.low, self.high + 1):
            yield 10.0**power, self.at(10.0**power)

    @classmethod
    def of(cls, values: list[float], start: float, length: float) -> _Scale:
        low = math.floor(math.log10(min(values)))
        high = math.ceil(math.log10(max(values)))
        return cls(low=low, high=max(high, low + 1), start=start, length=length)


def _points(result: TimeResult) -> list[tuple[DispatchResult, int, float]]:
    """(dispatch, how many equal it, FLOP per byte of DRAM) of those that compute and move."""
    found = []
    for dispatch, count in result.unique():
        moved = dispatch.time.bytes.get("dram", 0.0)
        if moved > 0 and dispatch.time.flops > 0:
            found.append((dispatch, count, dispatch.time.flops / moved))
    return found


def _roofline(result: TimeResult) -> Iterator[str]:
    points = _points(result)
    roof = result.dispatches[0].time.roofline
    ridge = roof.flops_per_second / roof.bytes_per_second
    x = _Scale.of([ridge / 10, ridge * 10, *(each[2] for each in points)], _LEFT, _PLOT_WIDTH)
    reached = [each[0].time.achieved for each in points]
    floor = _TOP + _PLOT_HEIGHT
    y = _Scale.of(
        [roof.flops_per_second * 1.01, roof.flops_per_second / 1000, *reached],
        floor,
        -_PLOT_HEIGHT,
    )
    for value, at in x.decades():
        yield _line(at, _TOP, at, floor)
        yield _text(at, floor + 16, f"{value:g}", "s", "middle")
    for value, at in y.decades():
        yield _line(_LEFT, at, _LEFT + _PLOT_WIDTH, at)
        yield _text(_LEFT - 6, at + 4, amount(value, ""), "s", "end")
    middle = _LEFT + _PLOT_WIDTH / 2
    yield _text(middle, floor + 36, "FLOP per byte of DRAM traffic", "s", "middle")
    yield _text(_LEFT, _TOP - 10, "FLOP/s", "s")
    left = 10.0**x.low
    corner = (x.at(ridge), y.at(roof.flops_per_second))
    start = (x.at(left), y.at(left * roof.bytes_per_second))
    yield (
        f'<path class="r" d="M{start[0]:.1f} {start[1]:.1f}L{corner[0]:.1f} {corner[1]:.1f}'
        f'H{_LEFT + _PLOT_WIDTH}"/>'
    )
    yield _text(_LEFT + _PLOT_WIDTH, corner[1] - 6, rate(roof.flops_per_second, "FLOP"), "s", "end")
    if missing := _left_out(result):
        yield _text(_LEFT + 8, floor - 8, f"not here: {missing}", "s")
    total = result.seconds or 1.0
    for number, (dispatch, count, intensity) in enumerate(points):
        share = dispatch.seconds * count / total
        yield _point(dispatch, count, x.at(intensity), y.at(dispatch.time.achieved), share)
        if number < _LABELLED:
            name = dispatch.kernel if len(dispatch.kernel) < 30 else dispatch.kernel[:28] + "…"
            side = -1 if x.at(intensity) > _LEFT + 0.6 * _PLOT_WIDTH else 1
            anchor = "start" if side > 0 else "end"
            at = x.at(intensity) + side * 16
            yield _text(at, y.at(dispatch.time.achieved) + 4, name, "", anchor)


def _left_out(result: TimeResult) -> str:
    """Which kernels have no place on the roofline, and why; empty if all have."""
    reasons: dict[str, list[str]] = {}
    for dispatch, _ in result.unique():
        if not dispatch.time.flops:
            reasons.setdefault("computes nothing", []).append(dispatch.kernel)
        elif not dispatch.time.bytes.get("dram"):
            reasons.setdefault("needs nothing from DRAM", []).append(dispatch.kernel)
    texts = []
    for reason, kernels in reasons.items():
        more = f" and {len(kernels) - 1} more" if len(kernels) > 1 else ""
        name = kernels[0] if len(kernels[0]) < 24 else kernels[0][:22] + "…"
        texts.append(f"{name}{more} {reason}")
    return "; ".join(texts)


def _point(dispatch: DispatchResult, count: int, x: float, y: float, share: float) -> str:
    main = max(dispatch.time.causes, key=lambda cause: dispatch.time.causes[cause])
    title = (
        f"{dispatch.kernel}: {count} x {seconds(dispatch.seconds)}, "
        f"{rate(dispatch.time.achieved, 'FLOP')}, mostly {main.replace('_', ' ')}"
    )
    return (
        f'<circle class="p" cx="{x:.1f}" cy="{y:.1f}" r="{4 + 8 * math.sqrt(share):.1f}" '
        f'fill="{COLOURS.get(main, "#777")}"><title>{escape(title)}</title></circle>'
    )


def _bars(result: TimeResult) -> Iterator[str]:
    causes, total = result.causes, result.cycles or 1.0
    yield _text(_BARS_LEFT, _TOP - 10, "where the time goes", "s")
    shown = sorted((c for c in causes if causes[c] > 0), key=lambda cause: -causes[cause])
    most = max((causes[cause] for cause in shown), default=1.0)
    for number, cause in enumerate(shown):
        top = _TOP + 8 + number * _ROW
        width = _BARS_WIDTH * causes[cause] / most
        yield (
            f'<rect x="{_BARS_LEFT}" y="{top}" width="{width:.1f}" height="{_ROW - 12}" rx="2" '
            f'fill="{COLOURS.get(cause, "#777")}"/>'
        )
        text = f"{cause.replace('_', ' ')} {percent(causes[cause] / total)}"
        yield _text(_BARS_LEFT + width + 6, top + 10, text)


def _line(x: float, y: float, to_x: float, to_y: float) -> str:
    return f'<path class="a" d="M{x:.1f} {y:.1f}L{to_x:.1f} {to_y:.1f}"/>'


def _text(x: float, y: float, text: str, style: str = "", anchor: str = "start") -> str:
    kind = f' class="{style}"' if style else ""
    place = "" if anchor == "start" else f' text-anchor="{anchor}"'
    return f'<text x="{x:.1f}" y="{y:.1f}"{kind}{place}>{escape(text)}</text>'
