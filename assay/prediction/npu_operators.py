"""The table of a model's operators on the NPU: cycles, products, bytes, and what bounds each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from assay.hw.torq.facts.costs import Machine
from assay.hw.torq.facts.machine import limit
from assay.hw.torq.notes import OperatorNote
from assay.hw.torq.timing.operators import BOUNDS, NOBODY, OperatorTime

from ..operator_table import WIDEST, aligned, way_counts

if TYPE_CHECKING:
    from .npu import NpuTimeResult

_MOST_ROWS = 40
_SHOWN = 30
"""Rows if there are more: the operators that take the longest; the rest is one row."""


def operator_json(each: OperatorTime) -> dict[str, Any]:
    """An operator's figures as plain data."""
    return {
        "name": each.name,
        "way": each.note.way if each.note is not None else "",
        "cycles": each.total,
        "bound": each.bound,
        "cycles_by_bound": {bound: each.cycles[bound] for bound in BOUNDS if bound in each.cycles},
        "macs": each.macs,
        "macs_per_cycle": each.macs_per_cycle,
        "slice_cycles": each.slices,
        "load_cycles": each.loads,
        "store_cycles": each.stores,
        "loaded_bytes": each.loaded,
        "stored_bytes": each.stored,
        "lram_bytes": each.lram,
    }


def operator_lines(operators: Sequence[OperatorTime], host_cycles: int) -> list[str]:
    """A table, a line each: in the order of the program, the quick ones of many together."""
    if not operators:
        return []
    shown = list(operators)
    others: list[OperatorTime] = []
    if len(shown) > _MOST_ROWS:
        longest = sorted(operators, key=lambda each: -each.total)[:_SHOWN]
        shown = [each for each in operators if each in longest]
        others = [each for each in operators if each not in longest]
    rows = [_row(each) for each in shown]
    if others:
        rows.append(_row(_together(others), f"{len(others)} others"))
    rows.append(_row(_together(operators), "all operators"))
    rows.append(["host", f"{host_cycles:,}", *[""] * 6])
    titles = ["operator", "cycles", "MAC/cycle", "slices", "DMA in B", "DMA out B", "LRAM B"]
    return aligned([[*titles, "bound by"], *rows])


def run_summary(result: NpuTimeResult) -> dict[str, Any]:
    """What all operators of a run come to; nothing if the compiler named none.

    `overlap` is which part of the shorter of transfers and slices' work is beside the other,
    `roofline` the most of the products' and the transfers' cycles if there never was a gap.
    """
    if not result.operators:
        return {}
    machine, time = result.run.machine, result.time
    macs = sum(each.macs for each in result.operators)
    loaded, stored = (sum(getattr(each, key) for each in result.operators) for key in _MOVED)
    slower = min(time.only_dma, time.only_compute) + time.both
    roofline = max(_mac_cycles(macs, machine), machine.dma_cycles(loaded + stored, _BURST))
    return {
        "ways": way_counts(each.note for each in result.operators if each.note is not None),
        "macs": macs,
        "loaded_bytes": loaded,
        "stored_bytes": stored,
        "utilisation": _mac_cycles(macs, machine) / max(1, result.cycles),
        "overlap": time.both / max(1, slower),
        "roofline": roofline,
        "above_roofline": result.cycles / max(1, roofline),
    }


_MOVED = ("loaded", "stored")
_BURST = 4
"""Bursts of 1 << 4 beats, as compilers ask for."""


def _mac_cycles(macs: int, machine: Machine) -> int:
    """Cycles of products if all multipliers of all slices were always at work."""
    return -(-macs // (limit("multipliers_per_slice") * machine.slices))


def summary_lines(result: NpuTimeResult) -> list[str]:
    """The same for people, in one line."""
    found = run_summary(result)
    if not found:
        return []
    ways = ", ".join(f"{count} {way}" for way, count in found["ways"].items())
    return [
        f"operators: {ways or len(result.operators)}; DMA {found['loaded_bytes']:,} B in, "
        f"{found['stored_bytes']:,} B out; MACs used {found['utilisation']:.0%}; of the shorter of "
        f"DMA and compute {found['overlap']:.0%} beside the other; "
        f"{found['above_roofline']:.2f} times the roofline"
    ]


def _together(operators: Sequence[OperatorTime]) -> OperatorTime:
    """The sums; of LRAM, which operators use one after the other, the most."""
    macs = sum(each.macs for each in operators)
    found = OperatorTime(name="", note=OperatorNote(name="", macs=macs))
    for each in operators:
        for bound, cycles in each.cycles.items():
            found.cycles[bound] = found.cycles.get(bound, 0) + cycles
        found.slices += each.slices
        found.loaded += each.loaded
        found.stored += each.stored
        found.lram = max(found.lram, each.lram)
    return found


def _row(each: OperatorTime, name: str = "") -> list[str]:
    shown = name or each.name or ("commands of the NPU" if each.name == NOBODY else each.name)
    if len(shown) > WIDEST:
        shown = f"...{shown[3 - WIDEST :]}"
    share = each.cycles.get(each.bound, 0) / each.total if each.total else 0.0
    return [
        shown,
        f"{each.total:,}",
        f"{each.macs_per_cycle:.1f}" if each.macs else "",
        f"{each.slices:,}",
        f"{each.loaded:,}",
        f"{each.stored:,}",
        f"{each.lram:,}",
        f"{each.bound} {share:.0%}" if each.total else "beside others",
    ]
