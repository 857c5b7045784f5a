"""Which tile of a buffer the first iteration of a ring's loop reads, by the addresses of loads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from assay.sim.lanes import LANES
from assay.sim.simt.ir.cfg import Loop
from assay.sim.simt.ir.nodes import BufferRoot, Instruction, PrivateRoot, Value
from assay.sim.simt.ir.operations.memory import LOAD, STORE

from ..counts import Count
from ..initial.evaluate import Unknown, evaluate
from ..kernel import Kernel
from ..study import Study

_TURN = "source"
_LOOKED_AT = 6  # iterations, besides those before the loop


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
    assert load.block is not None
    if load.block not in loop.blocks:
        return None
    counts = {
        each: Count(_TURN) if each is loop else Count() for each in study.kernel.around(load.block)
    }
    at = study.a.read(load.operands[0], study.a.counts_at(load.block, counts), "signed").value
    x, y, _ = study.kernel.size
    name = study.a.thread.name
    given = {
        _TURN: np.arange(-ahead, _LOOKED_AT),
        f"{name}.x": np.asarray(thread % x),
        f"{name}.y": np.asarray(thread // x % y),
        f"{name}.z": np.asarray(thread // (x * y)),
        f"{name}.lane": np.asarray(thread % LANES),
        f"{name}.simdgroup": np.asarray(thread // LANES),
        **{f"group.{axis}": np.asarray(0) for axis in "xyz"},
    }
    try:
        places = np.broadcast_to(evaluate(at, given, otherwise=1), (ahead + _LOOKED_AT,))
    except Unknown:
        return None
    steps = np.unique(np.diff(places.astype(np.int64)))
    if len(steps) != 1 or steps[0] == 0:
        return None
    return int(places[0] // steps[0])
