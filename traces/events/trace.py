"""A finished trace: frozen tables of NumPy columns, sorted and checked; made by `build`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from .clock import Clock
from .schema import ABSENT, NO_CAUSE, Cause, Kind, Track, Type

Integers: TypeAlias = NDArray[np.int64]
Column: TypeAlias = NDArray[np.int64] | NDArray[np.float64]
Value: TypeAlias = int | float | str


@dataclass(frozen=True, slots=True, kw_only=True)
class Slices:
    """All slices, sorted by track, lane, begin, and outer before inner; columns of one length.

    Attributes:
        track: position in `Trace.tracks`.
        lane: 0 but for slices that overlap others on their track.
        depth: how many slices of the lane are around it.
        parent: position of the slice right around it, -1 if there is none.
        begin, duration: ticks.
        name: position in `Trace.names`.
        kind: position in `Trace.kinds`.
        cause: position in `Trace.causes`, or NO_CAUSE.
        payload: row of its arguments in `Trace.arguments[kind]`.
    """

    track: Integers
    lane: Integers
    depth: Integers
    parent: Integers
    begin: Integers
    duration: Integers
    name: Integers
    kind: Integers
    cause: Integers
    payload: Integers

    def __len__(self) -> int:
        return len(self.begin)

    @property
    def end(self) -> Integers:
        """Begin plus duration."""
        return self.begin + self.duration


@dataclass(frozen=True, slots=True, kw_only=True)
class Instants:
    """All instants, sorted by track and time."""

    track: Integers
    time: Integers
    name: Integers
    kind: Integers
    payload: Integers

    def __len__(self) -> int:
        return len(self.time)


@dataclass(frozen=True, slots=True, kw_only=True)
class Counters:
    """All values of counters, sorted by track and time; a value holds until the next."""

    track: Integers
    time: Integers
    value: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.time)


@dataclass(frozen=True, slots=True, kw_only=True)
class Flows:
    """Arrows from slice to slice: positions in `Slices`, and the kind; in order of recording."""

    source: Integers
    destination: Integers
    kind: Integers

    def __len__(self) -> int:
        return len(self.source)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Slices that can be drawn side by side: one depth of one lane of one track.

    `slices` are positions in `Trace.slices`, ascending in begin; none overlaps another.
    """

    track: int
    lane: int
    depth: int
    slices: Integers


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Trace:
    """What happened, when, and why it waited.

    Attributes:
        title: what was recorded, for people.
        clock: what a tick is.
        tracks: the track tree, parents before their children, in the order of display.
        kinds, causes, names: what the columns of these names number.
        slices, instants, counters, flows: the events.
        arguments: for each kind its argument columns by name; a row per event of the kind. Text
            arguments are positions in `names`, -1 if absent; integers ABSENT, reals NaN if absent.
        complete: whether the recording was finished; if not it is what a crash left behind.
        notes: what a reader had to say about the file.
    """

    title: str
    clock: Clock
    tracks: tuple[Track, ...]
    kinds: tuple[Kind, ...]
    causes: tuple[Cause, ...]
    names: tuple[str, ...]
    slices: Slices
    instants: Instants
    counters: Counters
    flows: Flows
    arguments: tuple[dict[str, Column], ...]
    complete: bool = True
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return (
            f"<Trace {self.title!r}: {len(self.tracks)} tracks, {len(self.slices)} slices, "
            f"{len(self.instants)} instants, {len(self.counters)} counter values, "
            f"{len(self.flows)} flows, in {self.clock}>"
        )

    @property
    def events(self) -> int:
        """Slices, instants, values of counters and flows together."""
        return len(self.slices) + len(self.instants) + len(self.counters) + len(self.flows)

    @property
    def span(self) -> tuple[int, int]:
        """First and last tick of any event; (0, 0) if there is none."""
        starts = (self.slices.begin, self.instants.time, self.counters.time)
        ends = (self.slices.end, self.instants.time, self.counters.time)
        first = [int(column.min()) for column in starts if len(column)]
        last = [int(column.max()) for column in ends if len(column)]
        return (min(first), max(last)) if first else (0, 0)

    def rows(self) -> Iterator[Row]:
        """What a viewer draws, in the order of display: tracks, their lanes, their depths."""
        slices = self.slices
        order = np.lexsort((slices.depth, slices.lane, slices.track))
        keys = np.stack([column[order] for column in (slices.track, slices.lane, slices.depth)])
        cuts = np.flatnonzero((keys[:, 1:] != keys[:, :-1]).any(axis=0)) + 1
        for part in np.split(order, cuts) if len(order) else ():
            first = part[0]
            yield Row(
                track=int(slices.track[first]),
                lane=int(slices.lane[first]),
                depth=int(slices.depth[first]),
                slices=part,
            )

    def slice_arguments(self, position: int) -> dict[str, Value]:
        """The arguments that the slice at `position` has, by name."""
        return self.payload(int(self.slices.kind[position]), int(self.slices.payload[position]))

    def payload(self, kind: int, row: int) -> dict[str, Value]:
        """The arguments of the event of a kind whose payload is `row`; absent ones are left out."""
        found: dict[str, Value] = {}
        for argument in self.kinds[kind].arguments:
            value = self.arguments[kind][argument.name][row]
            if argument.type is Type.REAL:
                if value == value:
                    found[argument.name] = float(value)
            elif argument.type is Type.TEXT:
                if value >= 0:
                    found[argument.name] = self.names[int(value)]
            elif value != ABSENT:
                found[argument.name] = int(value)
        return found

    def cause(self, position: int) -> str:
        """The name of the cause of the slice at `position`, empty if it states none."""
        number = int(self.slices.cause[position])
        return "" if number == NO_CAUSE else self.causes[number].name
