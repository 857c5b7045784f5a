"""Whether a slice task's results depend on bytes: slices also fetch what they never use."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..datapath.footprint import touched
from ..datapath.interpreter import Interpreter
from ..datapath.plan import SlicePlan
from ..faults import TorqFault
from ..lram import Lram
from .ranges import Ranges

_FILLS = (0x00, 0xA5, 0xFF)
_DRAWN = 3
"""Fills in which every byte is another: positions of extremes and comparisons hang on that."""


def matters(plan: SlicePlan, before: NDArray[np.uint8], ranges: Ranges) -> bool:
    """Whether the task's results differ when other bytes are there; `before` is LRAM at its start.

    Found by running it.
    """
    results = [
        piece for _, writes, _, pieces in touched(plan, before) if writes for piece in pieces
    ]
    first: bytes | None = None
    for fill in _fills(len(before)):
        lram = Lram(len(before))
        lram.bytes[:] = before
        for start, stop in ranges:
            lram.bytes[start:stop] = fill[start:stop]
        machine = Interpreter()
        try:
            machine.run(plan, lram)
        except TorqFault:
            return True
        found = b"".join(lram.bytes[a:b].tobytes() for a, b in results)
        if not plan.image["CE.AL_MODE.cepx_out_en"]:
            found += machine.pram.tobytes()
        first = found if first is None else first
        if found != first:
            return True
    return False


def _fills(size: int) -> Iterator[NDArray[np.uint8]]:
    """What may be in a memory of `size` bytes."""
    chance = np.random.default_rng(0)
    for value in _FILLS:
        yield np.full(size, value, np.uint8)
    for _ in range(_DRAWN):
        yield chance.integers(0, 256, size, np.uint8)
