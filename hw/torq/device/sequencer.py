"""The NSS at work: the command stream that starts all units and waits for them."""

from collections.abc import Callable

from ..facts.costs import Machine
from ..faults import AccessFault, TorqFault
from ..lram import Lram
from . import status
from .bus import Place, from_stream
from .events import Work
from .record import Record
from .register_file import RegisterFile
from .schedule import Schedule
from .stream_agent import StreamAgent


class Sequencer:
    """The NSS; `write` takes a register word that its stream writes, wherever it is."""

    def __init__(
        self,
        machine: Machine,
        lram: Lram,
        schedule: Schedule,
        registers: RegisterFile,
        record: Record,
        *,
        write: Callable[[Place, int, int], None],
        word_limit: int,
    ) -> None:
        self._schedule, self._registers, self._record = schedule, registers, record
        self._write_register = write
        self.begun = 0
        """When its program began."""
        self.agent = StreamAgent(
            "NSS",
            lram,
            schedule,
            machine.fetch,
            write=self._write,
            pending=registers.pending.for_stream,
            change=registers.change,
            ended=self._ended,
            waited=self._waited,
            limit=word_limit,
            fetched=self._fetched,
        )
        registers.watch(self.agent.look)

    def start(self) -> None:
        """Begins the program that NSS.CFG points at. Raises TorqFault."""
        image = self._registers.image("nss")
        if not image["NSS.CFG.link_en"]:
            raise TorqFault("is started, but NSS.CFG.link_en is 0", unit="NSS")
        self.begun = self._schedule.now
        self.agent.start(image["NSS.CFG.desc"])

    def _write(self, address: int, value: int, at: int) -> None:
        try:
            place = from_stream(address)
        except AccessFault as fault:
            raise fault.of("NSS") from fault
        self._write_register(place, value, at)

    def cut_short(self) -> None:
        """The NPU faults: a program that runs ends here, so that the record has it."""
        if self.agent.running:
            self._log_program("fault")

    def _log_program(self, limit: str = "") -> None:
        end = self._schedule.now
        self._record.events.append(
            Work(unit="NSS", what="program", begin=self.begun, end=end, limit=limit)
        )

    def _ended(self) -> None:
        self._log_program()
        self._registers.change(1 << status.NSS, True)

    def _fetched(self, start: int, stop: int) -> None:
        if self._record.watcher is not None:
            self._record.watcher.fetch("NSS", "commands", start, stop)

    def _waited(self, mask: int, begin: int, end: int, at: int) -> None:
        if self._record.watcher is not None:
            bits = status.UNIT_BITS
            self._record.watcher.join(unit for unit, bit in bits.items() if mask >> bit & 1)
        if end > begin:
            self._record.events.append(
                Work(
                    unit="NSS",
                    what="wait",
                    begin=begin,
                    end=end,
                    address=at,
                    waits_for=status.names(mask),
                )
            )
