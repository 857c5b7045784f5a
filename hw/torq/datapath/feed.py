"""Which data words a kernel's row has, and how long each serves; `feed.c` says the same."""

import numpy as np
from numpy.typing import NDArray

from . import layout as at

Numbers = NDArray[np.int64]


def steps_of_word(p: Numbers, sequence: int) -> int:
    """How many shifts a data word serves; `sequence` counts the words of a kernel's row."""
    groups = p[at.COLUMN_GROUPS]
    odd = p[at.PARITIES] > 1 and sequence >= groups
    last = 2 * groups - 1 - p[at.COLUMN_BREAK] if odd else groups - 1
    if sequence < last:
        return int(p[at.STEPS])
    return int(p[at.STEPS] - (p[at.BREAK_ODD] if odd else p[at.BREAK_EVEN]))


def words_of_row(p: Numbers) -> int:
    """Data words of one row of the kernel."""
    missing = p[at.COLUMN_BREAK] if p[at.PARITIES] > 1 else 0
    return int(p[at.COLUMN_GROUPS] * p[at.PARITIES] - missing)
