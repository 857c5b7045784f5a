"""Addresses of a schedule's buffers in LRAM: bytes are used again after a buffer's last step."""

from __future__ import annotations

from collections.abc import Sequence

from assay.hw.torq.facts.machine import limit, memories

from ..operators.products import Padding
from ..slice.lram import ALIGNMENT
from .steps import Buffer, RunSlice, Step, buffers_of

_BEHIND = 128
"""Bytes behind a tensor that are fetched with its last words."""


class NoRoom(Exception):
    """A buffer found no room; `others` are those that stay and were in the way."""

    def __init__(self, buffer: Buffer, others: Sequence[Buffer]) -> None:
        super().__init__(f"no room in LRAM for {buffer.name}, {buffer.size:,} bytes")
        self.buffer = buffer
        self.others = tuple(others)


def bounds(behind: int = _BEHIND) -> tuple[int, int]:
    """The first address of LRAM for buffers, and the one behind the last.

    So many bytes at LRAM's end stay free, since slices fetch beyond the ends of tensors.
    """
    return limit("lram_pool_start"), memories()["LRAM"].size - behind


def fetched_behind(steps: Sequence[Step]) -> int:
    """How many bytes behind a tensor are fetched at most: padding below is fetched, too."""
    most = 0
    for step in steps:
        padding = getattr(step.op, "padding", None) if isinstance(step, RunSlice) else None
        if isinstance(step, RunSlice) and isinstance(padding, Padding):
            x = step.op.operands["x"]
            most = max(most, padding.bottom * x.shape[-1] * x.element)
    return _BEHIND + most


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
    edges = bounds(fetched_behind(steps))
    for buffer, (first, last) in lives.items():
        for other in [other for other, end in live.items() if end < first]:
            del live[other]
        taken = sorted((found[other], found[other] + _room(other)) for other in live)
        address = _chosen(_gaps(taken, edges), buffer)
        if address is None:
            raise NoRoom(buffer, [other for other in live if other.stays])
        found[buffer] = address
        live[buffer] = last
    return found


def _room(buffer: Buffer) -> int:
    """Bytes with what is lost to alignment."""
    return -(-buffer.size // ALIGNMENT) * ALIGNMENT


def _gaps(taken: Sequence[tuple[int, int]], bounds: tuple[int, int]) -> list[tuple[int, int]]:
    start, end = bounds
    edges = [-(-start // ALIGNMENT) * ALIGNMENT]
    for first, stop in taken:
        edges += [first, stop]
    edges.append(end // ALIGNMENT * ALIGNMENT)
    return list(zip(edges[::2], edges[1::2], strict=True))


def _chosen(gaps: Sequence[tuple[int, int]], buffer: Buffer) -> int | None:
    """The highest address of a buffer that stays, the lowest of another; None without room."""
    room = _room(buffer)
    fits = [(first, stop) for first, stop in gaps if stop - first >= room]
    if not fits:
        return None
    return fits[-1][1] - room if buffer.stays else fits[0][0]
