"""Why a unit of the NPU has no work: what the command stream, which starts all units, does then.

The stream (NSS) waits for units, each of them as long as it is not done; or it fetches and executes
command words; or it has no program, because the host copies, starts the next or takes the last
one's interrupt. A slice also fetches
command words of its own, a task of the CSS core waits on its own behalf. What the stream does is
also said of a unit that was not started yet. After its last work nothing is left for it to do.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from assay.traces.events.kinds import CONFIGURATION, DMA_WAIT, HOST, IDLE, UNIT

from ..device.events import Work
from ..device.status import unit_of
from ..intervals import Interval, common, union, without

_PROGRAMS = ("program", "css")
DMA_UNITS = ("XR", "XW", "CDMA")
SLICES = ("SLC0", "SLC1")
UNITS = ("NSS", *DMA_UNITS, *SLICES, "CSS")
NOT_STARTED, DONE = "not started yet", "nothing left to do"
COMMANDS, NO_PROGRAM, OWN_COMMANDS = "NSS commands", "the host starts no program", "own commands"
_HOST = {
    "start": "the host starts the NPU",
    "copy": "the host copies",
    "code": "the host computes",
    "interrupt": "the host takes the interrupt",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Idle:
    """Cycles `begin` to `end` without work: the cause as traces have it, and what happens."""

    begin: int
    end: int
    cause: str
    text: str


def run_of(events: Sequence[Work]) -> Interval:
    """From the first to the last event of the NPU's units: not what the host does around them."""
    units = [work for work in events if work.unit != "HOST"]
    begin = min((work.begin for work in units), default=0)
    return begin, max((work.end for work in units), default=0)


def works_of(unit: str, events: Sequence[Work]) -> list[Interval]:
    """When a unit works: a slice has a task, DMA moves, the NSS or the core runs and waits not."""
    if unit in SLICES:
        return union((work.begin, work.end) for work in _of(events, unit, "task"))
    waits = union((work.begin, work.end) for work in _of(events, unit, "wait"))
    active = ((w.begin, w.end) for w in events if w.unit == unit and w.what != "wait")
    return without(union(active), waits)


def stream_of(events: Sequence[Work]) -> list[Idle]:
    """What the command stream does, without gaps from the first to the last event."""
    waits = _waits("NSS", events)
    commands = works_of("NSS", events)
    known = union([*commands, *((wait.begin, wait.end) for wait in waits)])
    found = [_idle(span, CONFIGURATION, COMMANDS) for span in commands]
    found += _host_of(events, without([run_of(events)], known))
    return sorted([*waits, *found], key=lambda idle: idle.begin)


def idle_of(unit: str, events: Sequence[Work], stream: Sequence[Idle]) -> list[Idle]:
    """Why a unit has no work, in order: all of the run outside of `works_of`.

    `stream` is what `stream_of` says of the events.
    """
    begin, end = run_of(events)
    works = works_of(unit, events)
    programs = union((w.begin, w.end) for w in events if w.unit == unit and w.what in _PROGRAMS)
    active = union([*works, *programs])
    first, last = (active[0][0], active[-1][1]) if active else (end, end)
    if unit == "NSS":
        found = _own(unit, _cut(stream, without([(begin, last)], works)))
    else:
        found = [
            replace(idle, text=f"{NOT_STARTED}: {idle.text}")
            for idle in _cut(stream, [(begin, first)])
        ]
        found += _cut(stream, without([(first, last)], active))
        if unit == "CSS":
            found += _own(unit, _waits(unit, events))
        else:
            found += [_idle(span, CONFIGURATION, OWN_COMMANDS) for span in without(programs, works)]
    if last < end:
        found.append(_idle((last, end), IDLE, DONE))
    return sorted(found, key=lambda idle: idle.begin)


def _host_of(events: Sequence[Work], spans: Sequence[Interval]) -> list[Idle]:
    """What the host does while the stream has no program."""
    found = []
    free = list(spans)
    for what, text in _HOST.items():
        works = union((work.begin, work.end) for work in _of(events, "HOST", what))
        found += [_idle(span, HOST, text) for span in common(free, works)]
        free = without(free, works)
    return [*found, *(_idle(span, HOST, NO_PROGRAM) for span in free)]


def _idle(span: Interval, cause: str, text: str) -> Idle:
    return Idle(begin=span[0], end=span[1], cause=cause, text=text)


def _own(unit: str, waits: Sequence[Idle]) -> list[Idle]:
    """What is said of a unit on its own behalf: without its name."""
    return [replace(idle, text=idle.text.removeprefix(f"{unit} ")) for idle in waits]


def _waits(unit: str, events: Sequence[Work]) -> list[Idle]:
    """What a unit waits for, in order."""
    ends = _ends(events)
    return [piece for wait in _of(events, unit, "wait") for piece in _pieces(wait, ends)]


def _cut(stream: Sequence[Idle], spans: Sequence[Interval]) -> list[Idle]:
    """What of the stream lies in the spans; both are in order."""
    found: list[Idle] = []
    at = 0
    for begin, end in spans:
        while at < len(stream) and stream[at].end <= begin:
            at += 1
        k = at
        while k < len(stream) and stream[k].begin < end:
            idle = stream[k]
            found.append(replace(idle, begin=max(begin, idle.begin), end=min(end, idle.end)))
            k += 1
    return found


def _pieces(wait: Work, ends: Mapping[str, Sequence[int]]) -> list[Idle]:
    """A unit's wait, parted where one of several units is done."""
    names = [unit_of(name) for name in wait.waits_for]
    done = {name: _done(ends.get(name, ()), wait.end) for name in names}
    found = []
    at = wait.begin
    for time in sorted({*done.values(), wait.end}):
        if time > at:
            left = [name for name in names if done[name] > at] or names
            cause = DMA_WAIT if any(name in DMA_UNITS for name in left) else UNIT
            found.append(_idle((at, time), cause, f"{wait.unit} waits for {', '.join(left)}"))
            at = time
    return found


def _done(ends: Sequence[int], latest: int) -> int:
    """When a unit was done last, at the latest then."""
    at = bisect_right(ends, latest)
    return ends[at - 1] if at else latest


def _ends(events: Sequence[Work]) -> dict[str, list[int]]:
    """When each unit's programs and transfers ended, in order."""
    ends: dict[str, list[int]] = {}
    for work in events:
        if work.what not in ("task", "wait"):
            ends.setdefault(work.unit, []).append(work.end)
    return {unit: sorted(times) for unit, times in ends.items()}


def _of(events: Sequence[Work], unit: str, what: str) -> list[Work]:
    ordered = (work for work in events if work.unit == unit and work.what == what)
    return sorted(ordered, key=lambda work: (work.begin, work.end))
