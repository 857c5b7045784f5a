"""The DMA channels XR and XW at work: they read when they start and write when they end."""

from collections.abc import Callable

from ..facts.costs import Machine
from ..faults import TorqFault
from ..lram import Lram
from .dma import AGENTS, deliver, fetch, moves_of, transfer_of
from .record import Record
from .register_file import RegisterFile
from .schedule import Schedule
from .xram import Xram


class Channels:
    """Both channels, which share the path to DRAM; `done` is called with the one that ended."""

    def __init__(
        self,
        machine: Machine,
        lram: Lram,
        xram: Xram,
        schedule: Schedule,
        registers: RegisterFile,
        record: Record,
        *,
        done: Callable[[str], None],
    ) -> None:
        self._machine, self._lram, self._xram = machine, lram, xram
        self._schedule, self._registers, self._record = schedule, registers, record
        self._done = done

    def start(self, channel: str, at: int) -> None:
        """Begins the transfer that a channel's registers ask for. Raises TorqFault."""
        begin = self._record.begin(channel, at)
        watcher = self._record.watcher
        if watcher is not None:
            watcher.transfer(channel)
        transfer = transfer_of(channel, self._registers.image("nss"))
        try:
            data = fetch(transfer, self._lram, self._xram)
        except TorqFault as fault:
            raise fault.of(channel) from fault
        moves = moves_of(transfer)
        if watcher is not None:
            watcher.copy(channel, AGENTS[channel], at, moves)

        def finish() -> None:
            deliver(transfer, data, self._lram, self._xram)
            if watcher is not None:
                watcher.copied(moves)
            for agent, move, writes in zip(AGENTS[channel], moves, (False, True), strict=True):
                ranges = [(first, last) for _, first, last in move]
                self._record.touch(channel, agent, move[0][0], writes, begin, ranges, at)
            what = "load" if channel == "XR" else "store"
            self._record.finish(channel, what, begin, at, size=transfer.size)
            self._done(channel)

        machine = self._machine
        cycles = machine.dma_start + machine.dma_cycles(transfer.size, transfer.mtu)
        self._schedule.move(cycles, finish, size=transfer.size)
