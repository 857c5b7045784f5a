"""The whole NPU behind its registers, memories and interrupt: what a driver drives."""

from collections.abc import Callable, Sequence

from ..check.checker import Checker
from ..costs import Machine, sl2610
from ..faults import AccessFault, Deadlock, NotModelled, TorqFault
from ..lram import Lram
from ..registers import Image, registers
from . import status
from .bus import Place, from_host, from_stream
from .cdma import copy_of
from .css import CssFunction, CssTasks, CssView
from .deadlock import deadlock
from .dma import AGENTS, CHANNELS, deliver, fetch, moves_of, transfer_of
from .events import Access, Work
from .memories import HOST_VIEW, Memories
from .schedule import Schedule
from .slice_unit import DEFAULT_CYCLE_LIMIT, SliceUnit
from .stream_agent import LONGEST_PROGRAM, StreamAgent
from .xram import Xram


class Device:
    """An emulated NPU.

    `write32` and `read32` are the host's accesses to registers and memories; time passes in `run`
    and `wait_irq`. `events` lists what the units did. Runs are deterministic.

    Args:
        machine: sizes and speeds.
        record_accesses: whether `accesses` lists the memory that each piece of work touches.
        checker: who watches the run for hazards, if anybody.
        fast: whether slices may take fast paths, which give the same bits.
        cycle_limit: cycles of one slice task after which it is refused.
        word_limit: command words of one program after which it is taken to be endless.
    """

    def __init__(
        self,
        machine: Machine | None = None,
        *,
        record_accesses: bool = False,
        checker: Checker | None = None,
        fast: bool = True,
        cycle_limit: int = DEFAULT_CYCLE_LIMIT,
        word_limit: int = LONGEST_PROGRAM,
    ) -> None:
        self.machine = machine or sl2610()
        self.memories = Memories(self.machine)
        self.xram = Xram()
        self.events: list[Work] = []
        self.accesses: list[Access] = []
        self._schedule = Schedule(self.machine.clock_hz)
        self._css_tasks = CssTasks()
        self._spaces: dict[str, dict[int, int]] = {s: {} for s in ("nss", "css", "cpu", "cdma")}
        self._pending = status.Pending(
            self._spaces["nss"], self._spaces["css"], self._spaces["cdma"]
        )
        self._busy: set[str] = set()
        self._begun = 0
        self._record, self.checker = record_accesses, checker
        if checker is not None:
            for memory in (self.memories.lram, self.memories.itcm, self.memories.dtcm, self.xram):
                memory.host_access = checker.host
        access = self.accesses.append if record_accesses else None
        self.slices = [
            SliceUnit(
                f"SLC{k}", self.lram, self._schedule, self.machine,
                ended=self._ender(f"SLC{k}"), log=self.events.append, access=access,
                checker=checker, fast=fast, cycle_limit=cycle_limit,
            )
            for k in range(self.machine.slices)
        ]  # fmt: skip
        self._nss = StreamAgent(
            "NSS", self.lram, self._schedule, self.machine.fetch, write=self._stream_write,
            pending=self._pending.for_stream, change=self._change, ended=self._program_ended,
            waited=self._waited, limit=word_limit,
            fetched=self._fetched if checker is not None else None,
        )  # fmt: skip
        self._effects: dict[str, Callable[[int, int], None]] = {
            "NSS.START.nss": self._start_units, "CDMA.CH0_CMD.enablecmd": self._start_cdma,
            "CPU.CTL.reset": self._control_core, "CSS.MBX_IRQ_0.irq": self._ring_core,
        }  # fmt: skip
        self._effect_at = {
            (name.split(".")[0].lower(), registers(name.split(".")[0].lower()).address(name)): do
            for name, do in self._effects.items()
        }
        self._reset_values()

    @property
    def lram(self) -> Lram:
        """The memory that all units share."""
        return self.memories.lram

    @property
    def now(self) -> int:
        """The time, in cycles of the NPU's clock."""
        return self._schedule.now

    def map(self, address: int, size: int) -> None:
        """Maps a region of XRAM. Raises AccessFault."""
        self.xram.map(address, size)

    def unmap(self, address: int) -> None:
        """Unmaps the region of XRAM that starts in the page of `address`. Raises AccessFault."""
        self.xram.unmap(address)

    def register_css(self, code: bytes, name: str, function: CssFunction) -> None:
        """Lets `function` stand for code of the CSS core that begins with `code`."""
        self._css_tasks.register(code, name, function)

    def reset(self) -> None:
        """Stops all units and clears registers; memories and mapped XRAM keep their contents."""
        self._schedule.clear()
        self._nss.stop()
        self._busy.clear()
        for unit in self.slices:
            unit.reset()
        for words in self._spaces.values():
            words.clear()
        self._reset_values()

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
        if place == self._place("NSS.STATUS.nss"):
            self._schedule.step()
        if place.space == "slice":
            return self._slice(place.slice).words.get(place.address, 0)
        return self._spaces[place.space].get(place.address, 0)

    def irq(self) -> bool:
        """Whether the host's interrupt line is up."""
        return bool(self._pending.for_host())

    def run(self) -> None:
        """Goes on until nothing more happens. Raises Deadlock, or what a unit runs into."""
        while self._step():
            pass
        if self._nss.running or any(unit.agent.running for unit in self.slices):
            raise self._deadlock()

    def wait_irq(self) -> int:
        """Goes on until the host is interrupted; returns the pending interrupts it enabled.

        Raises Deadlock when that will never be, or what a unit runs into.
        """
        while not self.irq():
            if not self._step():
                raise self._deadlock()
        return self._pending.for_host()

    def _step(self) -> bool:
        try:
            return self._schedule.step()
        except TorqFault as fault:
            self._schedule.clear()
            if self.checker is not None:
                self.checker.fault(fault)
            raise

    def _reset_values(self) -> None:
        image = Image(registers("cpu"), self._spaces["cpu"])
        image["CPU.CTL.reset"] = image["CPU.CTL.cg"] = 1
        self._spaces["cpu"].update(image.words)

    def _host_place(self, address: int) -> Place | None:
        if address % 4 or not 0 <= address < 0x200000:
            raise AccessFault(f"the host cannot access {address:#x}", unit="HOST", address=address)
        return from_host(address)

    @staticmethod
    def _place(field: str) -> Place:
        space = field.split(".")[0].lower()
        return Place(space=space, address=registers(space).address(field))

    def _stream_write(self, address: int, value: int, at: int) -> None:
        try:
            place = from_stream(address)
        except AccessFault as fault:
            raise fault.of("NSS") from fault
        self._write(place, value, at)

    def _write(self, place: Place, value: int, at: int) -> None:
        """Writes a register word, with what follows from it."""
        if place.space == "slice":
            self._slice(place.slice).write(place.address, value, at)
            return
        words = self._spaces[place.space]
        old = words.get(place.address, 0)
        if place == self._place("NSS.STATUS.nss"):
            words[place.address] = old & ~value
        elif place == self._place("CDMA.CH0_STATUS.intr_done"):
            words[place.address] = old & ~(value | value >> 16)
        else:
            words[place.address] = value
            effect = self._effect_at.get((place.space, place.address))
            if effect is not None:
                effect(value, at)

    def _slice(self, number: int) -> SliceUnit:
        if number >= len(self.slices):
            raise AccessFault(f"there is no slice {number}; this NPU has {len(self.slices)}")
        return self.slices[number]

    def _image(self, space: str) -> Image:
        return Image(registers(space), self._spaces[space])

    # What registers start.

    def _start_units(self, bits: int, at: int) -> None:
        known = status.startable(len(self.slices))
        if bits & ~known:
            names = ", ".join(status.names(bits & ~known))
            raise TorqFault(
                f"NSS.START is {bits:#x}, which starts what this NPU has not: {names}",
                unit="NSS",
                address=at,
            )
        if self.checker is not None and not bits >> status.NSS & 1:
            self.checker.next_task()
        for channel in CHANNELS:
            if bits >> status.UNIT_BITS[channel] & 1:
                self._start_dma(channel, at)
        for unit in self.slices:
            if bits >> status.UNIT_BITS[unit.name] & 1:
                if self.checker is not None:
                    self.checker.start(unit.name, at)
                unit.start_program()
        if bits >> status.NSS & 1:
            image = self._image("nss")
            if not image["NSS.CFG.link_en"]:
                raise TorqFault("is started, but NSS.CFG.link_en is 0", unit="NSS")
            self._begun = self.now
            self._nss.start(image["NSS.CFG.desc"])

    def _begin(self, unit: str, at: int) -> int:
        if unit in self._busy:
            raise TorqFault("is started while it is still busy", unit=unit, address=at)
        self._busy.add(unit)
        if self.checker is not None:
            self.checker.start(unit, at, ahead=unit in ("CDMA", "CSS"))
        return self.now

    def _start_dma(self, channel: str, at: int) -> None:
        begin = self._begin(channel, at)
        transfer = transfer_of(channel, self._image("nss"))
        data = fetch(transfer, self.lram, self.xram)
        moves = moves_of(transfer)
        if self.checker is not None:
            self.checker.copy(channel, AGENTS[channel], at, moves)
        cycles = self.machine.dma_start + self.machine.dma_cycles(transfer.size, transfer.mtu)

        def finish() -> None:
            deliver(transfer, data, self.lram, self.xram)
            if self.checker is not None:
                self.checker.copied(moves)
            for agent, move, is_write in zip(AGENTS[channel], moves, (False, True), strict=True):
                ranges = [(first, last) for _, first, last in move]
                self._touch(channel, agent, move[0][0], is_write, begin, ranges, at)
            what = "load" if channel == "XR" else "store"
            self._finish(channel, what, begin, at, size=transfer.size)
            self._change(1 << status.UNIT_BITS[channel], True)

        self._schedule.move(cycles, finish)

    def _start_cdma(self, value: int, at: int) -> None:
        if value & ~1:
            raise NotModelled(
                f"CDMA.CH0_CMD is {value:#x}; only its enablecmd (0x1) is modelled",
                unit="CDMA",
                agent="CDMA.CH0_CMD",
                address=at,
            )
        if not value:
            return
        begin = self._begin("CDMA", at)
        copy = copy_of(self._image("cdma"), self.memories)
        data = copy.fetch()
        moves = copy.moves()
        if self.checker is not None:
            self.checker.copy("CDMA", ("source", "target"), at, moves)

        def finish() -> None:
            copy.deliver(data)
            if self.checker is not None:
                self.checker.copied(moves)
            for agent, move, writes in zip(("source", "target"), moves, (False, True), strict=True):
                memory, first, last = move[0]
                self._touch("CDMA", agent, memory, writes, begin, ((first, last),), at)
            self._finish("CDMA", "copy", begin, at, size=copy.size)
            image = self._image("cdma")
            image["CDMA.CH0_STATUS.stat_done"] = 1
            image["CDMA.CH0_STATUS.intr_done"] = image["CDMA.CH0_INTREN.intren_done"]
            self._spaces["cdma"].update(image.words)
            self._look()

        self._schedule.after(self.machine.cdma_cycles(copy.size), finish)

    def _control_core(self, value: int, at: int) -> None:
        """CPU.CTL: the end of a reset with the clock on lets the core run."""
        if value == 0:
            self._start_core(at)

    def _ring_core(self, value: int, at: int) -> None:
        """Mailbox 0: wakes a core that is out of reset."""
        if value & 1 and not self._image("cpu")["CPU.CTL.reset"]:
            self._start_core(at)

    def _start_core(self, at: int) -> None:
        begin = self._begin("CSS", at)
        css = self._image("css")
        boxes = tuple(css[f"CSS.MBX_DAT_{k}.data"] for k in range(4))
        name, function = self._css_tasks.find(self.memories, self._image("cpu")["CPU.PCSTART.pc"])
        view = CssView(self.memories, (boxes[0], boxes[1], boxes[2], boxes[3]))
        spent = function(view)
        if self.checker is not None:
            self.checker.core(
                name, at, [(t.memory, t.start, t.stop, t.writes) for t in view.touched]
            )
        cycles = self.machine.css_task if spent is None else spent

        def finish() -> None:
            for piece in view.touched:
                bounds = ((piece.start, piece.stop),)
                self._touch("CSS", name, piece.memory, piece.writes, begin, bounds, at)
            self._finish("CSS", "css", begin, at, limit=name)
            image = self._image("css")
            image["CSS.MBX_IRQ_0.irq"], image["CSS.MBX_IRQ_1.irq"] = 0, 1
            self._spaces["css"].update(image.words)
            self._look()

        self._schedule.after(cycles, finish)

    # What units report.

    def _finish(
        self, unit: str, what: str, begin: int, at: int, *, size: int = 0, limit: str = ""
    ) -> None:
        self._busy.discard(unit)
        self.events.append(
            Work(
                unit=unit, what=what, begin=begin, end=self.now, address=at, size=size, limit=limit
            )
        )

    def _touch(
        self, unit: str, agent: str, memory: str, writes: bool, begin: int,
        ranges: Sequence[tuple[int, int]], at: int,
    ) -> None:  # fmt: skip
        if self._record:
            self.accesses.append(
                Access(
                    unit=unit,
                    agent=agent,
                    memory=memory,
                    writes=writes,
                    begin=begin,
                    end=self.now,
                    ranges=tuple(ranges),
                    descriptor=at,
                )
            )

    def _ender(self, unit: str) -> Callable[[], None]:
        return lambda: self._change(1 << status.UNIT_BITS[unit], True)

    def _change(self, mask: int, on: bool) -> None:
        """Sets or clears bits of NSS.STATUS."""
        address = registers("nss").address("NSS.STATUS.nss")
        word = self._spaces["nss"].get(address, 0)
        self._spaces["nss"][address] = word | mask if on else word & ~mask
        self._look()

    def _look(self) -> None:
        self._nss.look()

    def _program_ended(self) -> None:
        self.events.append(Work(unit="NSS", what="program", begin=self._begun, end=self.now))
        self._change(1 << status.NSS, True)

    def _fetched(self, start: int, stop: int) -> None:
        if self.checker is not None:
            self.checker.fetch("NSS", "commands", start, stop)

    def _waited(self, mask: int, begin: int, end: int, at: int) -> None:
        if self.checker is not None:
            bits = status.UNIT_BITS
            self.checker.join(unit for unit, bit in bits.items() if mask >> bit & 1)
        if end > begin:
            self.events.append(
                Work(
                    unit="NSS",
                    what="wait",
                    begin=begin,
                    end=end,
                    address=at,
                    waits_for=status.names(mask),
                )
            )

    def _deadlock(self) -> Deadlock:
        """Who waits for whom, now that nothing happens any more."""
        found = deadlock(self._nss, self._pending.for_stream(), self.slices)
        if self.checker is not None:
            self.checker.fault(found)
        return found
