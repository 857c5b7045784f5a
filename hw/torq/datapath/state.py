"""What compiled code works on: one task and the memories of the slice that runs it."""

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .layout import STATE

PIXELS = 64
"""Pixels of the longest data word that counts as one."""
MASKS = 513
"""One mask of pixels for none, and one for each of 8 rows, 2 x 2 parities and 16 taps."""
USES = 8
"""Entries of `used`, see below."""
DATA_LEFT, DATA_STEP, DATA_REPEAT, DATA_SEQUENCE, DATA_STEPS = range(5)
WEIGHT_LEFT, WEIGHT_STEP_NOW, WEIGHT_REPEAT = range(5, 8)
GATHERED = 0
"""Entry of `window` (which has no address) that counts data words of a unit of gathering."""

Number: TypeAlias = Any
"""An integer of compiled code: numba gives it 64 bits; to Python it is int or numpy's."""
Real: TypeAlias = Any
"""A float32 of compiled code."""
Ints = NDArray[np.int64]
Bytes = NDArray[np.uint8]


class Slice(NamedTuple):
    """Arrays only, so that compiled code can take it as one argument.

    Attributes:
        p: the task's numbers, by the indices of `layout`.
        nests, loops, lanes: descriptors of all agents, their loops; what each lane takes.
        lram: the memory.
        pram: the words of the partial sums.
        base, slope: the look-up table.
        expansion: what each code of a compressed weight stands for.
        report: a code, agent, address and number: what went wrong.
        states: per agent where it stands in its loops.
        data, weight, bias: the memories before ALU and activation unit (with room to spare).
        window: counters of the data word's first segment.
        xs, ys, masks, known: pixels of the data word; masks of padding, and which are valid.
        row, reals: a run of data as numbers. sums: those of a block of floats.
        best: positions of extremes.
        out, word: results of a vector, as numbers and as bytes.
        used: how far data and weight words are used up: cycles left, step, repetition of the
            step, of data also the word's number in its row of the kernel and its steps.
    """

    p: Ints
    nests: Ints
    loops: Ints
    lanes: Ints
    lram: Bytes
    pram: NDArray[np.int32]
    base: Ints
    slope: Ints
    expansion: Ints
    report: Ints
    states: Ints
    data: Bytes
    weight: Bytes
    bias: Bytes
    window: Ints
    xs: Ints
    ys: Ints
    masks: NDArray[np.bool_]
    known: Ints
    row: NDArray[np.int32]
    reals: NDArray[np.float32]
    sums: NDArray[np.float32]
    best: Ints
    out: Ints
    word: Bytes
    used: Ints


def scratch() -> dict[str, Any]:
    """The arrays of a `Slice` that belong to no task, by name; all zero."""
    return {
        "report": np.zeros(4, np.int64),
        "states": np.zeros((6, STATE), np.int64),
        "data": np.zeros(640, np.uint8),
        "weight": np.zeros(1024, np.uint8),
        "bias": np.zeros(64, np.uint8),
        "window": np.zeros(STATE, np.int64),
        "xs": np.zeros(PIXELS, np.int64),
        "ys": np.zeros(PIXELS, np.int64),
        "masks": np.zeros((MASKS, PIXELS), np.bool_),
        "known": np.zeros(MASKS + 1, np.int64),
        "row": np.zeros(256, np.int32),
        "reals": np.zeros(256, np.float32),
        "sums": np.zeros(256, np.float32),
        "best": np.zeros(256, np.int64),
        "out": np.zeros(64, np.int64),
        "word": np.zeros(256, np.uint8),
        "used": np.zeros(USES, np.int64),
    }
