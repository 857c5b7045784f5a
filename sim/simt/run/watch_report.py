"""Turns what a dispatch's observers reported into findings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ...check import layout as k
from ...check.finding import DECLARED, NAMELESS, Finding, Party
from ...check.kinds import REPORTED
from ...site import Site
from ..ir import context as c
from ..ir.shape import LANES
from .access_sites import AccessSite
from .executable import Executable
from .fault_report import place_of
from .memory import OFFSET_MASK
from .observation import Observation

if TYPE_CHECKING:
    from .boxes import Box

Size = tuple[int, int, int]

_RACES = {
    k.WRITE_WRITE: "race-write-write",
    k.WRITE_READ: "race-read-write",
    k.READ_WRITE: "race-read-write",
    k.WEAK: "weak-memory-flags",
    k.SAME_STORE: "race-write-write",
    k.STORE_UPDATE: "race-write-write",
    k.COPY_NOT_WAITED: "copy-not-waited",
    k.TEXTURE_NOT_FENCED: "texture-not-fenced",
    k.LANE_RACE: "lane-race",
}
_HINTS = {
    "race-write-write": "let one thread write it, use an atomic, or put "
    "threadgroup_barrier({flags}) between the two",
    "race-read-write": "put threadgroup_barrier({flags}) between the two",
    "weak-memory-flags": "give the barrier {flags}",
    "lane-race": "put simdgroup_barrier({flags}) between the two",
    "copy-not-waited": "wait for the copy's event first (simdgroup_event::wait), then put "
    "threadgroup_barrier({flags}) before other simdgroups use what was copied",
    "texture-not-fenced": "call fence() of the texture between the two",
    "one-store": "let one lane write it",
    "across-threadgroups": "threadgroups of a dispatch run in any order: use atomics, or another "
    "dispatch for what depends on the result",
    "across-store-update": "threadgroups of a dispatch run in any order: store the value before "
    "the dispatch, by the host, a blit or another dispatch",
    "barrier-divergence": "every thread of the threadgroup must reach the same barrier: move it "
    "out of the branch or loop, or keep all threads until the last barrier",
}

_LEFT = (k.LANES_LEFT, k.SIMDGROUP_LEFT)
_WORD = 4  # bytes that Apple GPUs move at once


@dataclass(frozen=True, slots=True)
class _Scene:
    """What reports are read against."""

    observation: Observation
    boxes: Sequence[Box]
    groups: Size

    def position(self, number: int) -> Size:
        """A threadgroup's position."""
        x, y, _ = self.groups
        return number % x, number // x % y, number // (x * y)

    def party(
        self, what: str, access: AccessSite, group: int, simdgroup: int, lane: int, epoch: int
    ) -> Party:
        position = self.position(group)
        thread = None
        if lane >= 0:
            shape = self._box(position).executable.shape
            thread = place_of(shape, position, simdgroup, lane).thread_position_in_threadgroup
        return Party(
            what=what,
            site=access.site,
            threadgroup=position,
            thread=thread,
            simdgroup=simdgroup,
            lane=lane,
            epoch=epoch,
        )

    def _box(self, position: Size) -> Box:
        for box in self.boxes:
            inside = zip(position, box.origin, box.extent, strict=True)
            if all(start <= at < start + count for at, start, count in inside):
                return box
        return self.boxes[0]


@dataclass(slots=True)
class _Defect:
    """Reports of one defect: the one that is told, and the places that were missed by it."""

    report: k.Report
    executable: Executable
    barriers: set[Site]


def report_findings(observation: Observation, boxes: Sequence[Box], groups: Size) -> None:
    """Give the checker the findings of all workers."""
    scene = _Scene(observation, boxes, groups)
    merged: dict[tuple[object, ...], _Defect] = {}
    for worker in observation.workers:
        for report in worker.reports:
            handle = report.address >> c.HANDLE_SHIFT
            site = worker.executable.watched(report.site)
            other = worker.executable.watched(report.other_site)
            key = _key(report.kind, site, other, handle)
            new = _Defect(report, worker.executable, {site.site})
            merged[key] = _joined(merged[key], new) if key in merged else new
    for defect in merged.values():
        finding = _explain(scene, defect)
        if finding.check in observation.checker.checks:
            observation.checker.report(finding)


def _joined(known: _Defect, new: _Defect) -> _Defect:
    total = known.report.count + new.report.count
    largest = max(known.report.detail, new.report.detail)
    first = min(known, new, key=_preference)
    first.report.count = total
    if first.report.kind in REPORTED:
        first.report.detail = largest
    first.barriers = known.barriers | new.barriers
    return first


def _key(kind: int, site: AccessSite, other: AccessSite, handle: int) -> tuple[object, ...]:
    """What reports of one defect have in common: either side of a race may have come first."""
    if kind in (k.WRITE_READ, k.READ_WRITE, k.STORE_UPDATE):
        return ("race", frozenset((site, other)), handle)
    if kind in REPORTED and REPORTED[kind][2].by_line:
        return (kind, site.site.file, site.site.line)
    if kind in _LEFT and other.site.line:  # whoever has left misses all barriers that follow
        return ("left", other.site)
    if kind == k.UNINITIALISED:
        if other.begins >= 0:  # whichever part of a variable it is
            return (kind, site, other.declared or other.site)
        return (kind, site, other, handle)
    return (kind, site, other, handle)


def _preference(defect: _Defect) -> tuple[int, ...]:
    """Of several reports the first example is told; of one line, the worst and leftmost access."""
    report = defect.report
    if report.kind in REPORTED and REPORTED[report.kind][2].by_line:
        column = defect.executable.watched(report.site).site.column
        return (-report.detail, column, *_example(report))
    if report.kind in _LEFT:
        return (report.group, report.epoch, *_example(report))
    return _example(report)


def _example(report: k.Report) -> tuple[int, ...]:
    return (report.group, report.other_group, report.simdgroup, report.lane, report.address)


def _explain(scene: _Scene, defect: _Defect) -> Finding:
    report, executable = defect.report, defect.executable
    if report.kind in _RACES:
        return _race(scene, report, executable)
    if report.kind in (k.MISALIGNED, k.READ_ONLY_WRITE):
        return _misplaced(scene, report, executable)
    if report.kind == k.UNINITIALISED:
        return _uninitialised(scene, report, executable)
    if report.kind in REPORTED:
        return _value(scene, report, executable)
    return _divergence(scene, report, executable, len(defect.barriers) - 1)


def _value(scene: _Scene, report: k.Report, executable: Executable) -> Finding:
    name, kind, words = REPORTED[report.kind]
    site = executable.watched(report.site)
    place = (report.group, report.simdgroup, report.lane, report.epoch)
    parties = [scene.party(words.action, site, *place)]
    if report.other_site:
        parting = executable.watched(report.other_site)
        who = "simdgroups" if report.kind == k.SOME_SIMDGROUPS else "lanes"
        parties.append(Party(what=f"{who} may part here", site=parting.site))
    return Finding(
        check=kind.check,
        kind=name,
        kernel=executable.program.name,
        message=words.message.format(detail=report.detail, lanes=report.detail.bit_count()),
        parties=tuple(parties),
        hint=words.hint,
        severity=words.severity,
        count=report.count,
    )


def _misplaced(scene: _Scene, report: k.Report, executable: Executable) -> Finding:
    access = executable.watched(report.site)
    memory, offset = _place(scene, report, access)
    severity = "error"
    if report.kind == k.MISALIGNED:
        if report.address % min(_WORD, max(access.size, 1)) == 0:
            severity = "warning"  # a GPU reads such vectors word by word
        kind, action = "misaligned", _action(access, "access")
        message = (
            f"{action} at byte {offset} of {memory}, whose address must be a multiple of "
            f"{report.detail}"
        )
        hint = "access elements of a type with a smaller alignment, such as packed_float4"
    else:
        kind, action = "read-only-write", _action(access, "write")
        declared = report.detail & k.HOW_CONSTANT
        message = f"{action} to {memory}, which is " + (
            "declared const" if declared else "made resident for reading only"
        )
        hint = (
            "declare the argument without const"
            if declared
            else "make it resident with MTLResourceUsageWrite too"
        )
    place = (report.group, report.simdgroup, report.lane, report.epoch)
    return Finding(
        check="bounds",
        kind=kind,
        kernel=executable.program.name,
        message=message,
        parties=(scene.party(action, access, *place),),
        memory=memory,
        offset=offset,
        hint=hint,
        severity=severity,
        count=report.count,
    )


def _from_inactive(use: Party, read: Party, report: k.Report, executable: Executable) -> Finding:
    return Finding(
        check="shuffle",
        kind="inactive-lane-read",
        kernel=executable.program.name,
        message="the value comes from a lane that did not take part in the shuffle",
        parties=(replace(read, what="reads a lane that is not active"), use),
        hint="shuffle where all lanes are, and choose afterwards",
        count=report.count,
    )


def _beyond_lanes(
    use: Party, read: Party, lanes: int, report: k.Report, executable: Executable
) -> Finding:
    group = "simdgroup" if lanes == LANES else "quadgroup"
    return Finding(
        check="shuffle",
        kind="lane-out-of-range",
        kernel=executable.program.name,
        message=f"the value comes from beyond the {lanes} lanes of the {group}",
        parties=(replace(read, what=f"names a lane beyond {lanes - 1}"), use),
        hint="name lanes of the group only, or do not use what comes from beyond",
        count=report.count,
    )


def _uninitialised(scene: _Scene, report: k.Report, executable: Executable) -> Finding:
    use, read = executable.watched(report.site), executable.watched(report.other_site)
    place = (report.group, report.simdgroup, report.lane)
    deciding = scene.party("first use that decides something", use, *place, report.epoch)
    memory, offset = _unwritten(scene, report, read)
    what = memory or NAMELESS
    action = f"uninitialised {_action(read, 'read')} of {what}" if read.size else "begins unset"
    reading = Party(what=action, site=read.site)
    if not report.other_epoch:  # else other lanes handed it on
        reader = (report.other_group, report.other_simdgroup, report.other_lane)
        reading = scene.party(action, read, *reader, -1)
    if read.lanes:
        return _beyond_lanes(deciding, reading, read.lanes, report, executable)
    if read.reads_inactive:
        return _from_inactive(deciding, reading, report, executable)
    parties = [deciding, reading]
    if read.declared is not None:
        parties.append(Party(what=DECLARED, site=read.declared))
    known = offset >= 0 and memory
    which = f"whose element {offset // max(read.size, 1)}" if known else "which"
    return Finding(
        check="init",
        kind="uninitialised-read",
        kernel=executable.program.name,
        message=f"the value depends on {what}, {which} was not written before",
        parties=tuple(parties),
        memory=memory,
        offset=offset,
        hint="write it first, or do not use what was not written",
        count=report.count,
    )


def _unwritten(scene: _Scene, report: k.Report, read: AccessSite) -> tuple[str, int]:
    """(name, byte offset) of what was read and never written: "" or -1 if it is not known."""
    name = f"'{read.memory}'" if read.memory else ""
    if not report.detail:
        return name, read.begins
    if read.declared is not None:
        return "", read.begins + report.found
    if report.found == report.address:  # found through an address
        called, offset, _ = scene.observation.memory.describe(report.address)
        return f"'{called}'" if called else name, offset
    return name, report.found


def _race(scene: _Scene, report: k.Report, executable: Executable) -> Finding:
    now, before = executable.watched(report.site), executable.watched(report.other_site)
    read_now, read_before = report.detail == k.READ_WRITE, report.detail == k.WRITE_READ
    arena = report.address >> c.HANDLE_SHIFT == c.THREADGROUP_HANDLE
    other_group = report.group if arena else report.other_group
    memory, offset = _place(scene, report, now)
    parties = (
        scene.party(
            _action(now, "read" if read_now else "write"),
            now,
            report.group,
            report.simdgroup,
            report.lane,
            report.epoch,
        ),
        scene.party(
            _started(report) + _action(before, "read" if read_before else "write"),
            before,
            other_group,
            report.other_simdgroup,
            report.other_lane,
            report.other_epoch,
        ),
    )
    kind = _RACES[report.kind]
    apart = other_group != report.group
    return Finding(
        check="lanes" if report.kind == k.LANE_RACE else "race",
        kind=kind,
        kernel=executable.program.name,
        message=_race_message(report, memory, apart=apart),
        parties=parties,
        memory=memory,
        offset=offset,
        hint=_race_hint(report, arena=arena, apart=apart),
        count=report.count,
    )


def _race_message(report: k.Report, memory: str, *, apart: bool) -> str:
    """What two threads do to each other; `apart` if they are of different threadgroups."""
    if report.kind == k.STORE_UPDATE:
        who = "another threadgroup" if apart else "another simdgroup"
        return (
            f"no order between an atomic store to {memory} and an atomic update by {who}, which "
            "may be lost"
        )
    if report.kind == k.COPY_NOT_WAITED:
        return f"{memory} is accessed while an asynchronous copy may still be under way"
    if report.kind == k.TEXTURE_NOT_FENCED:
        return "a thread reads the texel that it wrote, and no fence is between"
    if apart:
        return f"threadgroups access {memory} without an order between them"
    if report.kind == k.SAME_STORE:
        return f"lanes of one store write different values to the same place of {memory}"
    if report.kind == k.LANE_RACE:
        return f"only lock step orders two accesses to {memory} by lanes of one simdgroup"
    if report.kind == k.WEAK:
        return f"the barrier between two accesses to {memory} does not order that memory"
    return f"no barrier between two accesses to {memory} by different simdgroups"


def _race_hint(report: k.Report, *, arena: bool, apart: bool) -> str:
    if apart:
        is_stored = report.kind == k.STORE_UPDATE
        return _HINTS["across-store-update" if is_stored else "across-threadgroups"]
    name = "one-store" if report.kind == k.SAME_STORE else _RACES[report.kind]
    flag = "mem_threadgroup" if arena else "mem_device"
    return _HINTS[name].format(flags=f"mem_flags::{flag}")


def _started(report: k.Report) -> str:
    return "asynchronous copy with a " if report.kind == k.COPY_NOT_WAITED else ""


def _action(access: AccessSite, verb: str) -> str:
    return f"{verb} of {access.size} byte{'s' if access.size != 1 else ''}" if access.size else verb


def _place(scene: _Scene, report: k.Report, access: AccessSite) -> tuple[str, int]:
    """(name, byte offset) of the memory of a race."""
    if report.address >> c.HANDLE_SHIFT == c.THREADGROUP_HANDLE:
        return f"'{access.memory}'", (report.address & OFFSET_MASK) - access.start
    name, offset, _ = scene.observation.memory.describe(report.address)
    if access.parameter >= 0 and name != access.memory:
        return f"'{access.memory}'", offset
    return f"'{name or access.memory}'", offset


def _divergence(scene: _Scene, report: k.Report, executable: Executable, further: int) -> Finding:
    """Who misses a barrier, and perhaps `further` ones."""
    here, there = executable.watched(report.site), executable.watched(report.other_site)
    absent = bin(report.detail).count("1")
    waits = scene.party(
        "waits at the barrier",
        here,
        report.group,
        report.simdgroup,
        report.lane,
        report.epoch,
    )
    kind = report.kind
    lane = -1 if kind in (k.OTHER_BARRIER, k.SIMDGROUP_LEFT) else report.other_lane
    action, message = {
        k.LANES_LEFT: (
            "left",
            f"{absent} of {LANES} lanes left before a barrier that others wait at",
        ),
        k.LANES_ELSEWHERE: (
            "took another way",
            f"{absent} of {LANES} lanes do not reach a barrier together with the others",
        ),
        k.OTHER_BARRIER: (
            "waits at the barrier",
            "simdgroups of a threadgroup wait at different barriers",
        ),
        k.SIMDGROUP_LEFT: ("left", "a simdgroup left before a barrier that others reach"),
    }[kind]
    other = scene.party(
        action, there, report.group, report.other_simdgroup, lane, report.other_epoch
    )
    if further > 0:
        message += f", and before {further} further barrier{'s' if further > 1 else ''}"
    return Finding(
        check="barrier",
        kind="barrier-divergence",
        kernel=executable.program.name,
        message=message,
        parties=(waits, other),
        hint=_HINTS["barrier-divergence"],
        count=report.count,
    )
