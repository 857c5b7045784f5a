"""Addresses in XRAM: of the caller's tensors first, then of all else in the order of its use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from assay.hw.torq.facts.machine import limit
from assay.hw.torq.facts.registers import WORD_BYTES

from ..slice.lram import ALIGNMENT
from .commands import Commands
from .steps import LoadCode, LoadTile, RunSlice, Step, StoreTile
from .storage import Home, Role, Storage


@dataclass(kw_only=True)
class Outside:
    """Where memory is in XRAM, and where the commands of runs are kept there."""

    storages: dict[Storage, int] = field(default_factory=dict)
    code: dict[RunSlice, int] = field(default_factory=dict)

    def segments(self, commands: Commands) -> list[tuple[int, bytes]]:
        """(address, bytes) of constants and commands; the same ones may be there once."""
        found = {at: s.data for s, at in self.storages.items() if s.data is not None}
        found |= {at: commands.of(run).data for run, at in self.code.items()}
        return sorted(found.items())

    def end(self, segments: Sequence[tuple[int, bytes]]) -> int:
        """The first address that is free."""
        ends = [at + storage.size for storage, at in self.storages.items()]
        return max([limit("xram_start"), *ends, *(at + len(data) for at, data in segments)])


def laid_out(callers: Sequence[Home], steps: Sequence[Step], commands: Commands) -> Outside:
    """Addresses for all that steps load and store; the same bytes are kept once."""
    layout = _Layout(commands)
    for home in callers:
        layout.place(home.storage)
    for step in steps:
        if isinstance(step, LoadTile | StoreTile):
            layout.place(step.storage)
        elif isinstance(step, LoadCode):
            layout.keep_code(step.run)
    return layout.outside


class _Layout:
    """Gives one thing after the other a place."""

    def __init__(self, commands: Commands) -> None:
        self.outside = Outside()
        self._commands = commands
        self._next = limit("xram_start")
        self._kept: dict[bytes, int] = {}

    def place(self, storage: Storage) -> None:
        """A place for memory, unless it has one."""
        if storage in self.outside.storages:
            return
        if storage.data is not None:
            address = self._keep(storage.data)
        elif storage.role is Role.WORK:
            address = self._reserve(storage.size, ALIGNMENT)
        else:
            address = self._reserve(storage.size, limit("xram_page"))
        self.outside.storages[storage] = address

    def keep_code(self, run: RunSlice) -> None:
        """A place for a run's commands."""
        self.outside.code[run] = self._keep(self._commands.of(run).data)

    def _keep(self, data: bytes) -> int:
        if data not in self._kept:
            self._kept[data] = self._reserve(len(data), WORD_BYTES)
        return self._kept[data]

    def _reserve(self, size: int, alignment: int) -> int:
        address = -(-self._next // alignment) * alignment
        self._next = address + size
        return address
