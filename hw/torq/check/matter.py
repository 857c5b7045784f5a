"""Whether a slice task's results depend on bytes: slices also fetch what they never use."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..datapath.footprint import touched
from ..datapath.interpreter import PRAM_WORDS, Interpreter
from ..datapath.plan import SlicePlan
from ..faults import TorqFault
from ..lram import Lram
from .ranges import Ranges

_FILLS = (0x00, 0xA5, 0xFF)
_DRAWN = 3
"""Fills in which every byte is another: positions of extremes and comparisons hang on that."""
Words = NDArray[np.bool_]
"""Of each word of the partial sums, whether it is meant."""


def keeps_sums(plan: SlicePlan) -> bool:
    """Whether a task leaves its sums for the next one."""
    return not plan.image["CE.AL_MODE.cepx_out_en"]


def takes_sums(plan: SlicePlan) -> bool:
    """Whether a task adds to the sums that the one before has left."""
    return not plan.image["CE.AL_MODE.cepx_clr_en"]


def matters(
    plan: SlicePlan, before: NDArray[np.uint8], ranges: Ranges, sums: Words | None = None
) -> bool:
    """Whether the task's results differ when other bytes are there; `before` is LRAM at its start.

    Found by running it. Sums that it keeps count as results; those of `sums` that it takes differ.
    """
    return any(one != other for one, other in _pairs(_outcomes(plan, before, ranges, sums)))


def unsure_sums(
    plan: SlicePlan, before: NDArray[np.uint8], ranges: Ranges, sums: Words | None = None
) -> Words:
    """Which sums that a task keeps differ when other bytes are there, as `matters` has it."""
    words = np.zeros(PRAM_WORDS, np.bool_)
    for one, other in _pairs(_outcomes(plan, before, ranges, sums)):
        if one is None or other is None:
            return ~np.zeros(PRAM_WORDS, np.bool_)
        size = 4 * PRAM_WORDS
        words |= np.frombuffer(one[-size:], np.int32) != np.frombuffer(other[-size:], np.int32)
    return words


def _pairs(outcomes: Iterator[bytes | None]) -> Iterator[tuple[bytes | None, bytes | None]]:
    """The first outcome with each of the others, and with itself if that is a fault."""
    first = next(outcomes)
    if first is None:
        yield first, b""
    for other in outcomes:
        yield first, other


def _outcomes(
    plan: SlicePlan, before: NDArray[np.uint8], ranges: Ranges, sums: Words | None
) -> Iterator[bytes | None]:
    """Results of a task with each fill, and the sums that it keeps; None of a fault."""
    results = [
        piece for _, writes, _, pieces in touched(plan, before) if writes for piece in pieces
    ]
    for fill in _fills(len(before)):
        lram = Lram(len(before))
        lram.bytes[:] = before
        for start, stop in ranges:
            lram.bytes[start:stop] = fill[start:stop]
        machine = Interpreter()
        if sums is not None:
            machine.pram[sums] = fill[: 4 * PRAM_WORDS].view(np.int32)[sums]
        try:
            machine.run(plan, lram)
        except TorqFault:
            yield None
            return
        found = b"".join(lram.bytes[a:b].tobytes() for a, b in results)
        yield found + (machine.pram.tobytes() if keeps_sums(plan) else b"")


def _fills(size: int) -> Iterator[NDArray[np.uint8]]:
    """What may be in a memory of `size` bytes."""
    chance = np.random.default_rng(0)
    for value in _FILLS:
        yield np.full(size, value, np.uint8)
    for _ in range(_DRAWN):
        yield chance.integers(0, 256, size, np.uint8)
