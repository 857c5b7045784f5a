"""Commands of a slice that are used again stay in LRAM instead of being loaded again.

Commands name the addresses that they read and write. So those of two tiles are the same where their
operands, constants and results lie alike: with double buffers, those of every second tile. Only
then is it known which are, when all else has its place; so they go where room is left for as long.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

from assay.hw.torq.words.commands import SliceTask

from ..slice.lram import ALIGNMENT
from .allocate import bounds, fetched_behind
from .steps import Buffer, Change, LoadCode, Plan, RunSlice, Step, Wait, buffers_of

_Likeness = tuple[object, ...]
"""What runs have in common that may have the same commands."""
_LONGEST = 2000
"""Steps for which commands are kept at most: what lies between is looked through."""
_BUCKET = 64
"""Steps in one go of what is alive when."""


def with_code_kept(plan: Plan) -> Plan:
    """The plan without loads of commands that an earlier run has loaded."""
    lives = _Lives(plan)
    holders: dict[_Likeness, RunSlice] = {}
    shared: dict[RunSlice, RunSlice] = {}
    """By run the one whose commands it uses."""

    def are_equal(one: RunSlice, other: RunSlice) -> bool:
        return _commands(one, plan.addresses) == _commands(other, plan.addresses)

    for step in plan.steps:
        if not isinstance(step, LoadCode):
            continue
        run, like = step.run, _likeness(step.run, plan.addresses)
        holder = holders.get(like)
        if holder is not None and are_equal(holder, run) and lives.join(holder, run):
            shared[run] = holder
        else:
            holders[like] = run
    addresses = dict(lives.addresses)
    for run, holder in shared.items():
        addresses[run.code] = addresses[holder.code]
    steps = [step for step in plan.steps if _load_of(step) not in shared]
    room = list(_room_of(plan, shared, lives))
    peak = max(plan.peak, lives.peak())
    codes = {run.code: holder.code for run, holder in shared.items()}
    return replace(plan, steps=steps, room=room, addresses=addresses, peak=peak, shared=codes)


def _room_of(plan: Plan, shared: Mapping[RunSlice, RunSlice], lives: _Lives) -> Iterator[Change]:
    """When buffers take room and give it back: those of kept commands behind their last run."""
    numbers = [0]
    for step in plan.steps:
        numbers.append(numbers[-1] + (_load_of(step) not in shared))
    gone = {run.code for run in shared}
    longer = {holder.code for holder in shared.values()}
    ends = {lives.last(buffer): buffer for buffer in longer}
    changes = iter([c for c in plan.room if c.taken or c.buffer not in longer])
    later = sorted(ends)
    for change in changes:
        while later and later[0] < change.step:
            end = later.pop(0)
            yield Change(step=numbers[end + 1], buffer=ends[end], taken=False)
        if change.buffer not in gone:
            yield replace(change, step=numbers[change.step])
    for end in later:
        yield Change(step=numbers[end + 1], buffer=ends[end], taken=False)


def _load_of(step: Step) -> RunSlice | None:
    """The run whose commands a step loads, or waits for."""
    started = step.token if isinstance(step, Wait) else step
    return started.run if isinstance(started, LoadCode) else None


def _likeness(run: RunSlice, addresses: Mapping[Buffer, int]) -> _Likeness:
    """Runs of one slice follow each other, so that what one has waited for is there for the next.

    Those of an operator with equal places may still differ in what is padding.
    """
    places = (
        (name, addresses[spot.buffer] + spot.tensor.address, spot.tensor.shape)
        for name, spot in run.places.items()
    )
    return run.slice_, id(run.op), run.kernel.name, run.out.sizes, run.first, run.stop, *places


def _commands(run: RunSlice, addresses: Mapping[Buffer, int]) -> list[SliceTask]:
    """The tasks of a run."""
    places = {name: spot.at(addresses) for name, spot in run.places.items()}
    return run.kernel.emit(run.op, run.out, places)[run.first : run.stop]


class _Lives:
    """Which buffers have which bytes of LRAM from which step up to which."""

    def __init__(self, plan: Plan) -> None:
        self.addresses = dict(plan.addresses)
        self._spans: dict[Buffer, tuple[int, int]] = {}
        for number, step in enumerate(plan.steps):
            for buffer in buffers_of(step):
                first, _ = self._spans.get(buffer, (number, number))
                self._spans[buffer] = first, number
        self._alive: dict[int, set[Buffer]] = {}
        for buffer in self._spans:
            self._note(buffer)
        starts = [step for step in plan.steps if not isinstance(step, Wait)]
        self._bounds = bounds(fetched_behind(starts))

    def join(self, holder: RunSlice, run: RunSlice) -> bool:
        """Keeps the commands of one run for another one, if there is room somewhere; says so."""
        first, last = self._spans[holder.code][0], self._spans[run.code][1]
        if last - first > _LONGEST:
            return False
        address = self._room(holder.code, (first, last), {holder.code, run.code})
        if address < 0:
            return False
        self._forget(run.code)
        self._forget(holder.code)
        self.addresses[holder.code] = address
        self._spans[holder.code] = first, last
        self._note(holder.code)
        return True

    def last(self, buffer: Buffer) -> int:
        """The last step that uses a buffer."""
        return self._spans[buffer][1]

    def peak(self) -> int:
        """The most bytes that are taken at a time."""
        changes: Counter[int] = Counter()
        for buffer, (first, last) in self._spans.items():
            changes[first] += _whole(buffer.size)
            changes[last + 1] -= _whole(buffer.size)
        most = now = 0
        for number in sorted(changes):
            now += changes[number]
            most = max(most, now)
        return most

    def _room(self, buffer: Buffer, span: tuple[int, int], without: set[Buffer]) -> int:
        """An address that is free all the time, the buffer's own if it is, or -1."""
        taken = sorted(self._taken(span, without))
        own, size = self.addresses[buffer], _whole(buffer.size)
        if not any(start < own + size and own < stop for start, stop in taken):
            return own
        begin, end = self._bounds
        begin = _whole(begin)
        for start, stop in [*taken, (end, end)]:
            if start - begin >= size:
                return begin
            begin = max(begin, stop)
        return -1

    def _taken(self, span: tuple[int, int], without: set[Buffer]) -> Iterator[tuple[int, int]]:
        """(start, stop) of what other buffers have at any time of a span."""
        first, last = span
        found: set[Buffer] = set()
        for bucket in range(first // _BUCKET, last // _BUCKET + 1):
            found |= self._alive.get(bucket, set())
        for buffer in found - without:
            begin, end = self._spans[buffer]
            if begin <= last and first <= end:
                yield self.addresses[buffer], self.addresses[buffer] + _whole(buffer.size)

    def _buckets(self, buffer: Buffer) -> range:
        first, last = self._spans[buffer]
        return range(first // _BUCKET, last // _BUCKET + 1)

    def _note(self, buffer: Buffer) -> None:
        for bucket in self._buckets(buffer):
            self._alive.setdefault(bucket, set()).add(buffer)

    def _forget(self, buffer: Buffer) -> None:
        for bucket in self._buckets(buffer):
            self._alive[bucket].discard(buffer)
        del self._spans[buffer]


def _whole(size: int) -> int:
    """Bytes with what is lost to alignment."""
    return -(-size // ALIGNMENT) * ALIGNMENT
