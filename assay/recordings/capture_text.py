"""A capture that was run again, in words."""

from __future__ import annotations

from .captures import CaptureResult
from .text import difference_text


def capture_text(result: CaptureResult) -> str:
    """The whole report."""
    parts = [f"{result.capture}: captured by IREE"]
    parts += [difference_text(each, "captured run") for each in result.differences if each.bad]
    if result.times is not None:
        parts.append(f"predicted for {result.chip}: {result.times.seconds * 1e6:,.1f} us")
    report = result.report
    if report is not None and (report.all_findings or report.unchecked):
        parts.append(str(report))
    return "\n\n".join([*parts, _summary(result)])


def _summary(result: CaptureResult) -> str:
    count, results = result.dispatches, len(result.results)
    text = f"{count:,} dispatch{'' if count == 1 else 'es'} run, "
    text += f"{results:,} result{'' if results == 1 else 's'} read: {_verdict(result)}"
    if result.report is not None:
        found = len(result.report.findings)
        text += f"; checks: {found or 'no'} finding{'' if found == 1 else 's'}"
    return text


def _verdict(result: CaptureResult) -> str:
    if not result.compared:
        return "not compared, a capture has no results of its own (--reference @FILE.npy)"
    bad = sum(1 for each in result.differences if each.bad)
    close = len(result.differences) - bad
    words = ((result.compared - bad - close, "equal"), (close, "close"), (bad, "different"))
    return ", ".join(f"{number:,} {word}" for number, word in words if number)
