"""Watches an NPU run: who may run at the same time as whom, and what was never written.

Order is what the program asks for, not what happened to take how long: a piece of work comes before
another only if the command stream waited for its unit in between. Knows nothing of time.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..datapath.footprint import touched
from ..datapath.interpreter import Interpreter
from ..datapath.plan import SlicePlan
from ..faults import TorqFault
from ..lram import Lram
from ..machine import limit
from .finding import Finding, Symbol, name_of, of_fault
from .ranges import Ranges, ordered, overlap
from .shadow import Shadow
from .unread import Lost, Unread

Moved = Sequence[tuple[str, int, int]]
"""(memory, start, stop): bytes in the order in which they are copied."""
_FILLS = (0x00, 0xA5, 0xFF)
_BLOCKS = ("LRAM", 0, limit("lram_pool_start"))
"""Where blocks of commands lie, which are loaded whole however long they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Touch:
    """Bytes that one agent of a run reads or writes; `plan` and `before` are a slice task's."""

    unit: str
    agent: str
    descriptor: int
    memory: str
    writes: bool
    ranges: Ranges
    task: int
    plan: SlicePlan | None = None
    before: NDArray[np.uint8] | None = None


@dataclass(slots=True)
class Run:
    """A unit at work since it was started, until the command stream waited for it."""

    unit: str
    task: int
    address: int
    stream_from: int
    """How much the command stream had fetched, of what is remembered, when it started."""
    touches: list[Touch] = field(default_factory=list)


class Checker:
    """Collects findings of one device's runs; hand it to the device that shall be watched."""

    def __init__(
        self,
        symbols: Iterable[Symbol] = (),
        *,
        unread: bool = False,
        padding: Sequence[tuple[str, int, int]] = (),
    ) -> None:
        """`unread`: also report what was written and never read, but for `padding` (memory, start,
        stop). A program may load more than it needs, so this has to be asked for.
        """
        self._unread = Unread((*padding, _BLOCKS)) if unread else None
        self._owners: list[Touch] = []
        self.findings: list[Finding] = []
        self.task = -1
        self.shadow = Shadow()
        self._symbols: dict[str, list[Symbol]] = {}
        for symbol in symbols:
            self._symbols.setdefault(symbol.memory, []).append(symbol)
        self._active: dict[str, Run] = {}
        self._ended: list[tuple[Run, list[Run]]] = []
        """Runs that were waited for, with the runs that were under way at that time."""
        self._stream: list[Touch] = []
        self._results: dict[str, list[tuple[int, int]]] = {}
        """What the task of each slice will have written."""
        self._seen: set[tuple[object, ...]] = set()

    # What the device tells.

    def next_task(self) -> None:
        """The command stream came to the starts of another task."""
        self.task += 1

    def start(self, unit: str, address: int, *, ahead: bool = False) -> None:
        """A unit is started by the command word at `address`.

        `ahead` says that this comes before the word that begins the task (as CDMA and CSS do).
        """
        task = self.task + ahead
        before = self._active.get(unit)
        if before is not None:
            self._report(
                kind="not-waited",
                message=f"is started again, but nobody waited for what task {before.task} started",
                unit=unit,
                descriptor=address,
                task=task,
            )
            self._retire([before])
        self._active[unit] = Run(
            unit=unit, task=task, address=address, stream_from=len(self._stream)
        )

    def join(self, units: Iterable[str]) -> None:
        """The command stream has waited for units."""
        self._retire([self._active.pop(unit) for unit in units if unit in self._active])
        if not self._active:
            self._stream.clear()

    def copy(
        self, unit: str, agents: tuple[str, str], address: int, moves: tuple[Moved, Moved]
    ) -> None:
        """A unit copies bytes: the same number from and to; `agents` read and write."""
        for agent, pieces, writes in zip(agents, moves, (False, True), strict=True):
            for memory in dict.fromkeys(memory for memory, _, _ in pieces):
                ranges = ordered((a, b) for name, a, b in pieces if name == memory)
                self._touch(
                    Touch(
                        unit=unit,
                        agent=agent,
                        descriptor=address,
                        memory=memory,
                        writes=writes,
                        ranges=ranges,
                        task=self._task_of(unit),
                    )
                )

    def copied(self, moves: tuple[Moved, Moved]) -> None:
        """The copy is done: what was unwritten at the source is so at the target."""
        flags = [self.shadow.get(memory, start, stop) for memory, start, stop in moves[0]]
        moved = np.concatenate(flags)
        done = 0
        for memory, start, stop in moves[1]:
            self.shadow.put(memory, start, moved[done : done + stop - start])
            done += stop - start

    def slice_task(self, unit: str, plan: SlicePlan, lram: Lram) -> None:
        """A slice starts a task."""
        before = lram.bytes.copy()
        every: list[Touch] = []
        for agent, writes, descriptor, ranges in touched(plan, before):
            every.append(
                Touch(
                    unit=unit,
                    agent=agent,
                    descriptor=descriptor,
                    memory="LRAM",
                    writes=writes,
                    ranges=_inside(ranges, len(lram)),
                    task=self._task_of(unit),
                    plan=None if writes else plan,
                    before=None if writes else before,
                )
            )
        for agent, descriptors in plan.descriptors.items():
            for nest in descriptors:
                self.fetch(unit, agent, nest.address, nest.address + 4 + 8 * len(nest.loops))
        self._results[unit] = [r for touch in every if touch.writes for r in touch.ranges]
        for touch in every:
            self._touch(touch)
            if not touch.writes:
                self._check_unwritten(touch)

    def slice_done(self, unit: str) -> None:
        """A slice's task is done: its results are written."""
        for start, stop in self._results.pop(unit, ()):
            self.shadow.mark("LRAM", start, stop)

    def escaped(self, unit: str, address: int) -> None:
        """A slice's program ended while its task still ran."""
        self._report(
            kind="escaped",
            message="ends its program without waiting for its own task",
            unit=unit,
            descriptor=address,
            task=self._task_of(unit),
        )

    def fetch(self, unit: str, agent: str, start: int, stop: int) -> None:
        """Command words or descriptors are read from LRAM."""
        touch = Touch(
            unit=unit,
            agent=agent,
            descriptor=start,
            memory="LRAM",
            writes=False,
            ranges=((start, stop),),
            task=self._task_of(unit),
        )
        self._touch(touch)
        lacking = self.shadow.unwritten("LRAM", touch.ranges)
        if lacking:
            self._report_bytes("uninitialised", "reads command words nobody wrote", touch, lacking)

    def host(self, memory: str, start: int, stop: int, writes: bool) -> None:
        """The host reads or writes memory."""
        touch = Touch(
            unit="HOST",
            agent="",
            descriptor=0,
            memory=memory,
            writes=writes,
            ranges=((start, stop),),
            task=self.task,
        )
        self._touch(touch)
        if writes:
            self.shadow.mark(memory, start, stop)
            return
        lacking = self.shadow.unwritten(memory, touch.ranges)
        if lacking:
            self._report_bytes("uninitialised", "reads bytes nobody wrote", touch, lacking)

    def assume_written(self, memory: str, start: int, stop: int) -> None:
        """Somebody who is not run would have written bytes by now."""
        self.shadow.mark(memory, start, stop)

    def core(self, name: str, address: int, pieces: Iterable[tuple[str, int, int, bool]]) -> None:
        """The CSS core's task `name` touches (memory, start, stop, writes)."""
        for memory, start, stop, writes in pieces:
            self._touch(
                Touch(
                    unit="CSS",
                    agent=name,
                    descriptor=address,
                    memory=memory,
                    writes=writes,
                    ranges=((start, stop),),
                    task=self._task_of("CSS"),
                )
            )
            if writes:
                self.shadow.mark(memory, start, stop)

    def finish(self) -> None:
        """The program is done, and its results have been read: tells what was never read."""
        if self._unread is not None:
            self._report_lost(self._unread.rest(), "is never read")

    def fault(self, error: TorqFault) -> None:
        """A run ended with a fault."""
        self.findings.append(of_fault(error, self.task))

    # What follows from it.

    def _task_of(self, unit: str) -> int:
        return self._active[unit].task if unit in self._active else self.task

    def _retire(self, runs: Sequence[Run]) -> None:
        """Keeps runs that are over for as long as others run that nothing put behind them."""
        still = [run for run in self._active.values() if not _has(runs, run)]
        kept = [
            (ended, [peer for peer in peers if not _has(runs, peer)])
            for ended, peers in self._ended
        ]
        kept += [(run, still) for run in runs]
        self._ended = [(ended, peers) for ended, peers in kept if peers]

    def _touch(self, touch: Touch) -> None:
        """Compares with everything that may happen at the same time, and remembers."""
        self._follow(touch)
        mine = self._active.get(touch.unit)
        together = [run for run in self._active.values() if run.unit != touch.unit]
        if mine is not None:
            together += [ended for ended, peers in self._ended if _has(peers, mine)]
        for run in together:
            for other in run.touches:
                self._compare(touch, other)
        if touch.unit == "NSS":
            if self._active:
                self._stream.append(touch)
        elif mine is not None:
            for other in self._stream[mine.stream_from :]:
                self._compare(touch, other)
            mine.touches.append(touch)

    def _follow(self, touch: Touch) -> None:
        """Notes who wrote what, and that it was read."""
        if self._unread is None:
            return
        if not touch.writes:
            self._unread.read(touch.memory, touch.ranges)
            if touch.agent in ("DEDR1", "DEBR1"):  # offsets, which are data
                self._unread.read_all(touch.memory)
            return
        self._owners.append(touch)
        lost = self._unread.write(len(self._owners), touch.memory, touch.ranges)
        self._report_lost(lost, "is overwritten before anybody read it")

    def _report_lost(self, lost: Sequence[Lost], what: str) -> None:
        for owner, memory, start, stop in lost:
            touch = self._owners[owner - 1]
            self._report(
                kind="unread",
                message=f"what it writes {what}",
                unit=touch.unit,
                agent=touch.agent,
                descriptor=touch.descriptor,
                memory=memory,
                start=start,
                stop=stop,
                task=touch.task,
                tensor=name_of(self._symbols, memory, start, stop),
            )

    def _compare(self, one: Touch, other: Touch) -> None:
        if one.memory != other.memory or not (one.writes or other.writes):
            return
        shared = overlap(one.ranges, other.ranges)
        if not shared:
            return
        for reader in (one, other):
            if not reader.writes and not self._matters(reader, shared):
                return
        mine, its = (f"{t.unit} {'writes' if t.writes else 'reads'}" for t in (one, other))
        message = (
            f"{mine} what {its} ({_agent_of(other)}), and nothing makes one wait for the other"
        )
        self._report_bytes("race", message, one, shared)

    def _check_unwritten(self, touch: Touch) -> None:
        lacking = self.shadow.unwritten(touch.memory, touch.ranges)
        if lacking and self._matters(touch, lacking):
            self._report_bytes(
                "uninitialised", "takes bytes that nobody wrote into its results", touch, lacking
            )

    def _matters(self, touch: Touch, ranges: Ranges) -> bool:
        """Whether results depend on bytes that are read: slices also fetch what they never use.

        Found by running the task with other bytes there.
        """
        plan, before = touch.plan, touch.before
        if plan is None or before is None:
            return True
        found = []
        for fill in _FILLS:
            lram = Lram(len(before))
            lram.bytes[:] = before
            for start, stop in ranges:
                lram.bytes[start:stop] = fill
            try:
                Interpreter().run(plan, lram)
            except TorqFault:
                return True
            written = [lram.bytes[a:b] for a, b in _results(plan, before)]
            found.append(b"".join(piece.tobytes() for piece in written))
        return any(result != found[0] for result in found)

    def _report_bytes(self, kind: str, message: str, touch: Touch, ranges: Ranges) -> None:
        start, stop = ranges[0]
        self._report(
            kind=kind,
            message=message,
            unit=touch.unit,
            agent=touch.agent,
            descriptor=touch.descriptor,
            memory=touch.memory,
            start=start,
            stop=stop,
            task=touch.task,
            tensor=name_of(self._symbols, touch.memory, start, stop),
        )

    def _report(self, *, task: int | None = None, **facts: object) -> None:
        finding = Finding(task=self.task if task is None else task, **facts)  # type: ignore[arg-type]
        key = (finding.kind, finding.unit, finding.agent, finding.descriptor, finding.start)
        if key not in self._seen:
            self._seen.add(key)
            self.findings.append(finding)


def _has(runs: Sequence[Run], wanted: Run) -> bool:
    return any(run is wanted for run in runs)


def _agent_of(touch: Touch) -> str:
    """Who touched, and since which task; the host and the stream have no agents."""
    return f"{touch.agent} of task {touch.task}" if touch.agent else f"task {touch.task}"


def _inside(ranges: Ranges, size: int) -> Ranges:
    """The part of ranges that is inside of a memory."""
    return tuple((a, min(b, size)) for a, b in ranges if a < size)


def _results(plan: SlicePlan, before: NDArray[np.uint8]) -> Ranges:
    return tuple(
        piece for _, writes, _, ranges in touched(plan, before) if writes for piece in ranges
    )
