"""How long a run takes for each operator of the model, and what bounds it.

Each cycle of the run belongs to one operator: to the one that slices work for; if none works, to
the one that is loaded or stored for; in the gaps between, to the one whose work comes next. So the
cycles of all operators sum to those of the run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from ..device.events import Work
from ..intervals import length, union
from ..notes import Notes, OperatorNote, TaskNote
from .idle import SLICES, run_of

MAC, ALU, READS, WRITES = "MAC", "ALU", "slice reads", "slice writes"
DMA_IN, DMA_OUT, COMMANDS = "DMA in", "DMA out", "commands and waits"
BOUNDS = (MAC, ALU, READS, WRITES, DMA_IN, DMA_OUT, COMMANDS)
_READERS = ("DEDR", "DEDR1", "DEWR", "CEWW", "CEDW")
_NEARLY = 0.9
"""A task whose ALU is at work for this part of its time is bound by it, whoever is the slowest."""
NOBODY = ""
"""The name of what no operator is the reason for, such as loading commands."""


@dataclass(kw_only=True)
class OperatorTime:
    """An operator's part of a run.

    Attributes:
        name: as the compiler names it; `NOBODY` for what is for none alone.
        note: what the compiler expected; None if it said nothing.
        cycles: by what bounded them, of `BOUNDS`.
        slices, loads, stores: cycles that units worked for it, also beside others.
        loaded, stored: bytes.
        lram: bytes of LRAM that it touches.
    """

    name: str
    note: OperatorNote | None = None
    cycles: dict[str, int] = field(default_factory=dict)
    slices: int = 0
    loads: int = 0
    stores: int = 0
    loaded: int = 0
    stored: int = 0
    lram: int = 0

    @property
    def total(self) -> int:
        """Its cycles of the run."""
        return sum(self.cycles.values())

    @property
    def macs(self) -> int:
        """Products that it sums."""
        return self.note.macs if self.note is not None else 0

    @property
    def macs_per_cycle(self) -> float:
        """Products in each of its cycles of the run."""
        return self.macs / self.total if self.total else 0.0

    @property
    def bound(self) -> str:
        """What most of its cycles are due to."""
        return max(BOUNDS, key=lambda bound: (self.cycles.get(bound, 0), -BOUNDS.index(bound)))


def operator_times(events: Sequence[Work], notes: Notes) -> list[OperatorTime]:
    """The operators in the order of the program; nothing if the compiler named none."""
    named = named_works(events, notes)
    if not any(note.source for _, note in named):
        return []
    known = {note.name: OperatorTime(name=note.name, note=note) for note in notes.operators}
    spans: dict[str, list[tuple[int, int]]] = {}
    for work, note in named:
        own = known.setdefault(note.source, OperatorTime(name=note.source))
        _count(own, work)
        inside = spans.setdefault(note.source, [])
        inside += (r for o in note.operands if o.memory == "LRAM" for r in o.ranges)
    for begin, end, name, bound in _shares(events, named, known):
        own = known.setdefault(name, OperatorTime(name=name))
        own.cycles[bound] = own.cycles.get(bound, 0) + end - begin
    for name, ranges in spans.items():
        known[name].lram = length(union(ranges))
    return list(known.values())


def _count(own: OperatorTime, work: Work) -> None:
    duration = work.end - work.begin
    if work.unit in SLICES:
        own.slices += duration
    elif work.unit == "XR":
        own.loads += duration
        own.loaded += work.size
    else:
        own.stores += duration
        own.stored += work.size


def labels(events: Sequence[Work], notes: Notes) -> dict[tuple[str, int], str]:
    """What slices' tasks and transfers are for, by unit and begin, for people.

    Tasks of an operator are counted: all of them that a program of a slice has are one run.
    """
    runs: dict[str, int] = {}
    numbers: dict[str, list[int]] = {}
    for run in notes.slice_runs:
        source = run.tasks[0].source if run.tasks else NOBODY
        runs[source] = runs.get(source, 0) + 1
        numbers.setdefault(run.unit, []).extend([runs[source]] * len(run.tasks))
    found = {}
    counts = dict.fromkeys(SLICES, 0)
    for work, note in named_works(events, notes):
        text = note.operation
        if work.unit in counts and numbers.get(work.unit):
            number = numbers[work.unit][counts[work.unit] % len(numbers[work.unit])]
            counts[work.unit] += 1
            text = f"{number}/{runs[note.source]} {text}"
        found[work.unit, work.begin] = f"{note.source}: {text}" if note.source else text
    return found


def named_works(events: Sequence[Work], notes: Notes) -> list[tuple[Work, TaskNote]]:
    """Slices' tasks and transfers with what they are for, by time; both are noted in order."""
    found: list[tuple[Work, TaskNote]] = []
    for unit in (*SLICES, "XR", "XW"):
        works = [w for w in events if w.unit == unit and w.what in ("task", "load", "store")]
        works.sort(key=lambda work: (work.begin, work.end))
        found += zip(works, _notes_of(unit, notes, len(works)), strict=False)
    return sorted(found, key=lambda pair: (pair[0].begin, pair[0].end))


def _notes_of(unit: str, notes: Notes, count: int) -> Iterator[TaskNote]:
    """What a unit's work is for, for so many pieces: a program may be run several times."""
    if unit in SLICES:
        own = [task for run in notes.slice_runs if run.unit == unit for task in run.tasks]
    else:
        agent = "DIXR" if unit == "XR" else "DOXW"
        own = [note for note in notes.transfers if any(o.agent == agent for o in note.operands)]
    for number in range(count):
        yield own[number % len(own)] if own else TaskNote()


def _shares(
    events: Sequence[Work],
    named: Sequence[tuple[Work, TaskNote]],
    known: Mapping[str, OperatorTime],
) -> Iterator[tuple[int, int, str, str]]:
    """(begin, end, operator, bound) without gaps from the first to the last event."""
    begin, end = run_of(events)
    changes: dict[int, list[tuple[bool, int]]] = {}
    for number, (work, _) in enumerate(named):
        if work.begin < work.end:
            changes.setdefault(work.begin, []).append((True, number))
            changes.setdefault(work.end, []).append((False, number))
    times = sorted({begin, end, *changes})
    upcoming = _upcoming(named)
    active: set[int] = set()
    for at, until in pairwise(times):
        for starts, number in changes.get(at, ()):
            (active.add if starts else active.discard)(number)
        if active:
            chosen = min(active, key=lambda number: (_rank(named[number][0]), number))
            work, note = named[chosen]
            yield at, until, note.source, _bound(work, known.get(note.source))
        else:
            yield at, until, upcoming(at), COMMANDS


def _upcoming(named: Sequence[tuple[Work, TaskNote]]) -> _Upcoming:
    return _Upcoming([(work.begin, note.source) for work, note in named])


class _Upcoming:
    """Whose work begins next, for times that grow."""

    def __init__(self, starts: Sequence[tuple[int, str]]) -> None:
        self._starts = starts
        self._at = 0

    def __call__(self, time: int) -> str:
        while self._at < len(self._starts) and self._starts[self._at][0] < time:
            self._at += 1
        if self._at < len(self._starts):
            return self._starts[self._at][1]
        return self._starts[-1][1] if self._starts else NOBODY


def _rank(work: Work) -> int:
    """Slices' work comes first, then loads."""
    return 0 if work.unit in SLICES else 1 if work.unit == "XR" else 2


def _bound(work: Work, own: OperatorTime | None) -> str:
    if work.unit == "XR":
        return DMA_IN
    if work.unit == "XW":
        return DMA_OUT
    alone = dict(work.agents).get("ALU", 0)
    if work.limit == "ALU" or alone >= _NEARLY * (work.end - work.begin):
        return MAC if own is not None and own.macs else ALU
    return READS if work.limit in _READERS else WRITES
