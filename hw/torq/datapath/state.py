"""What compiled code works on: one task and the memories of the slice that runs it."""

from __future__ import annotations

import ctypes

import numpy as np
from numpy.typing import NDArray

from assay.sim.native.structures import pointer

from .layout import LANE_COUNT, STATE

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
DATA_BYTES = 640
WEIGHT_MEMORY = 1024
"""Bytes of the memories before the ALU, with room to spare."""

Array = NDArray[np.generic]

TASK = dict.fromkeys(("p", "nests", "loops", "lanes", "base", "slope", "expansion"), "i64")
"""Arrays that belong to a task, and their elements."""
MEMORY = {
    "lram": "u8",
    "pram": "i32",
    "report": "i64",
    "states": "i64",
    "data": "u8",
    "weight": "u8",
    "bias": "u8",
    "window": "i64",
    "xs": "i64",
    "ys": "i64",
    "masks": "u8",
    "known": "i64",
    "row": "i32",
    "reals": "f32",
    "sums": "f32",
    "best": "i64",
    "out": "i64",
    "word": "u8",
    "used": "i64",
}
"""Those that belong to a slice."""


class Slice(ctypes.Structure):
    """Arrays, by their addresses.

    p: the task's numbers, by the indices of `layout`. nests, loops, lanes: descriptors of all
    agents, their loops; what each lane takes. base, slope: the look-up table. expansion: what each
    code of a compressed weight stands for.

    lram: the memory, of `lram_size` bytes. pram: the words of the partial sums. report: a code,
    agent, address and number: what went wrong. states: per agent where it stands in its loops.
    data, weight, bias: the memories before ALU and activation unit. window: counters of the data
    word's first segment. xs, ys, masks, known: pixels of the data word; masks of padding, and which
    are valid. row, reals: a run of data as numbers. sums: those of a block of floats. best:
    positions of extremes. out, word: results of a vector, as numbers and as bytes. used: how far
    data and weight words are used up: cycles left, step, repetition of the step, of data also the
    word's number in its row of the kernel and its steps.
    """

    _fields_ = (
        *((name, pointer(element)) for name, element in (TASK | MEMORY).items()),
        ("lram_size", ctypes.c_int64),
    )

    def point(self, arrays: dict[str, Array]) -> None:
        """Take arrays, which must outlive their use."""
        for name, array in arrays.items():
            setattr(self, name, array.__array_interface__["data"][0])


def scratch() -> dict[str, Array]:
    """The arrays of a slice that no task leaves anything in for the next, by name; all zero."""
    return {
        "report": np.zeros(4, np.int64),
        "states": np.zeros((6, STATE), np.int64),
        "data": np.zeros(DATA_BYTES, np.uint8),
        "weight": np.zeros(WEIGHT_MEMORY, np.uint8),
        "bias": np.zeros(64, np.uint8),
        "window": np.zeros(STATE, np.int64),
        "xs": np.zeros(PIXELS, np.int64),
        "ys": np.zeros(PIXELS, np.int64),
        "masks": np.zeros((MASKS, PIXELS), np.bool_),
        "known": np.zeros(MASKS + 1, np.int64),
        "row": np.zeros(LANE_COUNT, np.int32),
        "reals": np.zeros(LANE_COUNT, np.float32),
        "sums": np.zeros(LANE_COUNT, np.float32),
        "best": np.zeros(LANE_COUNT, np.int64),
        "out": np.zeros(64, np.int64),
        "word": np.zeros(256, np.uint8),
        "used": np.zeros(USES, np.int64),
    }
