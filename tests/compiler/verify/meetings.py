"""What went wrong in a launch: all pairs of accesses to one place are compared.

A place is a byte, or more of them if all accesses are of whole ones. Pairs are not formed one by
one: of the accesses to a place, least and largest numbers of who made them say whether two differ.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .all_threads import LANES, Access, Log
from .random_kernels import Memory

Array = Any
_READ, _WRITE, _ATOMIC_READ, _ATOMIC = range(4)
_WAYS = {"read": _READ, "write": _WRITE, "atomic read": _ATOMIC_READ, "atomic": _ATOMIC}
_MOST_OF_PLACE = 60  # accesses of a place that are looked through for the pair


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that a proof says does not happen.

    Attributes:
        about: the property, as the prover calls it.
        statements: numbers of the statements that it happens at.
    """

    about: str
    statements: frozenset[int]


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

    def some(self, found: Array) -> frozenset[int] | None:
        """The statements of a pair at the first place that was found; None without any."""
        places = np.flatnonzero(found)
        if len(places) == 0:
            return None
        ends = np.append(self.starts, len(self.columns["place"]))
        rows = slice(self.starts[places[0]], ends[places[0] + 1])
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


def _races(columns: dict[str, Array]) -> frozenset[int] | None:
    """The statements of accesses that nothing orders; agents do what they do in order."""
    places = _Places.of(columns)
    way = places.columns["way"]
    writes, atomics = way == _WRITE, way == _ATOMIC
    found = _differ(places, writes, ~writes) | _differ(places, atomics, way == _READ)
    low, high = places.spread("agent", writes)
    least, most = places.spread("value", writes)
    return places.some(found | ((low < high) & (least < most)))


def _differ(places: _Places, some: Array, others: Array) -> Array:
    """Whether one of some is by another agent than one of the others, by place."""
    low, high = places.spread("agent", some)
    least, most = places.spread("agent", others)
    there = (high >= 0) & (most >= 0)
    return there & ((low < high) | (least < most) | (low != least))


def _together(columns: dict[str, Array]) -> frozenset[int] | None:
    """The statement at which lanes of a simdgroup write to one place at once."""
    writes = columns["way"] == _WRITE
    if not writes.any():
        return None
    mine = {name: each[writes] for name, each in columns.items()}
    most = int(mine["instance"].max()) + 1
    agents = int(mine["agent"].max()) + 1
    mine["place"] = (mine["place"] * most + mine["instance"]) * agents + mine["agent"]
    places = _Places.of(mine)
    chosen = np.ones(len(mine["place"]), bool)
    low, high = places.spread("thread", chosen)
    least, lot = places.spread("value", chosen)
    found = np.flatnonzero((low < high) & (least < lot))
    if len(found) == 0:
        return None
    return frozenset((int(places.columns["statement"][places.starts[found[0]]]),))


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
    return columns


def faults(log: Log, lengths: Mapping[Memory, int]) -> Iterator[Fault]:
    """What went wrong; `lengths` are bytes of memory, as far as they are known."""
    if log.divergent:
        yield Fault("barriers", frozenset(log.divergent[:1]))
    by_memory: dict[Memory, list[Access]] = {}
    for each in log.accesses:
        by_memory.setdefault(each.memory, []).append(each)
        length = lengths.get(each.memory)
        if length is not None and (each.starts + each.length > length).any():
            yield Fault("bounds", frozenset((each.statement,)))
        inside = True if length is None else each.starts + each.length <= length
        if isinstance(each.memory, int) and (each.unwritten & inside).any():
            yield Fault("initialised", frozenset((each.statement,)))
    for memory, accesses in by_memory.items():
        if any(each.way in ("write", "atomic") for each in accesses):
            yield from _races_of(log, memory, accesses)


def _races_of(log: Log, memory: Memory, accesses: list[Access]) -> Iterator[Fault]:
    columns = _columns(log, accesses)
    about = "threadgroup races" if isinstance(memory, int) else "buffer races"
    groups = int(log.group[-1]) + 1
    periods = int(columns["period"].max()) + 1
    within = (columns["unit"] * groups + columns["group"]) * periods + columns["period"]
    mine = {**columns, "place": within, "agent": columns["simdgroup"]}
    kinds = [_races(mine), _together(mine)]
    if not isinstance(memory, int):
        kinds.append(_races({**columns, "place": columns["unit"], "agent": columns["group"]}))
    yield from (Fault(about, each) for each in kinds if each is not None)
