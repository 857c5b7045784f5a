"""Numbers for people: three significant digits, a unit that fits, bars."""

from __future__ import annotations

_BLOCKS = " ▏▎▍▌▋▊▉█"


def digits(value: float) -> str:
    """Three significant digits, without an exponent, with commas from 1,000 on."""
    if value == 0 or value != value:
        return "0" if value == 0 else "-"
    size = abs(value)
    if size >= 100:
        return f"{value:,.0f}"
    if size >= 10:
        return f"{value:.1f}"
    if size >= 1:
        return f"{value:.2f}"
    return f"{value:.3g}"


def seconds(value: float) -> str:
    """A length of time in the unit that fits."""
    for factor, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")):
        if abs(value) >= factor:
            return f"{digits(value / factor)} {unit}"
    return f"{digits(value / 1e-9)} ns"


def rate(value: float, unit: str) -> str:
    """A number per second: `13.2 TFLOP/s`."""
    return f"{amount(value, unit)}/s"


def amount(value: float, unit: str) -> str:
    """A number with a decimal prefix: `13.2 GB`."""
    for factor, prefix in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= factor:
            return f"{digits(value / factor)} {prefix}{unit}"
    return f"{digits(value)} {unit}"


def percent(share: float) -> str:
    """A share in percent: `0.1%`, `12%`."""
    value = 100 * share
    if 0 < value < 0.95:
        return f"{max(value, 0.1):.1f}%"
    return f"{value:.0f}%"


def bar(share: float, width: int) -> str:
    """A bar of up to `width` characters, in eighths of one; not quite nothing is an eighth."""
    eighths = round(max(0.0, min(1.0, share)) * width * 8)
    if share > 0:
        eighths = max(1, eighths)
    full, rest = divmod(eighths, 8)
    return "█" * full + (_BLOCKS[rest] if rest else "")


def short_name(name: str, most: int) -> str:
    """A name without its middle, if it is long: those that begin alike differ at the end."""
    half = most // 2
    return name if len(name) <= most else f"{name[: most - half - 1]}…{name[-half:]}"
