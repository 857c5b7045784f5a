"""Which steps must be done before which: by the buffers and the memory in XRAM that they share.

Steps are given in an order in which all of them could be done one after the other. Runs of one
operator write different parts of its result, and loads of one buffer different parts of it: they do
not depend on each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ..plan.attributes import Move
from .steps import Buffer, LoadCode, LoadTile, RunSlice, Start, StoreTile
from .storage import Storage

_REMEMBERED = 2048
"""Transfers whose rows are kept: each is compared with all that store the same tensor."""
RESULT = "y"
"""What runs call what they make."""


def written_by(step: Start) -> Buffer | None:
    """The buffer in LRAM that a step fills."""
    if isinstance(step, LoadCode):
        return step.run.code
    if isinstance(step, RunSlice):
        return step.places[RESULT].buffer
    return step.buffer if isinstance(step, LoadTile) else None


def read_by(step: Start) -> list[Buffer]:
    """The buffers in LRAM that a step reads; the scratch of runs is among them."""
    if isinstance(step, RunSlice):
        places = [spot.buffer for name, spot in step.places.items() if name != RESULT]
        return [step.code, *places]
    return [step.buffer] if isinstance(step, StoreTile) else []


def dependences(steps: Sequence[Start]) -> list[tuple[int, ...]]:
    """By step the numbers of earlier ones that must be done before it starts."""
    writers: dict[Buffer, list[int]] = {}
    stores: dict[Storage, list[tuple[int, int, int]]] = {}
    """By tensor the steps that store it, with the first byte and the one behind the last."""
    found: list[tuple[int, ...]] = []
    for number, step in enumerate(steps):
        before: set[int] = set()
        for buffer in read_by(step):
            before.update(writers.get(buffer, ()))
        if isinstance(step, LoadTile):
            first, last = _span(step.moves)
            for earlier, low, high in stores.get(step.storage, ()):
                if low < last and first < high:
                    store = steps[earlier]
                    assert isinstance(store, StoreTile)
                    if share_bytes(store.moves, step.moves):
                        before.add(earlier)
        if isinstance(step, StoreTile):
            stores.setdefault(step.storage, []).append((number, *_span(step.moves)))
        target = written_by(step)
        if target is not None:
            writers.setdefault(target, []).append(number)
        found.append(tuple(sorted(before)))
    return found


def _span(moves: Sequence[Move]) -> tuple[int, int]:
    """The first byte in XRAM of all transfers and the one behind the last."""
    lows, highs = zip(*map(extent, moves), strict=True)
    return min(lows), max(highs)


def share_bytes(one: Sequence[Move], other: Sequence[Move]) -> bool:
    """Whether two lists of transfers touch a byte of XRAM in common."""
    return any(_meet(a, b) for a in one for b in other)


def _meet(one: Move, other: Move) -> bool:
    (low, high), (first, last) = extent(one), extent(other)
    if low >= last or first >= high:
        return False
    if not one.loops or not other.loops:
        one, other = (other, one) if one.loops else (one, other)
    starts, against = _sorted_starts(one), _sorted_starts(other)
    before = np.searchsorted(starts, against + other.row) - 1
    return bool(np.any((before >= 0) & (starts[before] + one.row > against)))


@lru_cache(maxsize=_REMEMBERED)
def _sorted_starts(move: Move) -> NDArray[np.int64]:
    return np.sort(row_starts(move))


@lru_cache(maxsize=_REMEMBERED)
def extent(move: Move) -> tuple[int, int]:
    """The first byte in XRAM and the one behind the last."""
    low = move.outside + sum(min(0, (n - 1) * stride) for n, stride in move.loops)
    high = move.outside + sum(max(0, (n - 1) * stride) for n, stride in move.loops)
    return low, high + move.row


def row_starts(move: Move) -> NDArray[np.int64]:
    """Where in XRAM each row of a transfer begins."""
    starts = np.array([move.outside], np.int64)
    for count, stride in move.loops:
        starts = (np.arange(count, dtype=np.int64)[:, None] * stride + starts).ravel()
    return starts
