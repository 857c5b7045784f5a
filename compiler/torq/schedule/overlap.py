"""Reorders steps so that transfers, both slices and the command stream work at the same time.

The order is that of a simulation: whatever can start next is started, and the command stream waits
only when nothing can, for what is done first. Each unit takes its steps in the given order, but a
transfer that still waits for something lets later ones pass: so operands of the next tile, commands
and weights of later operators are loaded while slices compute, and results stored meanwhile.

Buffers get their room in the given order, too. So whatever is in flight can end with the room that
it has, and when nothing is, the next step has as much room as if all had been done one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .allocate import (
    NoRoom,
    Pool,
    Turned,
    comes_from_top,
    fetched_behind,
    lifetimes,
    turned_as_needed,
)
from .dependences import dependences
from .pieces import pieces
from .steps import UNITS, Buffer, Change, Plan, Start, Step, Wait, buffers_of, unit_of
from .units import Units, cycles_of, words_of

_AHEAD = 256
"""How many steps behind the first one that was not started yet are looked at."""
_ORDER = ("SLC0", "SLC1", "XW", "XR")
"""Who is started first."""


def overlapped(starts: Sequence[Start]) -> Plan:
    """Steps that could be done one after the other, in the order that overlaps. Raises NoRoom."""
    steps = [piece for step in starts for piece in pieces(step)]
    before, uses = dependences(steps), _Uses(steps)
    return turned_as_needed(lambda turned: _Simulation(steps, before, uses, turned).run())


class _Simulation:
    """Time, what is under way, and which room is whose."""

    def __init__(
        self,
        starts: Sequence[Start],
        before: Sequence[tuple[int, ...]],
        uses: _Uses,
        turned: Turned,
    ) -> None:
        self._starts = starts
        self._before = before
        self._units = Units()
        self._done = [False] * len(starts)
        self._unjoined: dict[str, int] = {}
        """By unit the last step that was started, as long as nobody waited for it."""
        self._queues = {unit: _numbers(starts, unit) for unit in UNITS}
        self._steps: list[Step] = []
        self._room = _Room(uses, turned, self._steps)

    def run(self) -> Plan:
        """The steps in order. Raises NoRoom."""
        while any(self._queues.values()):
            self._room.reserve(self._first())
            number = self._next()
            if number is not None:
                self._start(number)
            elif self._units.are_idle:
                self._room.refuse()
            else:
                self._go_to(self._units.next_end())
        self._join(set(self._unjoined))
        room = self._room
        return Plan(steps=self._steps, room=room.changes, addresses=room.addresses, peak=room.peak)

    def _first(self) -> int:
        """The first step that was not started yet."""
        return min(queue[0] for queue in self._queues.values() if queue)

    def _next(self) -> int | None:
        """A step that can be started now."""
        for unit in _ORDER:
            if self._units.is_busy(unit):
                continue
            for number in self._candidates(unit):
                if all(self._done[earlier] for earlier in self._before[number]):
                    return number
        return None

    def _candidates(self, unit: str) -> Iterator[int]:
        """What a unit may do next: slices keep their order."""
        queue = self._queues[unit]
        for number in queue[:1] if unit.startswith("SLC") else queue:
            if number >= self._room.reserved:
                return
            yield number

    def _start(self, number: int) -> None:
        step = self._starts[number]
        unit = unit_of(step)
        needed = {*self._before[number], *self._room.after(step)}
        self._join({u for u, last in self._unjoined.items() if u == unit or last in needed})
        self._queues[unit].remove(number)
        self._steps.append(step)
        self._unjoined[unit] = number
        self._go_to(self._units.now + words_of(step))
        self._units.start(unit, number, cycles_of(step))

    def _join(self, units: set[str]) -> None:
        """Waits for units, whose last steps are done."""
        for unit in UNITS:
            if unit in units:
                self._steps.append(Wait(token=self._starts[self._unjoined.pop(unit)]))

    def _go_to(self, time: int) -> None:
        """Lets time pass."""
        for number in self._units.advance(time):
            self._done[number] = True
            self._room.done(self._starts[number], set(self._unjoined.values()))


def _numbers(starts: Sequence[Start], unit: str) -> list[int]:
    return [number for number, step in enumerate(starts) if unit_of(step) == unit]


class _Uses:
    """Which buffers steps use, whatever room they have."""

    def __init__(self, starts: Sequence[Start]) -> None:
        self.steps = len(starts)
        self.behind = fetched_behind(starts)
        """Bytes at the end of LRAM that stay free."""
        self.users: dict[Buffer, list[int]] = {}
        for number, step in enumerate(starts):
            for buffer in set(buffers_of(step)):
                self.users.setdefault(buffer, []).append(number)
        self.begin: dict[int, list[Buffer]] = {}
        """By step the buffers that it is the first to need."""
        for buffer, (first, _) in lifetimes(starts).items():
            self.begin.setdefault(first, []).append(buffer)


class _Room:
    """Room for buffers: it is reserved in the order of steps, and free again behind the last."""

    def __init__(self, uses: _Uses, turned: Turned, steps: Sequence[Step]) -> None:
        self.reserved = 0
        """How many steps have all their room."""
        self.addresses: dict[Buffer, int] = {}
        self.changes: list[Change] = []
        self._uses, self._turned, self._steps = uses, turned, steps
        self._pool = Pool(uses.behind)
        self._left = {buffer: len(users) for buffer, users in uses.users.items()}
        self._freed: list[tuple[int, int, set[int]]] = []
        """(start, stop) of bytes that are free, but for steps that nobody waited for yet."""
        self._after: dict[Buffer, set[int]] = {}
        self._lacking: NoRoom | None = None
        """What the next step found no room for, as long as nothing is given back."""

    @property
    def peak(self) -> int:
        """The most bytes that were used at a time."""
        return self._pool.peak

    def reserve(self, first: int) -> None:
        """Gives room to as many steps as there is room for, not too far behind the first."""
        stop = min(self._uses.steps, first + _AHEAD)
        while self.reserved < stop and self._lacking is None:
            for buffer in self._uses.begin.get(self.reserved, ()):
                if buffer in self.addresses:
                    continue
                top = comes_from_top(buffer, self._turned)
                try:
                    address = self._pool.reserve(buffer, top=top)
                except NoRoom as error:
                    self._lacking = error
                    return
                self._note(buffer, taken=True, top=top)
                self.addresses[buffer] = address
                end = address + buffer.size
                self._after[buffer] = {
                    number
                    for start, stop, users in self._freed
                    if start < end and address < stop
                    for number in users
                }
            self.reserved += 1

    def refuse(self) -> None:
        """Nothing goes on: the next step has no room. Raises NoRoom."""
        assert self._lacking is not None
        raise self._lacking

    def after(self, step: Start) -> Iterator[int]:
        """The steps that had the room of a step's buffers before."""
        for buffer in buffers_of(step):
            yield from self._after[buffer]

    def done(self, step: Start, unjoined: set[int]) -> None:
        """A step is done; nobody waited for some steps yet."""
        self._freed = [(a, b, users & unjoined) for a, b, users in self._freed if users & unjoined]
        for buffer in dict.fromkeys(buffers_of(step)):
            self._left[buffer] -= 1
            if not self._left[buffer]:
                start, stop = self._pool.free(buffer)
                self._note(buffer, taken=False)
                self._lacking = None
                users = unjoined.intersection(self._uses.users[buffer])
                if users:
                    self._freed.append((start, stop, users))

    def _note(self, buffer: Buffer, *, taken: bool, top: bool = False) -> None:
        step = len(self._steps)
        self.changes.append(Change(step=step, buffer=buffer, taken=taken, top=top))
