"""Watches an NPU run: which units may run at the same time, and what was never written.

Order is what the program asks for, not what happened to take how long: a piece of work comes before
another only if the command stream waited for its unit in between. Knows nothing of time.
"""

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from assay.sim.check import Checker, Finding

from ..datapath.footprint import touched, unmoved
from ..datapath.plan import SlicePlan
from ..facts.machine import limit
from ..faults import TorqFault
from ..lram import Lram
from ..notes import Notes, Symbol
from .declared import Declared
from .kinds import NPU_CHECKS, UNREAD
from .meant import Meant
from .order import Order
from .races import party, race_message, raced
from .ranges import Ranges, ordered
from .reads import Reads
from .reports import Reports
from .shadow import Shadow
from .touch import Moved, Touch
from .unread import Unread
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
        self.shadow = shadow if shadow is not None else Shadow()
        self._declared = Declared(notes)
        self._order = Order()
        self._unwritten = Unwritten()
        self._results: dict[str, list[tuple[int, int]]] = {}
        """What the task of each slice will have written."""
        known = (*notes.symbols, *symbols)
        self._reports = Reports(self.checker, self._order, self._declared, known, program)
        self._meant = Meant(self._declared, self._reports)
        unread = Unread((*notes.padding, _BLOCKS)) if UNREAD in self.checker.checks else None
        self._reads = Reads(unread, self._reports) if unread is not None else None

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What the checker has found."""
        return self.checker.findings

    # What the device tells.

    def next_task(self) -> None:
        """The command stream came to the starts of another task."""
        self._reports.task += 1

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
            self._reports.report(kind="npu-not-waited", message=message, unit="NSS")

    def start(self, unit: str, address: int, *, ahead: bool = False) -> None:
        """A unit is started by the command word at `address`.

        `ahead` says that this comes before the word that begins the task (as CDMA and CSS do).
        """
        task = self._reports.task + ahead
        before = self._order.start(unit, task, address)
        if before is not None:
            self._reports.report(
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
                        task=self._reports.task_of(unit),
                        operation=self._reports.operation(unit),
                    )
                )
        if unit in _CHANNELS:
            self._meant.touches(unit, every)
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
        self._reports.deviation(unit, self._declared.program(unit, address), address)

    def slice_program_done(self, unit: str, address: int) -> None:
        """A slice ends its program with the word before an LRAM address."""
        self._reports.deviation(unit, self._declared.ended(unit), address)

    def next_slice_task(self, unit: str) -> None:
        """A slice takes up its program's next task; if that can be run, `slice_task` follows."""
        self._declared.task(unit)

    def slice_task(
        self, unit: str, plan: SlicePlan, lram: Lram, registers: Mapping[int, int] | None = None
    ) -> None:
        """A slice starts a task with what its registers hold."""
        self._meant.configuration(unit, plan, registers or {})
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
                    task=self._reports.task_of(unit),
                    operation=self._reports.operation(unit),
                    unmoved=origins.get(agent, ()),
                    plan=None if writes else plan,
                    before=None if writes else before,
                )
            )
        for agent, descriptors in plan.descriptors.items():
            for nest in descriptors:
                self.fetch(unit, agent, nest.address, nest.address + 4 + 8 * len(nest.loops))
        self._meant.touches(unit, every)
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
        self._reports.report(
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
            task=self._reports.task_of(unit),
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
            task=self._reports.task,
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
                task=self._reports.task_of("CSS"),
            )
            self._access(touch, "reads bytes nobody wrote")

    def finish(self) -> None:
        """The program is done, and its results have been read: tells what was never done."""
        self._reports.deviation("NSS", self._declared.lacking(), None)
        if self._reads is not None:
            self._reads.finish()

    def fault(self, error: TorqFault) -> None:
        """A run ended with a fault."""
        self._reports.fault(error)

    def tell(self, finding: Finding) -> None:
        """Reports a finding, if its check is made."""
        self._reports.tell(finding)

    # What follows from it.

    def _access(self, touch: Touch, message: str) -> None:
        """Mark what is written; report a read of what is not, with `message`."""
        self._touch(touch)
        if touch.writes:
            for start, stop in touch.ranges:
                self.shadow.mark(touch.memory, start, stop)
            return
        lacking = self.shadow.unwritten(touch.memory, touch.ranges)
        if lacking:
            self._reports.bytes_("npu-uninitialised", message, touch, lacking)

    def _touch(self, touch: Touch) -> None:
        """Compares with everything that may happen at the same time, and remembers."""
        if self._reads is not None:
            self._reads.follow(touch)
        for other in self._order.together(touch):
            if ranges := raced(touch, other):
                message = race_message(touch, other)
                self._reports.bytes_("npu-race", message, touch, ranges, others=(party(other),))
        self._order.remember(touch)

    def _check_unwritten(
        self, unit: str, plan: SlicePlan, before: NDArray[np.uint8], reads: Iterable[Touch]
    ) -> None:
        """Tells who takes bytes that nobody wrote into results."""
        every = [(each, self.shadow.unwritten(each.memory, each.ranges)) for each in reads]
        lacking = [(each, ranges) for each, ranges in every if ranges]
        for touch, ranges in self._unwritten.told(unit, plan, before, lacking):
            message = "takes bytes that nobody wrote into its results"
            self._reports.bytes_("npu-uninitialised", message, touch, ranges)


def _inside(ranges: Ranges, size: int) -> Ranges:
    """The part of ranges that is inside of a memory."""
    return tuple((a, min(b, size)) for a, b in ranges if a < size)
