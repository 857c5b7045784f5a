"""One slice: its own command stream, its registers, and the datapath that START starts."""

from collections.abc import Callable

from ..datapath.cycles import cycles_of
from ..datapath.footprint import touched
from ..datapath.interpreter import Interpreter, count
from ..datapath.plan import plan_task
from ..facts.costs import Machine
from ..facts.registers import registers
from ..faults import AccessFault, Busy, CountMismatch, TorqFault
from ..lram import Lram
from .events import Access, Work
from .record import Record
from .schedule import Schedule
from .stream_agent import StreamAgent

DEFAULT_CYCLE_LIMIT = 200_000_000
"""Cycles of one slice task after which it is taken for a mistake (a quarter of a second)."""


class SliceUnit:
    """A slice; `record` takes what it does and touches, `ended` its name."""

    def __init__(
        self,
        name: str,
        lram: Lram,
        schedule: Schedule,
        machine: Machine,
        record: Record,
        *,
        ended: Callable[[str], None],
        fast: bool = True,
        cycle_limit: int = DEFAULT_CYCLE_LIMIT,
    ) -> None:
        self.name = name
        self.words: dict[int, int] = {}
        self.busy = False
        self._lram, self._schedule, self._machine = lram, schedule, machine
        self._record = record
        self._fast, self._cycle_limit = fast, cycle_limit
        self._interpreter = Interpreter()
        self._ended = ended
        space = registers("slice")
        self._registers = space
        self._status, self._start = space.address("STATUS.dr"), space.address("START.dr")
        self._begun = 0
        self.agent = StreamAgent(
            name,
            lram,
            schedule,
            machine.fetch,
            write=self.write,
            pending=self._pending,
            change=self._change,
            ended=self._program_ended,
            waited=self._waited,
            fetched=self._fetched,
        )

    def start_program(self) -> None:
        """Begins the program that DE_CFG points at. Raises TorqFault."""
        field = self._registers.field("DE_CFG.desc")
        config = self.words.get(field.address, 0)
        if not self._registers.field("DE_CFG.link_en").get(config):
            raise TorqFault("is started, but DE_CFG.link_en is 0: no program", unit=self.name)
        if self.agent.running:
            raise Busy(
                f"is started while its program at {self.agent.pc:#x} still runs", unit=self.name
            )
        if self._record.watcher is not None:
            self._record.watcher.slice_program(self.name, field.get(config))
        self._begun = self._schedule.now
        self._schedule.after(self._machine.slice_start, lambda: self.agent.start(field.get(config)))

    def write(self, address: int, value: int, at: int) -> None:
        """A register write from the slice's own stream, or through the NPU's. Raises TorqFault."""
        if address not in self._registers:
            raise AccessFault(
                f"there is no register at {address:#x} of a slice", unit=self.name, address=address
            )
        if address == self._status:
            self.words[address] = self.words.get(address, 0) & ~value
            return
        self.words[address] = value
        if address == self._start and value:
            self._start_task(value, at)

    def reset(self) -> None:
        """As after power-on; partial sums stay."""
        self.words.clear()
        self.busy = False
        self.agent.stop()

    def _start_task(self, bits: int, at: int) -> None:
        if self.busy:
            raise Busy(
                "a task is started while the one before still runs", unit=self.name, address=at
            )
        begin = self._schedule.now
        if self._record.watcher is not None:
            self._record.watcher.next_slice_task(self.name)
        try:
            plan = plan_task(dict(self.words), self._lram)
            counts = count(plan)
        except TorqFault as fault:
            raise fault.of(self.name) from fault
        spent = cycles_of(plan, counts, self._machine)
        if spent.total > self._cycle_limit:
            raise CountMismatch(
                f"a task would take {spent.total} cycles (the limit is {self._cycle_limit}); "
                f"most of them {spent.slowest}'s",
                unit=self.name,
                address=at,
            )
        self.busy = True
        if self._record.watcher is not None:
            self._record.watcher.slice_task(self.name, plan, self._lram, self.words)

        def finish() -> None:
            try:
                self._interpreter.run(plan, self._lram, fast=self._fast)
            except TorqFault as fault:
                raise fault.of(self.name) from fault
            self.busy = False
            if self._record.watcher is not None:
                self._record.watcher.slice_done(self.name)
            end = self._schedule.now
            self._record.events.append(
                Work(
                    unit=self.name,
                    what="task",
                    begin=begin,
                    end=end,
                    address=at,
                    agents=tuple(spent.agents.items()),
                    limit=spent.slowest,
                )
            )
            self._change(bits, True)
            self.agent.look()

        if self._record.keeps_accesses:
            for agent, writes, descriptor, ranges in touched(plan, self._lram.bytes):
                self._record.accesses.append(
                    Access(
                        unit=self.name,
                        agent=agent,
                        memory="LRAM",
                        writes=writes,
                        begin=begin,
                        end=begin + spent.total,
                        ranges=ranges,
                        descriptor=descriptor,
                    )
                )
        self._schedule.after(spent.total, finish)

    def _pending(self) -> int:
        return self.words.get(self._status, 0)

    def _change(self, mask: int, on: bool) -> None:
        word = self.words.get(self._status, 0)
        self.words[self._status] = word | mask if on else word & ~mask

    def _waited(self, mask: int, begin: int, end: int, at: int) -> None:
        if end > begin:
            self._record.events.append(
                Work(
                    unit=self.name,
                    what="wait",
                    begin=begin,
                    end=end,
                    address=at,
                    waits_for=agent_names(mask),
                )
            )

    def _fetched(self, start: int, stop: int) -> None:
        if self._record.watcher is not None:
            self._record.watcher.fetch(self.name, "commands", start, stop)

    def _program_ended(self) -> None:
        if self._record.watcher is not None:
            self._record.watcher.slice_program_done(self.name, self.agent.pc)
            if self.busy:
                self._record.watcher.escaped(self.name, self.agent.pc)
        self._log_program()
        self._ended(self.name)

    def cut_short(self) -> None:
        """The NPU faults: a program that runs ends here, so that the record has it."""
        if self.agent.running:
            self._log_program("fault")

    def _log_program(self, limit: str = "") -> None:
        end = self._schedule.now
        self._record.events.append(
            Work(unit=self.name, what="program", begin=self._begun, end=end, limit=limit)
        )


def agent_names(mask: int) -> tuple[str, ...]:
    """The parts of a slice that its STATUS names."""
    space = registers("slice")
    fields = space.at(space.address("STATUS.dr"))
    return tuple(field.name.split(".")[-1].upper() for field in fields if field.get(mask))
