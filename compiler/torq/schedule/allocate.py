"""Addresses of a schedule's buffers in LRAM: bytes are used again after a buffer's last step."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from assay.hw.torq.facts.machine import limit

from ..operators.operator import Operator
from ..operators.products import Padding
from ..slice.lram import ALIGNMENT
from ..target import target
from .steps import Buffer, Change, Plan, RunSlice, Step, buffers_of

_BEHIND = 128
"""Bytes behind a tensor that are fetched with its last words."""

_SMALL = 16 << 10
"""Bytes of buffers that do not come between large ones."""


class NoRoom(Exception):
    """A buffer found no room; `others` are those that stay and were in the way.

    Without one of those `between`, the smallest first, what is free would be one piece.
    """

    def __init__(
        self, buffer: Buffer, others: Sequence[Buffer], between: Sequence[Buffer] = ()
    ) -> None:
        super().__init__(f"no room in LRAM for {buffer.name}, {buffer.size:,} bytes")
        self.buffer = buffer
        self.others = tuple(others)
        self.between = tuple(between)


Turned = frozenset[tuple[str, str]]
"""The operators and names of buffers that come from the other end of LRAM than is usual."""
NONE_TURNED: Turned = frozenset()
_MOST_TURNS = 12
Made = TypeVar("Made")


def name_of(buffer: Buffer) -> tuple[str, str]:
    """A buffer's operator and name: those of all tiles have the same."""
    return buffer.job, buffer.name


def turned_as_needed(make: Callable[[Turned], Made]) -> Made:
    """What is made with buffers turned that would part the room for others. Raises NoRoom."""
    turned: frozenset[tuple[str, str]] = frozenset()
    tried = {turned}
    while True:
        try:
            return make(turned)
        except NoRoom as error:
            others = (turned ^ {name_of(buffer)} for buffer in error.between)
            turned = next((other for other in others if other not in tried), turned)
            if turned in tried or len(tried) > _MOST_TURNS:
                raise
            tried.add(turned)


def bounds(behind: int = _BEHIND) -> tuple[int, int]:
    """The first address of LRAM for buffers, and the one behind the last.

    So many bytes at LRAM's end stay free, since slices fetch beyond the ends of tensors.
    """
    return limit("lram_pool_start"), target().lram - behind


def fetched_behind(steps: Sequence[Step]) -> int:
    """How many bytes behind a tensor are fetched at most."""
    return max((fetched_by(s.op) for s in steps if isinstance(s, RunSlice)), default=_BEHIND)


def fetched_by(op: Operator) -> int:
    """How many bytes behind a tensor an operator fetches: padding below is fetched, too."""
    padding = getattr(op, "padding", None)
    if not isinstance(padding, Padding):
        return _BEHIND
    x = op.operands["x"]
    return _BEHIND + max(0, padding.bottom) * x.shape[-1] * x.element


def lifetimes(steps: Sequence[Step]) -> dict[Buffer, tuple[int, int]]:
    """The first and the last step of every buffer, in the order in which they begin.

    Those that stay begin with their operators, before anything that could take the room at an end.
    """
    found: dict[Buffer, tuple[int, int]] = {}
    jobs: dict[str, int] = {}
    for number, step in enumerate(steps):
        for buffer in buffers_of(step):
            first, _ = found.get(buffer, (number, number))
            found[buffer] = first, number
            jobs.setdefault(buffer.job, number)
    for buffer, (first, last) in found.items():
        if buffer.stays:
            found[buffer] = min(first, jobs[buffer.job]), last
    return dict(sorted(found.items(), key=lambda one: (one[1][0], not one[0].stays)))


class Pool:
    """Which bytes of LRAM buffers have at the moment.

    At LRAM's end `behind` bytes stay free.
    """

    def __init__(self, behind: int) -> None:
        start, end = bounds(behind)
        self._start = -(-start // ALIGNMENT) * ALIGNMENT
        self._end = end // ALIGNMENT * ALIGNMENT
        self._taken: list[tuple[int, int]] = []
        """(start, stop) in order."""
        self.places: dict[Buffer, tuple[int, int]] = {}
        """Where the buffers are that have room now."""
        self.peak = 0
        """The most bytes that were taken at a time."""
        self._used = 0

    def reserve(self, buffer: Buffer, *, top: bool) -> int:
        """The address of room for a buffer, the first from an end of LRAM. Raises NoRoom."""
        size = _room(buffer)
        fits = (gap for gap in self._gaps() if gap[1] - gap[0] >= size)
        if top:
            address = max((stop - size for _, stop in fits), default=-1)
        else:
            address = next((first for first, _ in fits), -1)
        if address < 0:
            others = [other for other in self.places if other.stays]
            raise NoRoom(buffer, others, self._between(size))
        place = address, address + size
        self._taken.insert(bisect(self._taken, place), place)
        self.places[buffer] = place
        self._used += size
        self.peak = max(self.peak, self._used)
        return address

    def free(self, buffer: Buffer) -> tuple[int, int]:
        """Gives back a buffer's bytes, (start, stop)."""
        place = self.places.pop(buffer)
        self._taken.remove(place)
        self._used -= place[1] - place[0]
        return place

    def _between(self, size: int) -> list[Buffer]:
        """The large buffers without one of which there would be room, the smallest first."""
        starts = {first: buffer for buffer, (first, _) in self.places.items()}
        found: list[Buffer] = []
        for number, (first, stop) in enumerate(self._taken):
            low = self._taken[number - 1][1] if number else self._start
            later = self._taken[number + 1 :]
            high = later[0][0] if later else self._end
            if high - low >= size and stop - first > _SMALL:
                found.append(starts[first])
        return sorted(found, key=lambda buffer: buffer.size)

    def _gaps(self) -> Iterator[tuple[int, int]]:
        begin = self._start
        for first, stop in self._taken:
            if first > begin:
                yield begin, first
            begin = stop
        if self._end > begin:
            yield begin, self._end


def comes_from_top(buffer: Buffer, turned: Turned) -> bool:
    """Whether a buffer gets the first room from the top of LRAM.

    Those that stay and small ones do, the others come from the bottom: so what is large finds room
    in one piece. Those that are `turned` come from the other end.
    """
    return (buffer.stays or _room(buffer) <= _SMALL) != (name_of(buffer) in turned)


def with_addresses(steps: list[Step], turned: Turned = NONE_TURNED) -> Plan:
    """Steps in this order, with room for every buffer from its first step to its last.

    Raises NoRoom.
    """
    room: list[Change] = []
    lives = lifetimes(steps)
    alive: list[Buffer] = []
    for buffer, (first, _) in lives.items():
        ended = [other for other in alive if lives[other][1] < first]
        alive = [other for other in alive if lives[other][1] >= first] + [buffer]
        room += (Change(step=first, buffer=other, taken=False) for other in ended)
        top = comes_from_top(buffer, turned)
        room.append(Change(step=first, buffer=buffer, taken=True, top=top))
    return allocated(Plan(steps=steps, room=room, addresses={}, peak=0))


def allocated(plan: Plan) -> Plan:
    """The plan with the addresses that buffers find when they take their room. Raises NoRoom."""
    pool = Pool(fetched_behind(plan.steps))
    addresses: dict[Buffer, int] = {}
    for change in plan.room:
        if change.taken:
            addresses[change.buffer] = pool.reserve(change.buffer, top=change.top)
        else:
            pool.free(change.buffer)
    return replace(plan, addresses=addresses, peak=pool.peak)


def _room(buffer: Buffer) -> int:
    """Bytes with what is lost to alignment."""
    return -(-buffer.size // ALIGNMENT) * ALIGNMENT
