"""Small lists of steps made by hand, and an oracle for the order in which they are done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, cast

from assay.compiler.torq.operators.tensors import Region
from assay.compiler.torq.schedule.allocate import bounds
from assay.compiler.torq.schedule.steps import (
    Buffer,
    LoadCode,
    LoadTile,
    Move,
    RunSlice,
    Spot,
    Start,
    Step,
    StoreTile,
    Wait,
    unit_of,
)
from assay.compiler.torq.schedule.storage import Role, Storage
from assay.compiler.torq.slice.tensor import Tensor, dense

_NOTHING = cast("Any", None)


def storage(name: str, size: int) -> Storage:
    """Memory in XRAM."""
    return Storage(name=name, role=Role.WORK, size=size)


def buffer(name: str, size: int, *, stays: bool = False) -> Buffer:
    """Bytes in LRAM."""
    return Buffer(job="job", name=name, size=size, stays=stays)


def load(source: Storage, target: Buffer, start: int = 0) -> LoadTile:
    """Brings as many bytes as the buffer has."""
    moves = (Move(outside=start, inside=0, row=target.size),)
    return LoadTile(storage=source, buffer=target, moves=moves)


def store(source: Buffer, target: Storage, start: int = 0) -> StoreTile:
    """Brings all bytes of the buffer."""
    moves = (Move(outside=start, inside=0, row=source.size),)
    return StoreTile(storage=target, buffer=source, moves=moves)


def run(
    slice_: int, cycles: int, reads: Sequence[Buffer], y: Buffer, kernel: Any = _NOTHING
) -> list[Start]:
    """A run of a slice behind the load of its commands."""
    places = {f"x{n}": Spot(buffer=b, tensor=_whole(b)) for n, b in enumerate(reads)}
    places["y"] = Spot(buffer=y, tensor=_whole(y))
    made = RunSlice(
        slice_=slice_,
        kernel=kernel,
        op=_NOTHING,
        out=Region(starts=(), sizes=()),
        places=places,
        first=0,
        stop=1,
        code=buffer("code", 700),
        cycles=cycles,
        code_bytes=400,
    )
    return [LoadCode(run=made), made]


def _whole(buffer: Buffer) -> Tensor:
    return dense(buffer.name, 0, "int8", (buffer.size,))


def touched(step: Start) -> list[tuple[object, int, int, bool]]:
    """(memory or buffer, start, stop, writes) of everything that a step touches."""
    if isinstance(step, LoadCode):
        return [(step.run.code, 0, step.run.code.size, True)]
    if isinstance(step, RunSlice):
        own: list[tuple[object, int, int, bool]] = [(step.code, 0, step.code.size, False)]
        return own + [(s.buffer, 0, s.buffer.size, name == "y") for name, s in step.places.items()]
    loads = isinstance(step, LoadTile)
    found: list[tuple[object, int, int, bool]] = []
    for move in step.moves:
        assert not move.loops
        found.append((step.storage, move.outside, move.outside + move.row, not loads))
        found.append((step.buffer, move.inside, move.inside + move.row, loads))
    return found


def conflict(one: Start, other: Start) -> bool:
    """Whether the order of two steps matters; runs of one operator write parts of a result."""
    if isinstance(one, RunSlice) and isinstance(other, RunSlice):
        writes = {one.places["y"].buffer, other.places["y"].buffer}
        if len(writes) == 1:
            return False
    return any(
        a is b and first < last and start < stop and (w or v)
        for a, start, last, w in touched(one)
        for b, first, stop, v in touched(other)
    )


def problems(
    given: Sequence[Start], made: Sequence[Step], addresses: Mapping[Buffer, int]
) -> list[str]:
    """What is wrong with an order of the given steps, pieces of loads being steps of their own."""
    found = []
    span = _spans(made, found)
    kept = {_key(step): number for number, step in enumerate(given)}
    for one in span:
        for other in span:
            late = span[one][1] > span[other][0] and kept[_key(one)] < kept[_key(other)]
            if late and conflict(one, other):
                found.append(f"{other} before {one} is done")
    return found + _overlaps(span, addresses)


def _key(step: Start) -> tuple[int, ...]:
    """What pieces of one load have in common."""
    if isinstance(step, LoadTile):
        return 0, id(step.buffer)
    if isinstance(step, StoreTile):
        return 1, id(step.buffer), id(step.storage), step.moves[0].outside
    return (2, id(step.run)) if isinstance(step, LoadCode) else (3, id(step))


def _spans(made: Sequence[Step], found: list[str]) -> dict[Start, tuple[int, int]]:
    """When each step starts, and when it has been waited for; units do one thing at a time."""
    span: dict[Start, tuple[int, int]] = {}
    for number, step in enumerate(made):
        if isinstance(step, Wait):
            start, end = span[step.token]
            span[step.token] = start, min(end, number)
        else:
            span[step] = number, len(made)
    for unit in {unit_of(step) for step in span}:
        own = [span[step] for step in span if unit_of(step) == unit]
        if any(one[1] > other[0] for one, other in pairwise(sorted(own))):
            found.append(f"{unit} is started again before it is waited for")
    if any(end == len(made) for _, end in span.values()):
        found.append("something is not waited for")
    return span


def _overlaps(span: Mapping[Start, tuple[int, int]], addresses: Mapping[Buffer, int]) -> list[str]:
    """Buffers in the same bytes, of which one is used before the steps of the other are done."""
    used: dict[Buffer, tuple[int, int]] = {}
    for step, (start, end) in span.items():
        for what, *_ in touched(step):
            if isinstance(what, Buffer):
                first, last = used.get(what, (start, end))
                used[what] = min(first, start), max(last, end)
    found = []
    low, high = bounds()
    for one, (start, end) in used.items():
        at = addresses[one]
        if at < low or at + one.size > high:
            found.append(f"{one} is outside of LRAM")
        for other, (first, last) in used.items():
            there = addresses[other]
            apart = at + one.size <= there or there + other.size <= at
            if one is not other and not apart and start < last and first < end:
                found.append(f"{one} and {other} in the same bytes")
    return found
