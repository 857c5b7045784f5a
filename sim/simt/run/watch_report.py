"""Turns what a dispatch's observers reported into findings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ...check import layout as k
from ...check.finding import Finding, Party
from ...check.kinds import REPORTED
from ..ir import context as c
from ..ir.shape import LANES
from .fault_report import place_of
from .memory import OFFSET_MASK
from .observation import Observation
from .program import AccessSite, Executable

if TYPE_CHECKING:
    from .boxes import Box

Size = tuple[int, int, int]

_RACES = {
    k.WRITE_WRITE: "race-write-write",
    k.WRITE_READ: "race-read-write",
    k.READ_WRITE: "race-read-write",
    k.WEAK: "weak-memory-flags",
    k.SAME_STORE: "race-write-write",
    k.LANE_RACE: "lane-race",
}
_HINTS = {
    "race-write-write": "let one thread write it, use an atomic, or put a barrier between",
    "race-read-write": "put a threadgroup_barrier with the right mem_flags between the two",
    "across-threadgroups": "threadgroups of a dispatch run in any order: use atomics, or another "
    "dispatch for what depends on the result",
    "barrier-divergence": "every thread of the threadgroup must reach the same barrier: move it "
    "out of the branch or loop, or keep all threads until the last barrier",
}

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


def report_findings(observation: Observation, boxes: Sequence[Box], groups: Size) -> None:
    """Give the checker the findings of all workers."""
    scene = _Scene(observation, boxes, groups)
    merged: dict[tuple[object, ...], tuple[k.Report, Executable]] = {}
    for worker in observation.workers:
        for report in worker.reports:
            handle = report.address >> c.HANDLE_SHIFT
            site = worker.executable.watched(report.site)
            other = worker.executable.watched(report.other_site)
            key = _key(report.kind, site, other, handle)
            known = merged.get(key)
            if known is None:
                merged[key] = (report, worker.executable)
                continue
            total = known[0].count + report.count
            largest = max(known[0].detail, report.detail)
            first = min(known, (report, worker.executable), key=lambda pair: _example(pair[0]))
            first[0].count = total
            if report.kind in REPORTED:
                first[0].detail = largest
            merged[key] = first
    for report, executable in merged.values():
        finding = _explain(scene, report, executable)
        if finding.check in observation.checker.checks:
            observation.checker.report(finding)


def _key(kind: int, site: AccessSite, other: AccessSite, handle: int) -> tuple[object, ...]:
    """What reports of one defect have in common: either side of a race may have come first."""
    if kind in (k.WRITE_READ, k.READ_WRITE):
        return ("race", frozenset((site, other)), handle)
    return (kind, site, other, handle)


def _example(report: k.Report) -> tuple[int, ...]:
    return (report.group, report.other_group, report.simdgroup, report.lane, report.address)


def _explain(scene: _Scene, report: k.Report, executable: Executable) -> Finding:
    if report.kind in _RACES:
        return _race(scene, report, executable)
    if report.kind in (k.MISALIGNED, k.READ_ONLY_WRITE):
        return _misplaced(scene, report, executable)
    if report.kind == k.UNINITIALISED:
        return _uninitialised(scene, report, executable)
    if report.kind in REPORTED:
        return _value(scene, report, executable)
    return _divergence(scene, report, executable)


def _value(scene: _Scene, report: k.Report, executable: Executable) -> Finding:
    name, kind, words = REPORTED[report.kind]
    site = executable.watched(report.site)
    place = (report.group, report.simdgroup, report.lane, report.epoch)
    return Finding(
        check=kind.check,
        kind=name,
        kernel=executable.program.name,
        message=words.message.format(detail=report.detail),
        parties=(scene.party(words.action, site, *place),),
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


def _uninitialised(scene: _Scene, report: k.Report, executable: Executable) -> Finding:
    use, read = executable.watched(report.site), executable.watched(report.other_site)
    what = f"'{read.memory}'" if read.memory else "a variable"
    parties = (
        scene.party(
            "first use that decides something",
            use,
            report.group,
            report.simdgroup,
            report.lane,
            report.epoch,
        ),
        scene.party(
            f"uninitialised {_action(read, 'read')} of {what}" if read.memory else "begins unset",
            read,
            report.group,
            report.simdgroup,
            report.lane,
            -1,
        ),
    )
    if read.reads_inactive:
        return _from_inactive(*parties, report, executable)
    return Finding(
        check="init",
        kind="uninitialised-read",
        kernel=executable.program.name,
        message=f"the value depends on {what}, which was not written before",
        parties=parties,
        memory=what if read.memory else "",
        hint="write it first, or do not use what was not written",
        count=report.count,
    )


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
            _action(before, "read" if read_before else "write"),
            before,
            other_group,
            report.other_simdgroup,
            report.other_lane,
            report.other_epoch,
        ),
    )
    kind = _RACES[report.kind]
    hint = _HINTS.get(kind, "")
    if other_group != report.group:
        message = f"threadgroups access {memory} without an order between them"
        hint = _HINTS["across-threadgroups"]
    elif report.kind == k.SAME_STORE:
        message = f"lanes of one store write different values to the same place of {memory}"
        hint = "let one lane write it"
    elif report.kind == k.LANE_RACE:
        message = f"only lock step orders two accesses to {memory} by lanes of one simdgroup"
        hint = "put a simdgroup_barrier with the right mem_flags between the two"
    elif report.kind == k.WEAK:
        flag = "mem_threadgroup" if arena else "mem_device"
        message = f"the barrier between two accesses to {memory} does not order that memory"
        hint = f"give the barrier mem_flags::{flag}"
    else:
        message = f"no barrier between two accesses to {memory} by different simdgroups"
    return Finding(
        check="lanes" if report.kind == k.LANE_RACE else "race",
        kind=kind,
        kernel=executable.program.name,
        message=message,
        parties=parties,
        memory=memory,
        offset=offset,
        hint=hint,
        count=report.count,
    )


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


def _divergence(scene: _Scene, report: k.Report, executable: Executable) -> Finding:
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
    return Finding(
        check="barrier",
        kind="barrier-divergence",
        kernel=executable.program.name,
        message=message,
        parties=(waits, other),
        hint=_HINTS["barrier-divergence"],
        count=report.count,
    )
