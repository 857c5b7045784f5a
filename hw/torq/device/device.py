"""The whole NPU behind its registers, memories and interrupt: what a driver drives."""

import threading

from assay.sim.clock import Environment, Shared

from ..check.watcher import Watcher
from ..facts.costs import Machine, sl2610
from ..faults import AccessFault, Deadlock, TorqFault
from ..lram import Lram
from . import status
from .bus import Place, from_host
from .channels import Channels
from .copies import Copies
from .core import Core
from .css import CssFunction
from .deadlock import Waiter, deadlock, waiters
from .dma import CHANNELS
from .events import Access, Work
from .memories import HOST_VIEW, Memories
from .record import Record
from .register_file import RegisterFile, place_of
from .schedule import Schedule
from .sequencer import Sequencer
from .slice_unit import DEFAULT_CYCLE_LIMIT, SliceUnit
from .stream_agent import LONGEST_PROGRAM
from .xram import Xram

_STATUS = place_of("NSS.STATUS.nss")
_HOST_SPACE = 0x200000
"""Bytes of the window in which the host sees the NPU (torq_regs_host_view.h)."""


class Device:
    """An emulated NPU.

    `write32` and `read32` are the host's accesses to registers and memories; time passes in `run`
    and `wait_irq`. `events` lists what the units did. Runs are deterministic. Several threads take
    `lock`: one program at a time is loaded or run.

    Args:
        machine: sizes and speeds.
        record_accesses: whether `accesses` lists the memory that each piece of work touches.
        watcher: who watches the run for hazards, if anybody.
        fast: whether slices may take fast paths, which give the same bits.
        cycle_limit: cycles of one slice task after which it is refused.
        word_limit: command words of one program after which it is taken to be endless.
        environment: a time that it shares with the other machines of a board, if it is on one.
        dram: the board's DRAM; `name` is what the NPU is called there.
    """

    def __init__(
        self,
        machine: Machine | None = None,
        *,
        record_accesses: bool = False,
        watcher: Watcher | None = None,
        fast: bool = True,
        cycle_limit: int = DEFAULT_CYCLE_LIMIT,
        word_limit: int = LONGEST_PROGRAM,
        environment: Environment | None = None,
        dram: Shared | None = None,
        name: str = "NPU",
    ) -> None:
        self.machine = machine or sl2610()
        self.lock = threading.RLock()
        self.memories = Memories(self.machine)
        self.xram = Xram()
        self._schedule = Schedule(self.machine.clock_hz, environment, dram, name=name)
        self._record = Record(self._schedule, watcher, accesses=record_accesses)
        self._registers = RegisterFile()
        self._registers.on_write("NSS.START.nss", self._start_units)
        shared = (self._schedule, self._registers, self._record)
        self._nss = Sequencer(
            self.machine, self.lram, *shared, write=self._write, word_limit=word_limit
        )
        self._channels = Channels(self.machine, self.lram, self.xram, *shared, done=self._ended)
        self._copies = Copies(self.machine, self.memories, *shared)
        self._core = Core(self.machine, self.memories, *shared)
        self.slices = [
            SliceUnit(
                f"SLC{k}",
                self.lram,
                self._schedule,
                self.machine,
                self._record,
                ended=self._ended,
                fast=fast,
                cycle_limit=cycle_limit,
            )
            for k in range(self.machine.slices)
        ]
        self.watcher = watcher

    @property
    def lram(self) -> Lram:
        """The memory that all units share."""
        return self.memories.lram

    @property
    def watcher(self) -> Watcher | None:
        """Who watches for hazards; may be another from program to program."""
        return self._record.watcher

    @watcher.setter
    def watcher(self, watcher: Watcher | None) -> None:
        self._record.watcher = watcher
        told = None if watcher is None else watcher.host
        for memory in (self.memories.lram, self.memories.itcm, self.memories.dtcm, self.xram):
            memory.host_access = told

    @property
    def keeps_accesses(self) -> bool:
        """Whether `accesses` are recorded; may change from program to program."""
        return self._record.keeps_accesses

    @keeps_accesses.setter
    def keeps_accesses(self, keeps: bool) -> None:
        self._record.keeps_accesses = keeps

    @property
    def events(self) -> list[Work]:
        """What the units did."""
        return self._record.events

    @property
    def accesses(self) -> list[Access]:
        """Which memory they touched, if that is recorded."""
        return self._record.accesses

    @property
    def now(self) -> int:
        """The time, in cycles of the NPU's clock."""
        return self._schedule.now

    def forget(self) -> None:
        """Forgets what was recorded so far; programs that run for long would fill memory."""
        self.events.clear()
        self.accesses.clear()

    def map(self, address: int, size: int) -> None:
        """Maps a region of XRAM. Raises AccessFault."""
        self.xram.map(address, size)

    def unmap(self, address: int) -> None:
        """Unmaps the region of XRAM that starts in the page of `address`. Raises AccessFault."""
        self.xram.unmap(address)

    def register_css(self, code: bytes, name: str, function: CssFunction) -> None:
        """Lets `function` stand for code of the CSS core that begins with `code`."""
        self._core.tasks.register(code, name, function)

    def reset(self) -> None:
        """Stops all units and clears registers; memories and mapped XRAM keep their contents."""
        self._schedule.clear()
        self._nss.agent.stop()
        self._core.reset()
        self._record.clear()
        for unit in self.slices:
            unit.reset()
        self._registers.reset()

    def write32(self, address: int, value: int) -> None:
        """The host writes a word of a register or memory. Raises TorqFault."""
        place = self._host_place(address)
        if place is not None:
            self._write(place, value & 0xFFFFFFFF, address)
            return
        memory, offset = self.memories.at(address, 4, HOST_VIEW, "HOST")
        memory.write(offset, (value & 0xFFFFFFFF).to_bytes(4, "little"), "HOST")

    def read32(self, address: int) -> int:
        """The host reads a word. Reading NSS.STATUS lets the NPU go on a little, so polling ends.

        Raises TorqFault.
        """
        place = self._host_place(address)
        if place is None:
            memory, offset = self.memories.at(address, 4, HOST_VIEW, "HOST")
            return memory.word(offset, "HOST")
        if place == _STATUS:
            self._schedule.step()
            self._seen()
        if place.space == "slice":
            return self._slice(place.slice).words.get(place.address, 0)
        return self._registers.read(place)

    def irq(self) -> bool:
        """Whether the host's interrupt line is up."""
        return bool(self._registers.pending.for_host())

    def host(self, what: str, cycles: int) -> None:
        """The host is at work for so long (`what` as in `Work`); the NPU goes on meanwhile.

        Raises what a unit runs into.
        """
        begin, waiting = self.now, [what]
        self._schedule.after(cycles, waiting.clear)
        while waiting:
            self._step()
        self.events.append(Work(unit="HOST", what=what, begin=begin, end=self.now))

    def run(self) -> None:
        """Goes on until nothing more happens. Raises Deadlock, or what a unit runs into."""
        while self._step():
            pass
        if self._nss.agent.running or self._waiters():
            raise self._deadlock()
        self._seen()

    def wait_irq(self) -> int:
        """Goes on until the host is interrupted; returns the pending interrupts it enabled.

        Raises Deadlock when that will never be, or what a unit runs into.
        """
        while not self.irq():
            if not self._step():
                raise self._deadlock()
        self._seen()
        return self._registers.pending.for_host()

    def _seen(self) -> None:
        """The host looks: now it knows whether the command stream is done."""
        done = self._registers.pending.units() >> status.NSS & 1
        if done and self.watcher is not None:
            self.watcher.program_known_done()

    def _step(self) -> bool:
        try:
            return self._schedule.step()
        except TorqFault as fault:
            self._nss.cut_short()
            for unit in self.slices:
                unit.cut_short()
            self._schedule.clear()
            if self.watcher is not None:
                self.watcher.fault(fault)
            raise

    def _host_place(self, address: int) -> Place | None:
        if address % 4 or not 0 <= address < _HOST_SPACE:
            raise AccessFault(f"the host cannot access {address:#x}", unit="HOST", address=address)
        return from_host(address)

    def _write(self, place: Place, value: int, at: int) -> None:
        """Writes a register word, with what follows from it."""
        if place.space == "slice":
            self._slice(place.slice).write(place.address, value, at)
        else:
            self._registers.write(place, value, at)

    def _slice(self, number: int) -> SliceUnit:
        if number >= len(self.slices):
            raise AccessFault(
                f"there is no slice {number}; this NPU has {len(self.slices)}", unit=f"SLC{number}"
            )
        return self.slices[number]

    def _start_units(self, bits: int, at: int) -> None:
        """NSS.START."""
        known = status.startable(len(self.slices))
        if bits & ~known:
            names = ", ".join(status.names(bits & ~known))
            raise TorqFault(
                f"NSS.START is {bits:#x}, which starts what this NPU has not: {names}",
                unit="NSS",
                address=at,
            )
        if self.watcher is not None and not bits >> status.NSS & 1:
            self.watcher.next_task()
        for channel in CHANNELS:
            if bits >> status.UNIT_BITS[channel] & 1:
                self._channels.start(channel, at)
        for unit in self.slices:
            if bits >> status.UNIT_BITS[unit.name] & 1:
                if self.watcher is not None:
                    self.watcher.start(unit.name, at)
                unit.start_program()
        if bits >> status.NSS & 1:
            if self.watcher is not None:
                self.watcher.program()
            self._nss.start()

    def _ended(self, unit: str) -> None:
        """A unit of NSS.STATUS is done."""
        self._registers.change(1 << status.UNIT_BITS[unit], True)

    def _waiters(self) -> list[Waiter]:
        pending = self._registers.pending.for_stream()
        return waiters(self._nss.agent, pending, self._core, self.slices)

    def _deadlock(self) -> Deadlock:
        """Which unit waits for which, now that nothing happens any more."""
        ended = {work.unit for work in self.events if work.begin >= self._nss.begun}
        found = deadlock(self._waiters(), ended)
        if self.watcher is not None:
            self.watcher.fault(found)
        return found
