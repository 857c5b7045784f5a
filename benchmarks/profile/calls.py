"""How many calls of a model are measured at once, and what they take."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable

ROUND = 0.06  # seconds that a round's calls take at least, but that they are so many
_LEAST_CALLS, _MOST_CALLS = 3, 1000


def median_of_calls(call: Callable[[], object], calls: int) -> float:
    """Median processor time of so many calls, in seconds."""
    taken: list[float] = []
    for _ in range(calls):
        start = time.process_time()
        call()
        taken.append(time.process_time() - start)
    return statistics.median(taken)


def calls_for(one: float) -> int:
    """How many calls a round has, of which one takes so many seconds."""
    return max(_LEAST_CALLS, min(math.ceil(ROUND / max(one, 1e-9)), _MOST_CALLS))
