"""Whether a slice task's results depend on bytes: slices also fetch what they never use."""

import numpy as np
from numpy.typing import NDArray

from ..datapath.footprint import touched
from ..datapath.interpreter import Interpreter
from ..datapath.plan import SlicePlan
from ..faults import TorqFault
from ..lram import Lram
from .ranges import Ranges

_FILLS = (0x00, 0xA5, 0xFF)


def matters(plan: SlicePlan, before: NDArray[np.uint8], ranges: Ranges) -> bool:
    """Whether the task's results differ when other bytes are there; `before` is LRAM at its start.

    Found by running it.
    """
    results = [
        piece for _, writes, _, pieces in touched(plan, before) if writes for piece in pieces
    ]
    found = []
    for fill in _FILLS:
        lram = Lram(len(before))
        lram.bytes[:] = before
        for start, stop in ranges:
            lram.bytes[start:stop] = fill
        try:
            Interpreter().run(plan, lram)
        except TorqFault:
            return True
        found.append(b"".join(lram.bytes[a:b].tobytes() for a, b in results))
    return any(result != found[0] for result in found)
