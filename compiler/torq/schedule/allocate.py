"""Addresses of a schedule's buffers in LRAM: bytes are used again after a buffer's last step."""

from __future__ import annotations

from collections.abc import Sequence

from assay.hw.torq.facts.machine import limit, memories

from ..slice.lram import ALIGNMENT
from .steps import Buffer, Step, buffers_of

BEHIND = 128
"""Bytes at LRAM's end that stay free: slices fetch beyond the ends of tensors."""


class NoRoom(Exception):
    """A buffer found no room; `others` are those that stay and were in the way."""

    def __init__(self, buffer: Buffer, others: Sequence[Buffer]) -> None:
        super().__init__(f"no room in LRAM for {buffer.name}, {buffer.size:,} bytes")
        self.buffer = buffer
        self.others = tuple(others)


def bounds() -> tuple[int, int]:
    """The first address of LRAM for buffers, and the one behind the last."""
    return limit("lram_pool_start"), memories()["LRAM"].size - BEHIND


def lifetimes(steps: Sequence[Step]) -> dict[Buffer, tuple[int, int]]:
    """The first and the last step of every buffer, in the order in which they begin."""
    found: dict[Buffer, tuple[int, int]] = {}
    for number, step in enumerate(steps):
        for buffer in buffers_of(step):
            first, _ = found.get(buffer, (number, number))
            found[buffer] = first, number
    return found


def addresses_of(steps: Sequence[Step]) -> dict[Buffer, int]:
    """An address for every buffer. Raises NoRoom.

    Buffers that stay come from the top, the others from the bottom, each where it first fits.
    """
    found: dict[Buffer, int] = {}
    live: dict[Buffer, int] = {}
    lives = lifetimes(steps)
    for buffer, (first, last) in lives.items():
        for other in [other for other, end in live.items() if end < first]:
            del live[other]
        taken = sorted((found[other], found[other] + _room(other)) for other in live)
        address = _highest(taken, buffer) if buffer.stays else _lowest(taken, buffer)
        if address is None:
            raise NoRoom(buffer, [other for other in live if other.stays])
        found[buffer] = address
        live[buffer] = last
    return found


def _room(buffer: Buffer) -> int:
    """Bytes with what is lost to alignment."""
    return -(-buffer.size // ALIGNMENT) * ALIGNMENT


def _gaps(taken: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    start, end = bounds()
    edges = [-(-start // ALIGNMENT) * ALIGNMENT]
    for first, stop in taken:
        edges += [first, stop]
    edges.append(end // ALIGNMENT * ALIGNMENT)
    return list(zip(edges[::2], edges[1::2], strict=True))


def _lowest(taken: Sequence[tuple[int, int]], buffer: Buffer) -> int | None:
    fits = [first for first, stop in _gaps(taken) if stop - first >= _room(buffer)]
    return fits[0] if fits else None


def _highest(taken: Sequence[tuple[int, int]], buffer: Buffer) -> int | None:
    fits = [stop - _room(buffer) for first, stop in _gaps(taken) if stop - first >= _room(buffer)]
    return fits[-1] if fits else None
