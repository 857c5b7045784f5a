"""What a program's earlier dispatches leave in the caches for later ones."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.sim.simt.analysis.reads import ReadPlace, read_places, touched_places

from ..emulated.commands.timing import arguments_of, executable_of, memory_of

if TYPE_CHECKING:
    from assay.sim.simt import Program

    from ..emulated import MTLDevice
    from ..emulated.commands.commands import DispatchCommand

_POINTER = 8
# Bytes up to which a command may carry its constants, or the addresses of its buffers, at a new
# address each time.
_SMALL = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Uses:
    """Where the buffers begin that a dispatch reads, each with its bytes if it is a slab (else 0),
    and where those do that it reads or writes.
    """

    read: tuple[tuple[int, int], ...]
    touched: frozenset[int]


class CacheHistory:
    """Whether what a dispatch reads can still be in the last level of cache.

    A dispatch is warm if each buffer that it reads was touched before, and DRAM has not delivered
    more than the cache holds since. Buffers count as wholes, by where in memory they begin. Those
    that a kernel finds in an argument buffer may be slabs of which each dispatch uses another part:
    they must fit the cache, and DRAM must have delivered as much as they hold.

    Args:
        size: bytes of the last level.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._traffic = 0.0
        self._touched: dict[int, float] = {}
        self._delivered: dict[int, float] = {}
        self._places: dict[Program, tuple[tuple[ReadPlace, ...], tuple[ReadPlace, ...]]] = {}

    def uses(self, device: MTLDevice, command: DispatchCommand) -> Uses:
        """What a dispatch that is about to run reads and touches, by what memory holds now."""
        program = executable_of(command).program
        if program not in self._places:
            function = program.function
            self._places[program] = read_places(function), touched_places(function)
        read, touched = self._places[program]
        places = (*command.arguments, *(place for place, _ in _buffers(device, command, touched)))
        return Uses(
            read=tuple(
                (_in_memory(device, place), slab) for place, slab in _buffers(device, command, read)
            ),
            touched=frozenset(_in_memory(device, place) for place in places),
        )

    def is_warm(self, uses: Uses) -> bool:
        """Whether the dispatch that is next in the program finds its data in a cache."""
        return all(
            self._is_held(address)
            and (slab == 0 or slab <= min(self._size, self._delivered.get(address, 0.0)))
            for address, slab in uses.read
        )

    def ran(self, uses: Uses, traffic: float) -> None:
        """It has run, and DRAM moved `traffic` bytes for it."""
        for address in uses.touched:
            before = self._delivered.get(address, 0.0) if self._is_held(address) else 0.0
            self._delivered[address] = before + traffic
        self._traffic += traffic
        for address in uses.touched:
            self._touched[address] = self._traffic

    def _is_held(self, address: int) -> bool:
        return self._traffic - self._touched.get(address, float("-inf")) <= self._size


def _in_memory(device: MTLDevice, address: int) -> int:
    """Where bytes really lie: libraries make a new buffer over the same array for each call."""
    return memory_of(device).resolve(address)[0] or address


def _buffers(
    device: MTLDevice, command: DispatchCommand, places: Iterable[ReadPlace]
) -> Iterator[tuple[int, int]]:
    """Where the buffers begin that are found at places, and the bytes of those that are slabs."""
    memory = memory_of(device)
    for place in places:
        address = command.arguments[place.parameter]
        host, available = memory.resolve(address)
        if place.offset < 0:
            argument = arguments_of(command)[place.parameter]
            is_struct = argument.is_reference or bool(argument.members)
            size = argument.size if is_struct else available
            if size > _SMALL or argument.address_space != "constant":
                yield address, 0
        elif available >= place.offset + _POINTER:
            raw = ctypes.string_at(host + place.offset, _POINTER)
            pointer = int.from_bytes(raw, "little")
            yield pointer, memory.resolve(pointer)[1]
