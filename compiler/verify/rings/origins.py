"""Which tile of a buffer the first iteration of a ring's loop reads, by the addresses of loads.

That is looked at by numbers for arguments, and is no proof: what the first tile is, no kernel says.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.sim.simt.ir.cfg import Loop
from assay.sim.simt.ir.nodes import BufferRoot, Instruction, PrivateRoot, Value
from assay.sim.simt.ir.operations.memory import LOAD, STORE

from ..answers import Obstacle
from ..counts import Count
from ..initial.evaluate import Numbers, Unknown, evaluate
from ..initial.tables import threads_numbers
from ..initial.writers import Writer
from ..kernel import Kernel
from ..study import Study

_TURN = "source"
_LOOKED_AT = 6  # iterations, besides those before the loop
_LONG = 1 << 16  # what rows of matrices may be long: no few tiles
_AXES = "xyz"


@dataclass(frozen=True, slots=True)
class _Group:
    """A threadgroup that is looked at: how far along an axis of the grid, first along others."""

    axis: int
    at: int

    @property
    def given(self) -> dict[str, Numbers]:
        """Numbers of its position."""
        places = ((name, self.at if n == self.axis else 0) for n, name in enumerate(_AXES))
        return {f"group.{name}": np.asarray(place) for name, place in places}


_FIRST = _Group(0, 0)
_GROUPS = (_FIRST, *(_Group(axis, at) for axis in range(3) for at in (1, 2, 3)))


def first_tile(
    study: Study, loop: Loop, writes: Iterable[tuple[Instruction, int]], ahead: int
) -> int | None:
    """The number of the tile that iteration 0 reads, if each iteration loads one further of some
    buffer; None if that does not show.

    Args:
        study: `a` is any thread.
        loop: the ring's loop.
        writes: what the loop loads, each with the thread that begins.
        ahead: how many iterations later it is read.
    """
    found = {
        number
        for write, thread in writes
        for value in write.operands[1:]
        for load in _loads(study.kernel, value)
        if (number := _tile(study, loop, load, thread, ahead)) is not None
    }
    return next(iter(found)) if len(found) == 1 else None


def _loads(kernel: Kernel, value: Value) -> Iterator[Instruction]:
    """What a value is made of, of buffers, also by way of arrays of the thread's own."""
    seen, work = {value}, [value]
    while work:
        each = work.pop()
        if not isinstance(each, Instruction):
            continue
        parts: Iterable[Value] = each.operands
        if each.operation is LOAD:
            if isinstance(each.root, BufferRoot):
                yield each
            parts = _stored(kernel, each) if isinstance(each.root, PrivateRoot) else ()
        work += [part for part in parts if part not in seen]
        seen.update(parts)


def _stored(kernel: Kernel, load: Instruction) -> list[Value]:
    """What is stored to the array that a load is of."""
    stores = [each for each in kernel.accesses() if each.operation is STORE]
    return [value for each in stores if each.root == load.root for value in each.operands[1:]]


def _tile(study: Study, loop: Loop, load: Instruction, thread: int, ahead: int) -> int | None:
    """Which tile a load for iteration 0 is of: as many steps from the buffer's begin as iterations
    take, of a matrix of one row."""
    threads = np.asarray([[thread]])
    found = _begins(study, loop, load, ahead, threads, _FIRST, otherwise=1)
    if found is None:
        return None
    (begin,), (step,) = found
    return None if step == 0 else int(begin // step)


def begun_elsewhere(
    study: Study, loop: Loop, writers: Iterable[Writer], ahead: int
) -> Iterator[Obstacle]:
    """Loads by which some thread, or threadgroup, begins so few tiles from the buffer's begin that
    the first ones come to the same tile in a later iteration. Of many tiles that is no fault:
    another row of a matrix begins there, or another part of what is split.

    Args:
        study: `a` is any thread.
        loop: the ring's loop.
        writers: who does what the loop loads.
        ahead: how many iterations later it is read.
    """
    for writer in writers:
        for value in writer.place.write.operands[1:]:
            for load in _loads(study.kernel, value):
                yield from _elsewhere(study, loop, load, writer, ahead)


def _elsewhere(
    study: Study, loop: Loop, load: Instruction, writer: Writer, ahead: int
) -> Iterator[Obstacle]:
    """Threadgroups in which some thread's load begins elsewhere."""
    for group in _GROUPS:
        away = _away(study, loop, load, writer, ahead, group)
        if away and _comes_to(study, loop, writer, abs(away) - ahead, group):
            who = "some thread" if group is _FIRST else "some threadgroup"
            why = f"{who} may begin with tile {away}, counted from 0"
            yield Obstacle(why=why, site=load.site)


def _away(
    study: Study, loop: Loop, load: Instruction, writer: Writer, ahead: int, group: _Group
) -> int:
    """A tile near the buffer's begin, not the first, that a thread begins with; else 0."""
    x, y, z = study.kernel.size
    threads = np.arange(x * y * z).reshape(-1, 1)
    threads = threads[_comes(study, writer, threads, group)]
    found = _begins(study, loop, load, ahead, threads, group, otherwise=_LONG)
    if found is None:
        return 0
    begins, steps = found
    tiles = begins // np.where(steps == 0, 1, np.abs(steps))
    near = tiles[(steps != 0) & (tiles != 0) & (np.abs(tiles) <= ahead + 1)]
    return int(near[0]) if len(near) else 0


def _comes(
    study: Study, writer: Writer, threads: NDArray[np.int64], group: _Group
) -> NDArray[np.bool_]:
    """Which threads may execute a write, as far as their numbers alone tell."""
    numbers = threads_numbers(writer.values.thread.name, study.kernel.size, threads)
    comes = np.ones(threads.shape, bool)
    for condition in writer.conditions:
        try:
            found = evaluate(condition, {**numbers, **group.given})
        except Unknown:
            continue
        comes &= np.broadcast_to(found, comes.shape).astype(bool)
    return comes[:, 0]


def _comes_to(study: Study, loop: Loop, writer: Writer, turn: int, group: _Group) -> bool:
    """Whether the write may be in an iteration, of a threadgroup that there may be."""
    block = writer.place.write.block
    assert block is not None
    then = Count(offset=max(turn, 0))
    counts = {each: then if each is loop else Count() for each in study.kernel.around(block)}
    path = study.a.path(block, study.a.counts_at(block, counts))
    return study.can([path, study.a.thread.group[group.axis].value == group.at]) != "no"


def _begins(
    study: Study,
    loop: Loop,
    load: Instruction,
    ahead: int,
    threads: NDArray[np.int64],
    group: _Group,
    otherwise: int,
) -> tuple[Numbers, Numbers] | None:
    """Where each thread of a column loads from for iteration 0, and how far it goes on with each
    iteration, 0 if that varies; None if that does not show.
    """
    assert load.block is not None
    if load.block not in loop.blocks:
        return None
    counts = {
        each: Count(_TURN) if each is loop else Count() for each in study.kernel.around(load.block)
    }
    at = study.a.read(load.operands[0], study.a.counts_at(load.block, counts), "signed").value
    given = {
        _TURN: np.arange(-ahead, _LOOKED_AT).reshape(1, -1),
        **threads_numbers(study.a.thread.name, study.kernel.size, threads),
        **group.given,
    }
    try:
        found = evaluate(at, given, otherwise=otherwise)
    except Unknown:
        return None
    places = np.broadcast_to(found, (len(threads), ahead + _LOOKED_AT)).astype(np.int64)
    steps = np.diff(places, axis=1)
    is_even = (steps == steps[:, :1]).all(axis=1)
    return places[:, 0], np.where(is_even, steps[:, 0], 0)
