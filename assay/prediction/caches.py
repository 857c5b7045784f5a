"""What a program's earlier dispatches leave in the caches for later ones."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from assay.hal.metal.emulated.timing import arguments_of, executable_of, memory_of
from assay.sim.simt.reads import ReadPlace, read_places, touched_places

if TYPE_CHECKING:
    from assay.hal.metal.emulated import MTLDevice
    from assay.hal.metal.emulated.commands import DispatchCommand
    from assay.sim.simt import Program

_POINTER = 8
# Bytes up to which a command may carry its constants, or the addresses of its buffers, at a new
# address each time.
_SMALL = 4096


class CacheHistory:
    """Whether what a dispatch reads can still be in the last level of cache.

    A dispatch is warm if each buffer that it reads was touched before, and DRAM has not delivered
    more than the cache holds since. Buffers count as wholes, by where they begin.

    Args:
        size: bytes of the last level.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._traffic = 0.0
        self._touched: dict[int, float] = {}
        self._read_places: dict[Program, tuple[ReadPlace, ...]] = {}
        self._touched_places: dict[Program, tuple[ReadPlace, ...]] = {}

    def is_warm(self, device: MTLDevice, command: DispatchCommand) -> bool:
        """Whether the dispatch that is next finds its data in a cache."""
        return all(
            self._traffic - self._touched.get(address, float("-inf")) <= self._size
            for address in self._read(device, command)
        )

    def ran(self, device: MTLDevice, command: DispatchCommand, traffic: float) -> None:
        """A dispatch has run, for which DRAM moved `traffic` bytes."""
        self._traffic += traffic
        for address in (*command.arguments, *self._touches(device, command)):
            self._touched[address] = self._traffic

    def _read(self, device: MTLDevice, command: DispatchCommand) -> Iterator[int]:
        """Where the buffers begin that a dispatch reads."""
        program = executable_of(command).program
        places = self._read_places.get(program)
        if places is None:
            places = self._read_places[program] = read_places(program.function)
        yield from _addresses(device, command, places)

    def _touches(self, device: MTLDevice, command: DispatchCommand) -> Iterator[int]:
        """The same for those that it reads or writes."""
        program = executable_of(command).program
        places = self._touched_places.get(program)
        if places is None:
            places = self._touched_places[program] = touched_places(program.function)
        yield from _addresses(device, command, places)


def _addresses(
    device: MTLDevice, command: DispatchCommand, places: Iterable[ReadPlace]
) -> Iterator[int]:
    memory = memory_of(device)
    for place in places:
        address = command.arguments[place.parameter]
        host, available = memory.resolve(address)
        if place.offset < 0:
            argument = arguments_of(command)[place.parameter]
            is_struct = argument.is_reference or bool(argument.members)
            size = argument.size if is_struct else available
            if size > _SMALL or argument.address_space != "constant":
                yield address
        elif available >= place.offset + _POINTER:
            raw = ctypes.string_at(host + place.offset, _POINTER)
            yield int.from_bytes(raw, "little")
