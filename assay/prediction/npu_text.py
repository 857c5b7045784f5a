"""Results of an NPU for people: how long, what went on at once, why each unit had no work."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from .npu_operators import operator_lines, summary_lines

if TYPE_CHECKING:
    from .npu import NpuTimeResult

_PERCENT = 100
_WHOLE = 10
"""Percent from which on tenths do not matter."""


def result_text(result: NpuTimeResult) -> str:
    """A few lines, and one for each unit."""
    time, cycles = result.time, result.cycles
    lines = [
        f"{result.program}: {cycles:,} cycles, {result.microseconds:,.1f} us; "
        f"{result.lram_bytes:,} B of LRAM touched",
        spans_text(result.spans),
        f"DMA and compute at once {_share(time.both, cycles)}, "
        f"DMA alone {_share(time.only_dma, cycles)}, "
        f"compute alone {_share(time.only_compute, cycles)}, "
        f"neither {_share(time.neither, cycles)}",
    ]
    lines += [f"  {unit.unit:<4}  {_reasons(unit.reasons, cycles)}" for unit in time.units]
    lines += summary_lines(result)
    lines += operator_lines(result.operators, time.host)
    return "\n".join(lines)


def spans_text(spans: Mapping[str, float]) -> str:
    """How long the NPU, the host, and neither of them worked."""
    return (
        f"in all {1e6 * sum(spans.values()):,.1f} us: NPU {1e6 * spans['npu']:,.1f} us; host, "
        f"copies and code, {1e6 * spans['host']:,.1f} us; gaps, starts and interrupts, "
        f"{1e6 * spans['gaps']:,.1f} us"
    )


def _reasons(reasons: Mapping[str, int], total: int) -> str:
    """The greatest first; details, which follow a colon, in brackets."""
    whole: dict[str, int] = {}
    details: dict[str, dict[str, int]] = {}
    for reason, cycles in reasons.items():
        head, _, detail = reason.partition(": ")
        whole[head] = whole.get(head, 0) + cycles
        if detail:
            details.setdefault(head, {})[detail] = cycles
    parts = []
    for head, cycles in sorted(whole.items(), key=lambda item: -item[1]):
        inside = f" ({_reasons(details[head], total)})" if head in details else ""
        parts.append(f"{head} {_share(cycles, total)}{inside}")
    return ", ".join(parts)


def _share(cycles: int, total: int) -> str:
    share = _PERCENT * cycles / total if total else 0.0
    return f"{share:.0f} %" if share >= _WHOLE or not share else f"{share:.1f} %"
