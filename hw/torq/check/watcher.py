"""Watches an NPU run: which units may run at the same time, and what was never written.

Order is what the program asks for, not what happened to take how long: a piece of work comes before
another only if the command stream waited for its unit in between. Knows nothing of time.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.sim.check import Checker, Finding, Party, UnitPlace

from ..datapath.footprint import touched, unmoved
from ..datapath.plan import SlicePlan
from ..facts.machine import limit
from ..faults import TorqFault
from ..lram import Lram
from ..notes import Notes, Symbol, TaskNote
from .declared import Declared, Deviation, Reach, deviations, misconfigured, mistagged
from .kinds import NPU_CHECKS, UNREAD
from .matter import matters
from .names import name_of
from .npu_finding import npu_finding, of_fault
from .order import Order
from .ranges import Ranges, ordered, overlap, size
from .shadow import Shadow
from .touch import Moved, Touch
from .unread import Lost, Unread
from .unwritten import Unwritten

_CHANNELS = ("XR", "XW")
_BLOCKS = ("LRAM", 0, limit("lram_pool_start"))
"""Where blocks of commands lie, which are loaded whole however long they are."""


class Watcher:
    """Watches one program on a device, which it is handed to; findings go to a checker.

    Args:
        checker: takes what is found of its checks; one of its own for the usual checks if left out.
        program: what findings call the program.
        symbols: names besides those of `notes`, which say what a compiler meant.
        notes: what the program's compiler says of it.
        shadow: which bytes were written before; nothing if left out.
    """

    def __init__(
        self,
        checker: Checker | None = None,
        *,
        program: str = "",
        symbols: Iterable[Symbol] = (),
        notes: Notes | None = None,
        shadow: Shadow | None = None,
    ) -> None:
        notes = notes or Notes()
        self.checker = checker if checker is not None else Checker(NPU_CHECKS)
        self._program = program
        self._declared = Declared(notes)
        reads = UNREAD in self.checker.checks
        self._unread = Unread((*notes.padding, _BLOCKS)) if reads else None
        self._owners: list[Touch] = []
        self.task = -1
        self.shadow = shadow if shadow is not None else Shadow()
        self._symbols: dict[str, list[Symbol]] = {}
        for symbol in (*notes.symbols, *symbols):
            self._symbols.setdefault(symbol.memory, []).append(symbol)
        self._order = Order()
        self._results: dict[str, list[tuple[int, int]]] = {}
        """What the task of each slice will have written."""
        self._unwritten = Unwritten()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What the checker has found."""
        return self.checker.findings

    # What the device tells.

    def next_task(self) -> None:
        """The command stream came to the starts of another task."""
        self.task += 1

    def program(self) -> None:
        """The host starts the command stream."""
        self._order.open_program()

    def program_known_done(self) -> None:
        """The host has seen that the command stream is done."""
        self._order.close_program()

    def left(self) -> None:
        """The host goes on to the results; tells if it does not know that they are there."""
        if self._order.is_program_open:
            message = "was started, and the host takes its results without having waited for it"
            self._report(kind="npu-not-waited", message=message, unit="NSS")

    def start(self, unit: str, address: int, *, ahead: bool = False) -> None:
        """A unit is started by the command word at `address`.

        `ahead` says that this comes before the word that begins the task (as CDMA and CSS do).
        """
        task = self.task + ahead
        before = self._order.start(unit, task, address)
        if before is not None:
            self._report(
                kind="npu-not-waited",
                message=f"is started again, but nobody waited for what task {before.task} started",
                unit=unit,
                descriptor=address,
                task=task,
            )

    def join(self, units: Iterable[str]) -> None:
        """The command stream has waited for units."""
        self._order.join(units)

    def transfer(self, unit: str) -> None:
        """XR or XW takes up what comes next in the notes; if that can be done, `copy` follows."""
        self._declared.transfer(unit)

    def copy(
        self, unit: str, agents: tuple[str, str], address: int, moves: tuple[Moved, Moved]
    ) -> None:
        """A unit copies bytes: the same number from and to; `agents` read and write."""
        every: list[Touch] = []
        for agent, pieces, writes in zip(agents, moves, (False, True), strict=True):
            for memory in dict.fromkeys(memory for memory, _, _ in pieces):
                ranges = ordered((a, b) for name, a, b in pieces if name == memory)
                every.append(
                    Touch(
                        unit=unit,
                        agent=agent,
                        descriptor=address,
                        memory=memory,
                        writes=writes,
                        ranges=ranges,
                        task=self._task_of(unit),
                        operation=self._operation(unit),
                    )
                )
        if unit in _CHANNELS:
            self._compare_with_notes(unit, every)
        for touch in every:
            self._touch(touch)

    def copied(self, moves: tuple[Moved, Moved]) -> None:
        """The copy is done: what was unwritten at the source is so at the target."""
        flags = [self.shadow.get(memory, start, stop) for memory, start, stop in moves[0]]
        moved = np.concatenate(flags)
        done = 0
        for memory, start, stop in moves[1]:
            self.shadow.put(memory, start, moved[done : done + stop - start])
            done += stop - start

    def slice_program(self, unit: str, address: int) -> None:
        """A slice starts the program at an LRAM address."""
        self._report_deviation(unit, self._declared.program(unit, address), address)

    def slice_program_done(self, unit: str, address: int) -> None:
        """A slice ends its program with the word before an LRAM address."""
        self._report_deviation(unit, self._declared.ended(unit), address)

    def next_slice_task(self, unit: str) -> None:
        """A slice takes up its program's next task; if that can be run, `slice_task` follows."""
        self._declared.task(unit)

    def slice_task(
        self, unit: str, plan: SlicePlan, lram: Lram, registers: Mapping[int, int] | None = None
    ) -> None:
        """A slice starts a task with what its registers hold."""
        self._compare_configuration(unit, plan, registers or {})
        before = lram.bytes.copy()
        origins = unmoved(plan)
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
                    operation=self._operation(unit),
                    unmoved=origins.get(agent, ()),
                    plan=None if writes else plan,
                    before=None if writes else before,
                )
            )
        for agent, descriptors in plan.descriptors.items():
            for nest in descriptors:
                self.fetch(unit, agent, nest.address, nest.address + 4 + 8 * len(nest.loops))
        self._compare_with_notes(unit, every)
        self._results[unit] = [r for touch in every if touch.writes for r in touch.ranges]
        for touch in every:
            self._touch(touch)
        self._check_unwritten(unit, plan, before, [touch for touch in every if not touch.writes])

    def slice_done(self, unit: str) -> None:
        """A slice's task is done: its results are written."""
        for start, stop in self._results.pop(unit, ()):
            self.shadow.mark("LRAM", start, stop)

    def escaped(self, unit: str, address: int) -> None:
        """A slice's program ended while its task still ran."""
        self._report(
            kind="npu-escaped",
            message="ends its program without waiting for its own task",
            unit=unit,
            descriptor=address,
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
        self._access(touch, "reads command words nobody wrote")

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
        self._access(touch, "reads bytes nobody wrote")

    def assume_written(self, memory: str, start: int, stop: int) -> None:
        """Somebody who is not run would have written bytes by now."""
        self.shadow.mark(memory, start, stop)

    def core(self, name: str, address: int, pieces: Iterable[tuple[str, int, int, bool]]) -> None:
        """The CSS core's task `name` touches (memory, start, stop, writes)."""
        for memory, start, stop, writes in pieces:
            touch = Touch(
                unit="CSS",
                agent=name,
                descriptor=address,
                memory=memory,
                writes=writes,
                ranges=((start, stop),),
                task=self._task_of("CSS"),
            )
            self._access(touch, "reads bytes nobody wrote")

    def finish(self) -> None:
        """The program is done, and its results have been read: tells what was never done."""
        self._report_deviation("NSS", self._declared.lacking(), None)
        if self._unread is not None:
            self._report_lost(self._unread.rest(), "is never read")

    def fault(self, error: TorqFault) -> None:
        """A run ended with a fault."""
        note = self._declared.of(error.unit) or TaskNote()
        tensor = next((o.tensor for o in note.operands if o.agent == error.agent), "")
        task = self._task_of(error.unit)
        operation = self._operation(error.unit)
        self.tell(of_fault(error, task, operation, tensor, program=self._program))

    # What follows from it.

    def _operation(self, unit: str) -> str:
        note = self._declared.of(unit)
        return str(note) if note is not None else ""

    def _task_of(self, unit: str) -> int:
        return self._order.task_of(unit, self.task)

    def _compare_configuration(self, unit: str, plan: SlicePlan, words: Mapping[int, int]) -> None:
        """Tells which registers and tags of loops are others than the compiler meant."""
        note = self._declared.of(unit) or TaskNote()
        tags = {
            agent: tuple(loop.tag for nest in nests for loop in nest.loops)
            for agent, nests in plan.descriptors.items()
        }
        wrong = [
            (name, f"{name} is {value}, and its compiler meant {meant}")
            for name, value, meant in misconfigured(note, words)
        ]
        wrong += [
            (agent, f"its loops have the tags {found}, and its compiler meant {meant}")
            for agent, found, meant in mistagged(note, tags)
        ]
        for agent, message in wrong:
            self._report(kind="npu-configuration", message=message, unit=unit, agent=agent)

    def _compare_with_notes(self, unit: str, touches: Sequence[Touch]) -> None:
        """Tells where a task touches what its compiler did not mean, or not what it meant."""
        if self._declared.is_beyond(unit):
            what = "starts a task more than its compiler made"
            self._report_deviation(unit, what, touches[0].descriptor if touches else None)
        note = self._declared.of(unit) or TaskNote()
        reaches = [
            Reach(agent=t.agent, memory=t.memory, ranges=t.ranges, unmoved=t.unmoved)
            for t in touches
        ]
        for found in deviations(note, reaches):
            touch = next((t for t in touches if t.agent == found.agent), None)
            start, stop = (found.extra or found.missing)[0]
            self._report(
                kind="npu-operand",
                message=_deviation(found),
                unit=unit,
                agent=found.agent,
                descriptor=touch.descriptor if touch is not None else None,
                memory=found.memory,
                start=start,
                stop=stop,
                tensor=name_of(self._symbols, found.memory, start, stop),
            )

    def _report_deviation(self, unit: str, message: str, address: int | None) -> None:
        if message:
            self._report(kind="npu-operand", message=message, unit=unit, descriptor=address)

    def _access(self, touch: Touch, message: str) -> None:
        """Mark what is written; report a read of what is not, with `message`."""
        self._touch(touch)
        if touch.writes:
            for start, stop in touch.ranges:
                self.shadow.mark(touch.memory, start, stop)
            return
        lacking = self.shadow.unwritten(touch.memory, touch.ranges)
        if lacking:
            self._report_bytes("npu-uninitialised", message, touch, lacking)

    def _touch(self, touch: Touch) -> None:
        """Compares with everything that may happen at the same time, and remembers."""
        self._follow(touch)
        for other in self._order.together(touch):
            self._compare(touch, other)
        self._order.remember(touch)

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
                kind="npu-unread",
                message=f"what it writes {what}",
                unit=touch.unit,
                agent=touch.agent,
                descriptor=touch.descriptor,
                memory=memory,
                start=start,
                stop=stop,
                task=touch.task,
                tensor=name_of(self._symbols, memory, start, stop),
                operation=touch.operation,
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
        self._report_bytes("npu-race", message, one, shared, others=(_party(other),))

    def _check_unwritten(
        self, unit: str, plan: SlicePlan, before: NDArray[np.uint8], reads: Iterable[Touch]
    ) -> None:
        """Tells who takes bytes that nobody wrote into results."""
        every = [(each, self.shadow.unwritten(each.memory, each.ranges)) for each in reads]
        lacking = [(each, ranges) for each, ranges in every if ranges]
        for touch, ranges in self._unwritten.told(unit, plan, before, lacking):
            message = "takes bytes that nobody wrote into its results"
            self._report_bytes("npu-uninitialised", message, touch, ranges)

    def _matters(self, touch: Touch, ranges: Ranges) -> bool:
        """Whether results depend on bytes that are read."""
        if touch.plan is None or touch.before is None:
            return True
        return matters(touch.plan, touch.before, ranges)

    def _report_bytes(
        self,
        kind: str,
        message: str,
        touch: Touch,
        ranges: Ranges,
        *,
        others: Sequence[Party] = (),
    ) -> None:
        start, stop = ranges[0]
        self._report(
            kind=kind,
            message=message,
            unit=touch.unit,
            agent=touch.agent,
            descriptor=touch.descriptor,
            what=_action(touch),
            others=others,
            memory=touch.memory,
            start=start,
            stop=stop,
            task=touch.task,
            tensor=name_of(self._symbols, touch.memory, start, stop),
            operation=touch.operation,
        )

    def _report(
        self,
        *,
        kind: str,
        message: str,
        unit: str,
        agent: str = "",
        descriptor: int | None = None,
        task: int | None = None,
        operation: str | None = None,
        **facts: Any,
    ) -> None:
        place = UnitPlace(
            unit=unit,
            agent=agent,
            task=self._task_of(unit) if task is None else task,
            address=descriptor,
            operation=self._operation(unit) if operation is None else operation,
        )
        self.tell(npu_finding(kind, message, place, program=self._program, **facts))

    def tell(self, finding: Finding) -> None:
        """Reports a finding, if its check is made."""
        if finding.check in self.checker.checks:
            self.checker.report(finding)


def _party(touch: Touch) -> Party:
    """The other side of a race."""
    place = UnitPlace(
        unit=touch.unit,
        agent=touch.agent,
        task=touch.task,
        address=touch.descriptor,
        operation=touch.operation,
    )
    return Party(what=_action(touch), unit=place)


def _action(touch: Touch) -> str:
    return f"{'writes' if touch.writes else 'reads'} {touch.memory}"


def _agent_of(touch: Touch) -> str:
    """Who touched, and since which task; the host and the stream have no agents."""
    return f"{touch.agent} of task {touch.task}" if touch.agent else f"task {touch.task}"


def _inside(ranges: Ranges, size: int) -> Ranges:
    """The part of ranges that is inside of a memory."""
    return tuple((a, min(b, size)) for a, b in ranges if a < size)


def _deviation(found: Deviation) -> str:
    parts = []
    if found.extra:
        parts.append(f"touches {_bytes(found.extra)} that it is not meant to")
    if found.missing:
        parts.append(f"leaves out {_bytes(found.missing)} of {found.tensor}")
    return " and ".join(parts)


def _bytes(ranges: Ranges) -> str:
    count = size(ranges)
    return "1 byte" if count == 1 else f"{count} bytes"
