"""Predicted against published as an SVG: log scales, a line of equality, bands of 20 and 45 %."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence

from .cases import Status
from .summary import Prediction

_SIZE, _MARGIN = 640, 60
_COLOURS = {
    "instructions": "#1f77b4",
    "gemm": "#d62728",
    "bandwidth": "#2ca02c",
    "reductions": "#9467bd",
    "llm": "#ff7f0e",
}
_OTHER = "#7f7f7f"
_LEAST, _MOST = -2.5, 4.5  # decades of the published value


def plot(predictions: Sequence[Prediction]) -> str:
    """One dot for each counted row; hollow ones are rows that constants were fitted to."""
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_SIZE} {_SIZE}" '
        'font-family="sans-serif" font-size="12">',
        "<style>.ink{fill:#444}.rule{stroke:#888}"
        "@media(prefers-color-scheme:dark){.ink{fill:#ccc}.rule{stroke:#999}}</style>",
        *_frame(),
    ]
    for prediction in predictions:
        lines += _dot(prediction)
    lines += _legend()
    return "\n".join([*lines, "</svg>"]) + "\n"


def _place(decade: float) -> float:
    return _MARGIN + (decade - _LEAST) / (_MOST - _LEAST) * (_SIZE - 2 * _MARGIN)


def _frame() -> list[str]:
    low, high = _place(_LEAST), _place(_MOST)
    found = []
    for factor, opacity in ((1.45, 0.10), (1.2, 0.16)):
        shift = _place(_LEAST + math.log10(factor)) - low
        points = " ".join(
            f"{x:.1f},{_SIZE - y:.1f}"
            for x, y in (
                (low, low + shift),
                (high - shift, high),
                (high, high),
                (high, high - shift),
                (low + shift, low),
                (low, low),
            )
        )
        found.append(f'<polygon points="{points}" fill="#888" opacity="{opacity}"/>')
    found.append(
        f'<path d="M{low:.1f} {_SIZE - low:.1f}L{high:.1f} {_SIZE - high:.1f}" class="rule"/>'
    )
    for decade in range(math.ceil(_LEAST), math.floor(_MOST) + 1):
        at = _place(decade)
        label = f"{10.0**decade:g}"
        found += [
            f'<path d="M{at:.1f} {_SIZE - low:.1f}v6" class="rule"/>',
            f'<text class="ink" x="{at:.1f}" y="{_SIZE - low + 20:.1f}" text-anchor="middle">'
            f"{label}</text>",
            f'<path d="M{low:.1f} {_SIZE - at:.1f}h-6" class="rule"/>',
            f'<text class="ink" x="{low - 9:.1f}" y="{_SIZE - at + 4:.1f}" text-anchor="end">'
            f"{label}</text>",
        ]
    middle = _SIZE / 2
    found += [
        f'<text class="ink" x="{middle}" y="{_SIZE - 12}" text-anchor="middle">'
        "published, in the unit of the row</text>",
        f'<text class="ink" transform="translate(16 {middle}) rotate(-90)" '
        'text-anchor="middle">predicted</text>',
    ]
    return found


def _dot(prediction: Prediction) -> list[str]:
    case, value = prediction.case, prediction.value
    if value is None or value <= 0 or case.status not in (Status.COUNTED, Status.FITTED):
        return []
    published = math.log10(case.row.value)
    predicted = math.log10(value)
    if not (_LEAST <= published <= _MOST and _LEAST <= predicted <= _MOST):
        return []
    colour = _COLOURS.get(case.group, _OTHER)
    paint = (
        f'fill="{colour}" fill-opacity="0.6"'
        if case.status is Status.COUNTED
        else f'fill="none" stroke="{colour}" stroke-opacity="0.6"'
    )
    title = html.escape(
        f"{case.row.ident}: {case.row.workload} on {case.row.chip}: "
        f"{value:.4g} for {case.row.value:g} {case.row.unit}"
    )
    return [
        f'<circle cx="{_place(published):.1f}" cy="{_SIZE - _place(predicted):.1f}" r="3" '
        f"{paint}><title>{title}</title></circle>"
    ]


def _legend() -> list[str]:
    found = []
    for number, (name, colour) in enumerate([*_COLOURS.items(), ("other", _OTHER)]):
        y = _MARGIN + 16 + 18 * number
        found += [
            f'<circle cx="{_MARGIN + 16}" cy="{y}" r="4" fill="{colour}"/>',
            f'<text class="ink" x="{_MARGIN + 28}" y="{y + 4}">{name}</text>',
        ]
    return found
