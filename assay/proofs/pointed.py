"""Memory that arguments of a dispatch stand for, directly and by the pointers that they hold."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.compiler.verify import Place

_POINTER = struct.Struct("<Q")
Resolve = Callable[[int], tuple[int, int]]
"""The host's address of a GPU address, and the bytes from there to the buffer's end."""


@dataclass(frozen=True, slots=True)
class Range:
    """Bytes of the host's memory that an argument stands for."""

    name: str
    is_written: bool
    begin: int
    end: int
    parameter: int | None = None  # that it is bound to, if the kernel may write there

    def written_if(self, is_written: bool) -> Range:
        """The same where it is known whether the kernel writes to its argument."""
        return self if self.parameter is None else replace(self, is_written=is_written)


@dataclass(frozen=True, slots=True)
class Pointed:
    """A pointer at byte `at` of a parameter, and the host's memory from where it points to."""

    parameter: int
    at: int
    name: str
    begin: int
    end: int


def pointers_in(raw: bytes, parameter: int, name: str, resolve: Resolve) -> Iterator[Pointed]:
    """The words of constant memory that are addresses of buffers."""
    for at in range(0, len(raw) - _POINTER.size + 1, _POINTER.size):
        (address,) = _POINTER.unpack_from(raw, at)
        host, available = resolve(address)
        if available:
            yield Pointed(parameter, at, f"{name}[{at}]", host, host + available)


def whole(pointed: Sequence[Pointed]) -> Iterator[Range]:
    """The memory that pointers lead to, each once; any may be written."""
    for first in _memories(pointed).values():
        yield Range(first.name, True, first.begin, first.end)


def lengths_of(pointed: Sequence[Pointed]) -> Iterator[tuple[str, int]]:
    """Bytes of that memory, by name."""
    for first in _memories(pointed).values():
        yield first.name, first.end - first.begin


def places(pointed: Sequence[Pointed]) -> dict[tuple[int, int], Place]:
    """Where pointers lead to, as the prover wants it."""
    from assay.compiler.verify import Place

    memories = _memories(pointed)
    numbers = {end: number for number, end in enumerate(memories)}
    return {
        (each.parameter, each.at): Place(
            numbers[each.end], each.begin - memories[each.end].begin, memories[each.end].name
        )
        for each in pointed
    }


def _memories(pointed: Sequence[Pointed]) -> dict[int, Pointed]:
    """By the end of each buffer the pointer that leads to its lowest byte."""
    found: dict[int, Pointed] = {}
    for each in pointed:
        if each.end not in found or each.begin < found[each.end].begin:
            found[each.end] = each
    return found


def overlap(ranges: Sequence[Range]) -> tuple[str, str] | None:
    """Two arguments that share memory of which one is written."""
    for at, one in enumerate(ranges):
        for other in ranges[:at]:
            is_shared = one.begin < other.end and other.begin < one.end
            if (one.is_written or other.is_written) and is_shared:
                return other.name, one.name
    return None
