"""Which work of a module's runs comes before which, by the fences that devices and host were given.

Each piece of work waits for fences and reaches others; one comes before another only if a chain of
these leads from it there. Two pieces that touch the same bytes, one of them writing, need that:
the order in which they happened to run, or were submitted, is no reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from assay.sim.check import Checker, Finding

from ..buffer import Buffer, Storage
from ..semaphore import Fence

_KIND = "missing-wait"


@dataclass(frozen=True, kw_only=True, slots=True)
class Piece:
    """Work on a device, or of the host: what it touches, waits for, and reaches."""

    what: str
    reads: Sequence[Buffer]
    writes: Sequence[Buffer]
    waits: Sequence[Fence | None]
    reaches: Fence | None


@dataclass(frozen=True, slots=True)
class _Access:
    piece: int
    begin: int
    end: int
    is_write: bool


@dataclass
class Order:
    """Notes pieces in the order of their submission, and reports those that nothing orders.

    `module` is what findings call it.
    """

    checker: Checker
    module: str
    pieces: int = 0
    """How many were noted."""
    _seen: int = 0
    """A bit for each piece that the host saw the end of: what it submits then comes behind."""
    _names: list[str] = field(default_factory=list)
    _before: list[int] = field(default_factory=list)
    """For each piece a bit for each that comes before it."""
    _reached_by: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    """By semaphore: (value, the piece that reaches it)."""
    _kept: list[object] = field(default_factory=list)
    """Semaphores and memory, so that their identities stay their own."""
    _accesses: dict[int, list[_Access]] = field(default_factory=dict)

    def note(self, piece: Piece) -> None:
        """One more piece of work."""
        number = self.pieces
        self.pieces += 1
        self._names.append(piece.what)
        self._before.append(self._bits(piece.waits) | self._seen)
        self._kept.append(piece)
        if piece.reaches is None:  # it is done already
            self._seen |= self._before[-1] | 1 << number
        for semaphore, value in piece.reaches.points if piece.reaches is not None else ():
            self._reached_by.setdefault(id(semaphore), []).append((value, number))
        for buffer, is_write in [
            *((each, False) for each in piece.reads),
            *((each, True) for each in piece.writes),
        ]:
            self._touch(number, buffer, is_write)

    def host_waited(self, fence: Fence) -> None:
        """The host saw a fence reached."""
        self._seen |= self._bits((fence,))

    def ended(self, what: str, fences: Sequence[Fence | None]) -> None:
        """The host waited for all of it; whatever that does not cover is still under way."""
        over = self._bits(fences) | self._seen
        for number in range(self.pieces):
            if not over >> number & 1:
                self._report(f"{what} does not wait for {self._names[number]}")
        self._seen = (1 << self.pieces) - 1

    def _bits(self, fences: Sequence[Fence | None]) -> int:
        """A bit for each piece that comes before somebody who waits for these fences."""
        found = 0
        for fence in fences:
            for semaphore, value in fence.points if fence is not None else ():
                for number in self._signallers(id(semaphore), value):
                    found |= 1 << number | self._before[number]
        return found

    def _signallers(self, semaphore: int, value: int) -> Iterator[int]:
        """The piece that first reaches a value, and those that reached lower ones before."""
        reached = sorted(self._reached_by.get(semaphore, ()))
        for known, number in reached:
            yield number
            if known >= value:
                return

    def _touch(self, number: int, buffer: Buffer, is_write: bool) -> None:
        storage: Storage = buffer.storage
        begin, end = buffer.offset, buffer.offset + buffer.length
        accesses = self._accesses.setdefault(id(storage), [])
        for other in accesses:
            meets = other.begin < end and begin < other.end and other.piece != number
            if (
                meets
                and (is_write or other.is_write)
                and not self._before[number] >> other.piece & 1
            ):
                self._conflict(number, other, is_write, max(begin, other.begin))
        accesses.append(_Access(number, begin, end, is_write))

    def _conflict(self, number: int, other: _Access, is_write: bool, at: int) -> None:
        does = "writes" if is_write else "reads"
        did = "writes" if other.is_write else "reads"
        self._report(
            f"{self._names[number]} {does} bytes that {self._names[other.piece]} {did}, and waits "
            "for nothing that comes behind that",
            at,
        )

    def _report(self, message: str, offset: int = -1) -> None:
        self.checker.report(
            Finding(
                check="race",
                kind=_KIND,
                kernel=self.module,
                message=message,
                offset=offset,
                hint="let the one signal a point behind its work, and the other wait for it",
            )
        )
