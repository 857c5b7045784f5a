"""The section about promised accuracy of docs/reference/apple-gpus.md."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts import read_package_file
from .promises import Promises, promises

_ROUNDED = 0.5


def promises_section() -> str:
    """The section as Markdown."""
    known = promises()
    sources = read_package_file("assay.hw.apple.facts", "promises.toml").sources
    names = sorted({*known.precise, *known.fast, *known.fast_absolute, *known.half})
    return "\n".join(
        [
            "## Promised accuracy",
            "",
            "How far off a result may be, in units in the last place (ulp); the emulated",
            "functions are tested against these bounds. Denormal numbers may be flushed to zero.",
            "A dash is no number: with fast math such a function is built from others, or",
            "undefined. Confidence: medium.",
            "",
            *(f"* {text}" for text in sources.values()),
            "",
            "| function | float | float, fast math | half |",
            "|---|---|---|---|",
            *(_row(name, known) for name in names),
            "",
        ]
    )


def _row(name: str, known: Promises) -> str:
    fast = "; ".join(_fast(name, known)) or "-"
    return (
        f"| {name} | {_units(known.precise.get(name))} | {fast} | {_units(known.half.get(name))} |"
    )


def _fast(name: str, known: Promises) -> Iterator[str]:
    if name in known.fast:
        slope = " + floor(abs(2x))" if name in known.fast_slope else ""
        yield _units(known.fast[name], slope)
    if name in known.fast_absolute:
        yield f"{known.fast_absolute[name]:.3g} in value"
    if name in known.fast_domain:
        yield f"abs(x) <= {known.fast_domain[name]:.8g}"
    if name in known.fast_near_one:
        yield f"{known.fast_near_one[name]:.3g} in value for x from 0.5 to 2"


def _units(value: float | None, more: str = "") -> str:
    if value is None:
        return "-"
    if value == _ROUNDED:
        return "correctly rounded"
    return f"{value:g}{more} ulp" if value else "exact"
