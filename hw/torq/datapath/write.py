"""DEQW: results to their places in LRAM, compiled."""

import numpy as np

from .compiled import inlined
from .layout import (
    AT,
    DEQW,
    PIXEL,
    PIXEL_BYTES,
    PLANE,
    PLANE_PIXELS,
    PLANE_X,
    ROW_PAIR_STEP,
    ROW_STEP,
    SPLIT,
    SPLIT_HALVES,
    SPLIT_STRIDE,
    WRITE_BYTES,
)
from .state import Ints, Number, Slice


@inlined
def row_start(p: Ints, y: Number) -> Number:
    """How far from the plane's start a row lies."""
    return (y & 1) * p[ROW_STEP] + (y >> 1) * p[ROW_PAIR_STEP]


@inlined
def write_plane(m: Slice, base: Number) -> Number:
    """Writes the pixels of one transfer, row by row as they fall; returns as `write`."""
    p, word, lram = m.p, m.word, m.lram
    unit, width, split = p[PIXEL_BYTES], p[PLANE_X], p[SPLIT] != 0
    count = p[WRITE_BYTES] // unit
    first = m.states[DEQW, PIXEL] * count
    y, x = first // width, first % width
    row = base + row_start(p, y)
    for k in range(min(count, p[PLANE_PIXELS] - first)):
        at = row + (x >> 1) * unit + (x & 1) * p[SPLIT_STRIDE] if split else row + x * unit
        if at < 0 or at + unit > len(lram):
            return at
        for j in range(unit):
            lram[at + j] = word[k * unit + j]
        x += 1
        if x == width:
            x, y = np.int64(0), y + 1
            row = base + row_start(p, y)
    return np.int64(-1)


@inlined
def write(m: Slice, offset: Number) -> Number:
    """Writes one transfer; returns -1, or the address that is not in LRAM.

    Bytes of pixels beyond the end of a plane are dropped.
    """
    p, state, word, lram = m.p, m.states[DEQW], m.word, m.lram
    size = p[WRITE_BYTES]
    base = state[AT] + offset
    limit = len(lram)
    unit = p[PIXEL_BYTES]
    if p[PLANE]:
        return write_plane(m, base)
    half = size
    second = np.int64(0)
    if p[SPLIT] and p[SPLIT_HALVES]:
        half = size // 2
        second = base + p[SPLIT_STRIDE]
    elif p[SPLIT]:
        for k in range(size // unit):
            at = base + (k >> 1) * unit + (k & 1) * p[SPLIT_STRIDE]
            if at < 0 or at + unit > limit:
                return at
            for j in range(unit):
                lram[at + j] = word[k * unit + j]
        return np.int64(-1)
    if base < 0 or base + half > limit:
        return base
    for j in range(half):
        lram[base + j] = word[j]
    if half < size:
        if second < 0 or second + half > limit:
            return second
        for j in range(half):
            lram[second + j] = word[half + j]
    return np.int64(-1)
