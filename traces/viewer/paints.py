"""What colour each event of a trace gets: by function, by category, or by what it waited for.

A paint is an entry of the legend. Its `style` names a colour and a hatching of the viewer's
palette (`palette.js`), so that light and dark pages choose their own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..events.kinds import ALLOCATION, ARRAY_USE, BARRIER, LAUNCH, PHASE
from ..events.schema import Form, Group, Kind
from ..events.trace import Integers, Trace

FUNCTION_STYLES = 9
"""Functions that get colours of their own; the palette has as many."""
_MAP_STYLES = 4
_CATEGORIES = ("host", "queue", "launch", "dispatch", "memory", "sync", "finding", "marker")
"""What is painted by category; everything else, which is computation or foreign, by name."""
_WAITS = (BARRIER, LAUNCH)
_ACCESSES = ("write", "read", "both")


@dataclass(frozen=True, slots=True, kw_only=True)
class Paint:
    """One entry of the legend.

    Attributes:
        label: what the legend says.
        style: entry of the palette.
        group: what it says about a track: "busy", "stalled" or "idle".
        text: a sentence for people who ask.
    """

    label: str
    style: str
    group: str = Group.BUSY.value
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Paints:
    """The legend of a trace, and the position in it for each slice and each instant."""

    legend: tuple[Paint, ...]
    slices: NDArray[np.uint16]
    instants: NDArray[np.uint16]


def paint(trace: Trace) -> Paints:
    """Choose paints for a trace. The same functions get the same colours in every trace."""
    legend: list[Paint] = []
    slices = np.zeros(len(trace.slices), np.int64)
    _paint_kinds(trace, legend, slices)
    _paint_functions(trace, legend, slices)
    _paint_causes(trace, legend, slices)
    instants = _paint_instants(trace, legend)
    used = np.unique(np.concatenate((slices, instants))) if legend else np.zeros(0, np.int64)
    place = np.zeros(len(legend) + 1, np.uint16)
    place[used] = np.arange(len(used))
    return Paints(
        legend=tuple(legend[i] for i in used),
        slices=place[slices],
        instants=place[instants],
    )


def _paint_kinds(trace: Trace, legend: list[Paint], slices: Integers) -> None:
    """What is neither a function nor a wait: by category, array uses by access."""
    for number, kind in enumerate(trace.kinds):
        if kind.form is not Form.SLICE or kind.category not in _CATEGORIES:
            continue
        chosen = np.flatnonzero((trace.slices.kind == number) & (trace.slices.cause < 0))
        if kind.name == ARRAY_USE.name:
            slices[chosen] = len(legend) + _accesses(trace, number, chosen)
            legend.extend(
                Paint(label=f"array: {access}", style=f"access-{access}") for access in _ACCESSES
            )
        elif kind.name == ALLOCATION.name:
            slices[chosen] = len(legend) + trace.slices.name[chosen] % _MAP_STYLES
            legend.extend(
                Paint(label="allocation" if not i else "", style=f"map-{i}", text=kind.text)
                for i in range(_MAP_STYLES)
            )
        elif len(chosen):
            slices[chosen] = _entry(legend, kind)


def _entry(legend: list[Paint], kind: Kind) -> int:
    """Position of the kind's entry; kinds of one category share it, and are named in it."""
    new = _category(kind)
    for place, entry in enumerate(legend):
        if entry.style == new.style:
            legend[place] = replace(
                entry, label=f"{entry.label}, {new.label}", text=f"{entry.text}\n{new.text}"
            )
            return place
    legend.append(new)
    return len(legend) - 1


def _category(kind: Kind) -> Paint:
    known = kind.category in _CATEGORIES
    style = f"category-{kind.category if known else 'marker'}"
    return Paint(label=kind.name.replace("_", " "), style=style, text=kind.text)


def _accesses(trace: Trace, kind: int, chosen: Integers) -> Integers:
    """Positions in `_ACCESSES` of uses of arrays; unknown words count as both."""
    words = {word: i for i, word in enumerate(_ACCESSES)}
    of_name = np.array([words.get(name, 2) for name in (*trace.names, "both")], np.int64)
    found = of_name[trace.arguments[kind]["access"][trace.slices.payload[chosen]].astype(np.int64)]
    return np.asarray(found, np.int64)


def _paint_functions(trace: Trace, legend: list[Paint], slices: Integers) -> None:
    """Slices of computation: the functions that take longest get colours, by the alphabet."""
    by_name = np.array(
        [kind.form is Form.SLICE and kind.category not in _CATEGORIES for kind in trace.kinds], bool
    )
    if not by_name.any():
        return
    chosen = np.flatnonzero(by_name[trace.slices.kind] & (_causes(trace) < 0))
    total = np.bincount(
        trace.slices.name[chosen], trace.slices.duration[chosen] + 1.0, len(trace.names)
    )
    longest = np.argsort(-total, kind="stable")[:FUNCTION_STYLES]
    first = sorted((int(i) for i in longest if total[i] > 0), key=lambda i: trace.names[i])
    of_name = np.full(len(trace.names), len(legend) + len(first), np.int64)
    of_name[first] = len(legend) + np.arange(len(first))
    slices[chosen] = of_name[trace.slices.name[chosen]]
    legend.extend(
        Paint(label=trace.names[name], style=f"function-{i}") for i, name in enumerate(first)
    )
    legend.append(Paint(label="other functions", style="function-other"))


def _paint_causes(trace: Trace, legend: list[Paint], slices: Integers) -> None:
    """Whatever states a cause is painted by it."""
    of_cause = np.zeros(len(trace.causes) + 1, np.int64)
    for number, cause in enumerate(trace.causes):
        of_cause[number] = len(legend)
        label, style = cause.name.replace("_", " "), f"cause-{cause.name}"
        if cause.group is Group.BUSY:
            label, style = f"working: {label}", "work"
        legend.append(Paint(label=label, style=style, group=cause.group.value, text=cause.text))
    causes = _causes(trace)
    slices[causes >= 0] = of_cause[causes[causes >= 0]]


def _causes(trace: Trace) -> Integers:
    """Position of each slice's cause; a phase that is called like a wait of `_WAITS` is one."""
    words = {cause.name: i for i, cause in enumerate(trace.causes) if cause.name in _WAITS}
    named = np.array([*(words.get(name, -1) for name in trace.names), -1], np.int64)
    phases = np.array([kind.name == PHASE.name for kind in trace.kinds], bool)
    slices = trace.slices
    if not phases.any():
        return slices.cause
    waits = phases[slices.kind] & (slices.cause < 0)
    return np.where(waits, named[slices.name], slices.cause)


def _paint_instants(trace: Trace, legend: list[Paint]) -> Integers:
    instants = np.zeros(len(trace.instants), np.int64)
    for number, kind in enumerate(trace.kinds):
        chosen = trace.instants.kind == number
        if kind.form is Form.INSTANT and chosen.any():
            instants[chosen] = _entry(legend, kind)
    return instants
