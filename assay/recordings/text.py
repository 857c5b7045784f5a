"""A replay in words: kernels, what differs, what was found."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from .compared import Difference
from .result import ReplayedDispatch, ReplayResult

_SHOWN = 20  # dispatches that differ
_US = 1e6


def result_text(result: ReplayResult) -> str:
    """The whole report."""
    device = result.device
    parts = [
        f"{result.recording}: {result.program}, recorded on {device.name} ({device.kind}), "
        f"{device.system}",
        _table(result),
        *_differences(result.different),
        *_not_replayed(result.not_replayed),
        *(f"not recorded: {count} x {reason}" for reason, count in sorted(result.left_out.items())),
    ]
    if result.report is not None and (result.report.all_findings or result.report.unchecked):
        parts.append(str(result.report))
    return "\n\n".join([part for part in parts if part] + [_summary(result)])


def _table(result: ReplayResult) -> str:
    """A line per kernel: dispatches, verdicts, times."""
    by_kernel: dict[str, list[ReplayedDispatch]] = {}
    for each in result.dispatches:
        by_kernel.setdefault(each.kernel, []).append(each)
    head = ["kernel", "dispatches", "equal", "close", "different", "max ulp", "recorded us"]
    is_native = result.device.kind == "native"
    rows = [[*head, f"{result.chip} us", "ratio"] if result.chip else head]
    for kernel, dispatches in by_kernel.items():
        rows.append(_row(kernel, dispatches, is_native=is_native, predicted=bool(result.chip)))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            [row[0].ljust(widths[0])]
            + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        )
        for row in rows
    )


def _row(
    kernel: str, dispatches: Sequence[ReplayedDispatch], *, is_native: bool, predicted: bool
) -> list[str]:
    verdicts = [each.verdict for each in dispatches]
    ulp = max((d.max_ulp for each in dispatches for d in each.differences), default=0)
    # What an emulated device takes says nothing of any GPU.
    measured = sum(each.measured for each in dispatches) if is_native else 0.0
    cells = [
        kernel,
        f"{len(dispatches):,}",
        *(f"{verdicts.count(word):,}" for word in ("equal", "close", "different")),
        f"{ulp:,}",
        f"{measured * _US:,.1f}" if measured else "-",
    ]
    if not predicted:
        return cells
    both = [each for each in dispatches if each.predicted is not None]
    here = sum(each.predicted or 0.0 for each in both)
    there = sum(each.measured for each in both) if is_native else 0.0
    ratio = f"{here / there:.2f}" if both and there else "-"
    return [*cells, f"{here * _US:,.1f}" if both else "-", ratio]


def _differences(dispatches: Sequence[ReplayedDispatch]) -> Iterator[str]:
    for each in dispatches[:_SHOWN]:
        place = f"{each.file}:{each.line}: " if each.file else ""
        label = f" ({each.label})" if each.label else ""
        lines = [f"{place}dispatch {each.number} of '{each.kernel}'{label}, {each.grid}, differs"]
        lines += [f"  {difference_text(one)}" for one in each.differences if one.bad]
        yield "\n".join(lines)
    if len(dispatches) > _SHOWN:
        yield f"... and {len(dispatches) - _SHOWN} further dispatches that differ"


def difference_text(one: Difference, other: str = "recorded") -> str:
    """How the contents of one buffer differ; `other` says what this run is compared with."""
    written = f", written at {' or '.join(one.places)}" if one.places else ""
    texel = f", {one.texel}" if one.texel else ""
    return (
        f"{one.buffer}: {one.bad:,} of {one.elements:,} elements ({one.type}), at most "
        f"{one.max_ulp:,} ulp and {one.max_absolute:.3g} apart; the first is [{one.index}], byte "
        f"{one.byte}{texel}: here {_value(one.here, one.bits[0])}, {other} "
        f"{_value(one.recorded, one.bits[1])}{written}"
    )


def _value(value: float, bits: int) -> str:
    return f"nan ({bits:#x})" if math.isnan(value) else repr(value)


def _not_replayed(dispatches: Sequence[ReplayedDispatch]) -> Iterator[str]:
    for each in dispatches[:_SHOWN]:
        yield f"dispatch {each.number} of '{each.kernel}' was not replayed: {each.problem}"
    if len(dispatches) > _SHOWN:
        yield f"... and {len(dispatches) - _SHOWN} further dispatches that were not replayed"


def _summary(result: ReplayResult) -> str:
    verdicts = [each.verdict for each in result.dispatches]
    words = [
        f"{verdicts.count(word):,} {word}"
        for word in ("equal", "close", "different", "not replayed")
        if word in verdicts
    ]
    count = len(verdicts)
    text = f"{count:,} dispatch{'' if count == 1 else 'es'} replayed: {', '.join(words) or 'none'}"
    text += "" if result.is_complete else "; the recording is incomplete"
    if result.report is not None:
        found = len(result.report.findings)
        text += f"; checks: {found or 'no'} finding{'' if found == 1 else 's'}"
    return text
