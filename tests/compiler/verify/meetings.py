"""What went wrong in launches: all pairs of accesses to one place are compared.

A place is a byte, or more of them if all accesses are of whole ones. Pairs are not formed one by
one: of the accesses to a place, least and largest numbers of who made them say whether two differ.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .all_threads import LANES, Access, Log
from .random_kernels import Memory

Array = Any
_READ, _WRITE, _ATOMIC_READ, _ATOMIC = range(4)
_WAYS = {"read": _READ, "write": _WRITE, "atomic read": _ATOMIC_READ, "atomic": _ATOMIC}
_MOST_OF_PLACE = 60  # accesses of a place that are looked through for the pair
RESTS_ON: dict[str, frozenset[str]] = {
    "barriers": frozenset(),
    "threadgroup races": frozenset({"barriers"}),
    "initialised": frozenset({"barriers", "threadgroup races"}),
    "buffer races": frozenset({"barriers"}),
    "bounds": frozenset(),
}
"""Without which others no property is proved."""
_MOST_PLACES = 3  # at which the pairs are told of what goes wrong at many


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that a proof says does not happen.

    Attributes:
        about: the property, as the prover calls it.
        statements: numbers of the statements that it happens at.
        launch: the launch that it happens in.
    """

    about: str
    statements: frozenset[int]
    launch: int = 0


_Found = tuple[frozenset[int], int]
"""Statements, and a thread that comes to one of them."""


@dataclass(slots=True)
class _Places:
    """Accesses to places of one memory, place by place.

    Attributes:
        place, agent, thread, instance, way, value, statement: of each access.
    """

    columns: dict[str, Array]
    starts: Array

    @staticmethod
    def of(columns: dict[str, Array]) -> _Places:
        order = np.argsort(columns["place"], kind="stable")
        ordered = {name: each[order] for name, each in columns.items()}
        place = ordered["place"]
        starts = np.flatnonzero(np.concatenate(([True], place[1:] != place[:-1])))
        return _Places(ordered, starts)

    def spread(self, name: str, chosen: Array) -> tuple[Array, Array]:
        """The least and the largest number of the accesses that are chosen, by place; the least
        is larger where there are none.
        """
        column = self.columns[name]
        high = int(column.max()) + 1
        low = np.minimum.reduceat(np.where(chosen, column, high), self.starts)
        return low, np.maximum.reduceat(np.where(chosen, column, -1), self.starts)

    def some(self, found: Array) -> Iterator[_Found]:
        """The statements of a pair at some of the places that were found."""
        places = np.flatnonzero(found)
        for place in places[:: max(1, len(places) // _MOST_PLACES)]:
            yield self._pair(place), int(self.columns["thread"][self.starts[place]])

    def _pair(self, place: int) -> frozenset[int]:
        """The statements of two accesses to a place that race."""
        ends = np.append(self.starts, len(self.columns["place"]))
        rows = slice(self.starts[place], ends[place + 1])
        names = ("statement", "way", "agent", "value")
        table = np.unique(np.stack([self.columns[n][rows] for n in names], axis=1), axis=0)
        accesses = [dict(zip(names, each, strict=True)) for each in table[:_MOST_OF_PLACE].tolist()]
        for one, other in itertools.combinations(accesses, 2):
            if _meet(one, other):
                return frozenset((one["statement"], other["statement"]))
        return frozenset()


def _meet(one: Mapping[str, int], other: Mapping[str, int]) -> bool:
    """Whether two accesses to one place race, if different agents make them."""
    ways = {one["way"], other["way"]}
    if not ways & {_WRITE, _ATOMIC} or ways <= {_ATOMIC, _ATOMIC_READ}:
        return False
    if ways == {_WRITE} and one["value"] == other["value"]:
        return False
    return one["agent"] != other["agent"]


def _races(columns: dict[str, Array]) -> Iterator[_Found]:
    """The statements of accesses that nothing orders; agents do what they do in order."""
    places = _Places.of(columns)
    way = places.columns["way"]
    writes, atomics = way == _WRITE, way == _ATOMIC
    found = _differ(places, writes, ~writes) | _differ(places, atomics, way == _READ)
    low, high = places.spread("agent", writes)
    least, most = places.spread("value", writes)
    yield from places.some(found | ((low < high) & (least < most)))


def _differ(places: _Places, some: Array, others: Array) -> Array:
    """Whether one of some is by another agent than one of the others, by place."""
    low, high = places.spread("agent", some)
    least, most = places.spread("agent", others)
    there = (high >= 0) & (most >= 0)
    return there & ((low < high) | (least < most) | (low != least))


def _together(columns: dict[str, Array]) -> Iterator[_Found]:
    """The statements at which lanes of a simdgroup write to one place at once."""
    writes = columns["way"] == _WRITE
    if not writes.any():
        return
    mine = {name: each[writes] for name, each in columns.items()}
    most = int(mine["instance"].max()) + 1
    agents = int(mine["agent"].max()) + 1
    mine["place"] = (mine["place"] * most + mine["instance"]) * agents + mine["agent"]
    places = _Places.of(mine)
    chosen = np.ones(len(mine["place"]), bool)
    low, high = places.spread("thread", chosen)
    least, lot = places.spread("value", chosen)
    for place in np.flatnonzero((low < high) & (least < lot))[:_MOST_PLACES]:
        first = places.starts[place]
        statement, thread = (int(places.columns[x][first]) for x in ("statement", "thread"))
        yield frozenset((statement,)), thread


def _columns(log: Log, accesses: list[Access]) -> dict[str, Array]:
    """Accesses to one memory, unit by unit."""
    unit = int(np.gcd.reduce([int(np.gcd.reduce(each.starts, initial=8)) for each in accesses]))
    for each in accesses:
        unit = int(np.gcd(unit, each.length))
    parts: dict[str, list[Array]] = {}
    for each in accesses:
        count = each.length // unit
        values = np.ascontiguousarray(each.values).view(f"<u{unit}").astype(np.int64)
        made = {
            "unit": (each.starts[:, None] // unit + np.arange(count)).reshape(-1),
            "thread": np.repeat(each.threads, count),
            "period": np.repeat(each.periods, count),
            "of_simdgroup": np.repeat(each.of_simdgroup, count),
            "value": values.reshape(-1) & (1 << 62) - 1,
        }
        size = len(made["unit"])
        made["instance"] = np.full(size, each.instance)
        made["statement"] = np.full(size, each.statement)
        made["way"] = np.full(size, _WAYS[each.way])
        for name, part in made.items():
            parts.setdefault(name, []).append(part)
    columns = {name: np.concatenate(each) for name, each in parts.items()}
    columns["group"] = log.group[columns["thread"]]
    columns["simdgroup"] = log.index[columns["thread"]] // LANES
    columns["launch"] = log.launch[columns["thread"]]
    return columns


def faults(
    log: Log,
    lengths: Mapping[Memory, Array],
    chosen: Array,
    known: frozenset[str] = frozenset(),
    *,
    is_strict: bool = False,
) -> Iterator[Fault]:
    """What went wrong, as far as no proof of it rests on something else that went wrong.

    Args:
        log: of some launches.
        lengths: bytes of memory in each launch, as far as they are known.
        chosen: launches that count.
        known: properties that are known to be wrong.
        is_strict: whether nothing but barriers orders lanes of a simdgroup.
    """
    for launch, number in log.divergent:
        if chosen[launch]:
            yield Fault("barriers", frozenset((number,)), launch)
            known |= {"barriers"}
    by_memory: dict[Memory, list[Access]] = {}
    for each in log.accesses:
        mine = _of_launches(each, chosen[log.launch[each.threads]])
        if len(mine.threads):
            by_memory.setdefault(each.memory, []).append(mine)
            yield from _outside(log, mine, lengths.get(each.memory))
    for memory, accesses in by_memory.items():
        about = "threadgroup races" if isinstance(memory, int) else "buffer races"
        writes = any(each.way in ("write", "atomic") for each in accesses)
        if writes and not known & (RESTS_ON[about] | {about}):
            for statements, thread in _races_of(log, memory, accesses, is_strict=is_strict):
                yield Fault(about, statements, int(log.launch[thread]))


def _of_launches(access: Access, which: Array) -> Access:
    if which.all():
        return access
    return replace(
        access,
        **{
            name: getattr(access, name)[which]
            for name in ("threads", "starts", "values", "unwritten", "periods", "of_simdgroup")
        },
    )


def _outside(log: Log, access: Access, lengths: Array | None) -> Iterator[Fault]:
    """That an access leaves its memory, or finds what nobody wrote."""
    launch = log.launch[access.threads]
    ends = access.starts + access.length
    outside = np.zeros(len(launch), bool) if lengths is None else ends > lengths[launch]
    unwritten = access.unwritten & ~outside & isinstance(access.memory, int)
    for about, wrong in (("bounds", outside), ("initialised", unwritten)):
        if wrong.any():
            yield Fault(about, frozenset((access.statement,)), int(launch[wrong.argmax()]))


def _races_of(
    log: Log, memory: Memory, accesses: list[Access], *, is_strict: bool
) -> Iterator[_Found]:
    columns = _columns(log, accesses)
    groups = int(log.group[-1]) + 1
    periods = int(columns["period"].max()) + 1
    within = (columns["unit"] * groups + columns["group"]) * periods + columns["period"]
    mine = {**columns, "place": within, "agent": columns["simdgroup"]}
    yield from _races(mine)
    yield from _together(mine)
    if is_strict:
        simdgroups = int(columns["simdgroup"].max()) + 1
        periods = int(columns["of_simdgroup"].max()) + 1
        within = (columns["unit"] * groups + columns["group"]) * simdgroups + columns["simdgroup"]
        within = within * periods + columns["of_simdgroup"]
        yield from _races({**columns, "place": within, "agent": columns["thread"]})
    if not isinstance(memory, int):
        between = columns["unit"] * (int(log.launch[-1]) + 1) + columns["launch"]
        yield from _races({**columns, "place": between, "agent": columns["group"]})
