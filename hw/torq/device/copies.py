"""CDMA at work: its command register, its copies, and what it reports."""

from ..facts.costs import Machine
from ..faults import NotModelled
from .cdma import copy_of
from .memories import Memories
from .record import Record
from .register_file import RegisterFile
from .schedule import Schedule


class Copies:
    """CDMA's one channel."""

    def __init__(
        self,
        machine: Machine,
        memories: Memories,
        schedule: Schedule,
        registers: RegisterFile,
        record: Record,
    ) -> None:
        self._machine, self._memories, self._schedule = machine, memories, schedule
        self._registers, self._record = registers, record
        registers.on_write("CDMA.CH0_CMD.enablecmd", self._command)

    def _command(self, value: int, at: int) -> None:
        if value & ~1:
            raise NotModelled(
                f"CDMA.CH0_CMD is {value:#x}; only its enablecmd (0x1) is modelled",
                unit="CDMA",
                agent="CDMA.CH0_CMD",
                address=at,
            )
        if value:
            self._start(at)

    def _start(self, at: int) -> None:
        begin = self._record.begin("CDMA", at)
        copy = copy_of(self._registers.image("cdma"), self._memories)
        data = copy.fetch()
        moves = copy.moves()
        watcher = self._record.watcher
        if watcher is not None:
            watcher.copy("CDMA", ("source", "target"), at, moves)

        def finish() -> None:
            copy.deliver(data)
            if watcher is not None:
                watcher.copied(moves)
            for agent, move, writes in zip(("source", "target"), moves, (False, True), strict=True):
                memory, first, last = move[0]
                self._record.touch("CDMA", agent, memory, writes, begin, ((first, last),), at)
            self._record.finish("CDMA", "copy", begin, at, size=copy.size)
            image = self._registers.image("cdma")
            image["CDMA.CH0_STATUS.stat_done"] = 1
            image["CDMA.CH0_STATUS.intr_done"] = image["CDMA.CH0_INTREN.intren_done"]
            self._registers.put("cdma", image)

        self._schedule.after(self._machine.cdma_cycles(copy.size), finish)
