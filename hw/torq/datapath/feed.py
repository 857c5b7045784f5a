"""What feeds the ALU: data and weight words, masks of padding; compiled."""

import numpy as np

from .bits import extend
from .compiled import called, inlined
from .layout import (
    AT,
    BORDER_LEFT,
    BREAK_EVEN,
    BREAK_ODD,
    COLUMN,
    COLUMN_BREAK,
    COLUMN_DISTANCE,
    COLUMN_GROUPS,
    COLUMN_PARITY,
    DEDR,
    DEDR1,
    DEWR,
    GATHER,
    GROUP_PITCH,
    GROUP_STRIDE,
    GROUPS,
    HALO,
    INDEX_BYTES,
    INDEX_SIZE,
    INDEX_UNIT,
    MASK_LEFT,
    MASK_RIGHT,
    MASK_ROWS,
    MASKED,
    NESTS,
    OUT_OF_RANGE,
    PARITIES,
    PIXEL,
    PLANE_WIDTH,
    RAN_DRY,
    REPEAT_STEP,
    REPEAT_WORD,
    ROW,
    ROW_DISTANCE,
    ROW_END_DISTANCE,
    ROW_PARITY,
    ROWS_FROM,
    ROWS_TO,
    SEGMENTS,
    SHORT_BY,
    SHORT_BY1,
    SHORT_LOOP,
    SHORT_LOOP1,
    STEPS,
    THROUGH,
    UNIT,
    WEIGHT_BITS,
    WEIGHT_BYTES,
    WEIGHT_OUT,
    WEIGHT_REPEAT_STEP,
    WEIGHT_REPEAT_WORD,
    WEIGHT_STEPS,
    WEIGHT_TRANSFERS,
    WORD_BYTES,
    WORD_PIXELS,
)
from .state import (
    DATA_LEFT,
    DATA_REPEAT,
    DATA_SEQUENCE,
    DATA_STEP,
    DATA_STEPS,
    GATHERED,
    MASKS,
    PIXELS,
    WEIGHT_LEFT,
    WEIGHT_REPEAT,
    WEIGHT_STEP_NOW,
    Bytes,
    Ints,
    Number,
    Slice,
)
from .walk import advance, enter

SEGMENT = 72
"""Bytes of one segment of the data memory before the ALU (IRAM)."""
_SPACE = 1 << 24


@inlined
def start(m: Slice, agent: Number) -> None:
    """Stands at an agent's first transfer, or is through when it has none."""
    if m.p[NESTS + 2 * agent + 1]:
        enter(m.states[agent], m.nests, m.p[NESTS + 2 * agent])
    else:
        m.states[agent, THROUGH] = 1


@inlined
def go_on(m: Slice, agent: Number) -> None:
    """Goes on to an agent's next transfer."""
    p = m.p
    end = p[NESTS + 2 * agent] + p[NESTS + 2 * agent + 1]
    by = p[SHORT_BY] if agent == DEDR else np.int64(0)
    by1 = p[SHORT_BY1] if agent == DEDR else np.int64(0)
    advance(m.states[agent], m.nests, m.loops, end, p[SHORT_LOOP], by, p[SHORT_LOOP1], by1)


@called
def step_on(m: Slice, agent: Number) -> None:
    """`go_on` for where it is not worth a copy of its own."""
    go_on(m, agent)


@inlined
def fail(m: Slice, code: Number, agent: Number, address: Number, number: Number) -> bool:
    """Notes what went wrong; returns False for the caller to return."""
    report = m.report
    report[0], report[1], report[2], report[3] = code, agent, address, number
    return False


@inlined
def index_of(lram: Bytes, at: Number, size: Number) -> Number:
    """A signed offset of 1, 2 or 4 bytes."""
    value = np.int64(0)
    for k in range(size):
        value |= np.int64(lram[at + k]) << (8 * k)
    return extend(value, size, True)


@inlined
def fetch_group(m: Slice, at: Number, size: Number, to: Number) -> bool:
    """Data bytes to the data memory; beyond the end of LRAM come zeros (nobody may store them).

    Returns whether at least one byte was inside, or the window's border explains why none was.
    """
    lram, data = m.lram, m.data
    limit = len(lram)
    at &= _SPACE - 1
    low = at - _SPACE if at > _SPACE - (1 << 20) else at
    if low >= 0 and low + size <= limit:
        source = lram[low : low + size]
        target = data[to : to + size]
        for k in range(size):
            target[k] = source[k]
        return True
    for k in range(size):
        where = low + k
        data[to + k] = lram[where] if 0 <= where < limit else 0
    return low + size > -m.p[HALO] and low < limit + m.p[HALO]


@inlined
def fetch_data(m: Slice) -> bool:
    """Fills the data memory for its next use: one transfer for each segment."""
    p, state, window = m.p, m.states[DEDR], m.window
    for segment in range(p[SEGMENTS]):
        if state[THROUGH]:
            return fail(m, RAN_DRY, DEDR, 0, 0)
        if segment == 0:
            for k in range(PIXEL, COLUMN_PARITY + 1):
                window[k] = state[k]
        size = p[WORD_BYTES]
        for g in range(p[GROUPS]):
            at = state[AT] + g * p[GROUP_STRIDE]
            if p[GATHER]:
                index = m.states[DEDR1, AT]
                if m.states[DEDR1, THROUGH]:
                    return fail(m, RAN_DRY, DEDR1, 0, 0)
                if index < 0 or index + p[INDEX_BYTES] > len(m.lram):
                    return fail(m, OUT_OF_RANGE, DEDR1, index, p[INDEX_BYTES])
                at += index_of(m.lram, index + g * p[INDEX_SIZE], p[INDEX_SIZE])
            if not fetch_group(m, at, size, segment * SEGMENT + g * p[GROUP_PITCH]):
                return fail(m, OUT_OF_RANGE, DEDR, at, size)
        go_on(m, DEDR)
        if p[GATHER]:
            window[GATHERED] += 1
            if window[GATHERED] == p[UNIT]:
                window[GATHERED] = 0
                step_on(m, DEDR1)
            elif p[INDEX_UNIT] > 1:
                step_on(m, DEDR1)
    return True


@inlined
def fetch_weights(m: Slice) -> bool:
    """Fills the weight memory for its next use, expanding compressed weights."""
    p, weight, lram = m.p, m.weight, m.lram
    limit = len(lram)
    to = 0
    for _ in range(p[WEIGHT_TRANSFERS]):
        if m.states[DEWR, THROUGH]:
            return fail(m, RAN_DRY, DEWR, 0, 0)
        bits = p[WEIGHT_BITS]
        size = p[WEIGHT_BYTES]
        at = m.states[DEWR, AT]
        if bits == 0:
            if at < 0 or at + size > limit:
                return fail(m, OUT_OF_RANGE, DEWR, at, size)
            for k in range(size):
                weight[to + k] = lram[at + k]
        else:
            unit = p[WEIGHT_OUT]
            first = at * (8 if bits == 8 else 1)
            count = size // unit
            if first < 0 or (first + count * bits + 7) // 8 > limit:
                return fail(m, OUT_OF_RANGE, DEWR, first // 8, count)
            for k in range(count):
                code = np.int64(0)
                for j in range(bits):
                    bit = first + k * bits + j
                    code |= ((np.int64(lram[bit >> 3]) >> (bit & 7)) & 1) << j
                value = m.expansion[code]
                for j in range(unit):
                    weight[to + k * unit + j] = (value >> (8 * j)) & 0xFF
        to += size
        go_on(m, DEWR)
    return True


@called
def place_pixels(m: Slice) -> None:
    """The plane's x and y of each pixel of the current data word; forgets the masks of others."""
    p, xs, ys, known = m.p, m.xs, m.ys, m.known
    first = m.window[PIXEL] * p[WORD_PIXELS]
    if known[MASKS] == first:
        return
    for k in range(MASKS):
        known[k] = 0
    known[MASKS] = first
    width = p[PLANE_WIDTH]
    x, y = first % width, first // width
    for k in range(PIXELS):
        xs[k], ys[k] = x, y
        x += 1
        if x == width:
            x, y = np.int64(0), y + 1


@called
def mask(m: Slice, shift: Number) -> Number:
    """The row of `masks` that marks the pixels whose tap lies outside of the plane.

    Row 0 marks none. A kernel's taps come again for every channel, so masks are kept until the
    pixels change: `known` is 0 (not yet), 1 (marks some) or 2 (none).
    """
    p, window, known = m.p, m.window, m.known
    column_parity, row_parity = window[COLUMN_PARITY], window[ROW_PARITY]
    tap = 3 * window[COLUMN] + shift
    row = window[ROW]
    slot = 1 + ((row & 7) * 4 + row_parity * 2 + column_parity) * 16 + (tap & 15)
    if known[slot] == 0 or row > 7 or tap > 15:
        width = p[PLANE_WIDTH]
        move = tap - (p[BORDER_LEFT] - column_parity * p[COLUMN_DISTANCE])
        found = False
        for k in range(PIXELS):
            x = m.xs[k] + move
            out = (p[MASK_LEFT] and x < 0) or (p[MASK_RIGHT] and x >= width)
            if p[MASK_ROWS]:
                y = m.ys[k] + row
                low = (y - row_parity * p[ROW_DISTANCE]) * width + p[BORDER_LEFT]
                high = (y - row_parity * p[ROW_END_DISTANCE]) * width + p[BORDER_LEFT]
                out = out or low < p[ROWS_FROM] or high > p[ROWS_TO]
            m.masks[slot, k] = out
            found = found or out
        known[slot] = 1 if found else 2
    return slot if known[slot] == 1 else 0


def steps_in_python(p: Ints, sequence: Number) -> Number:
    """How many shifts a data word serves; `sequence` counts the words of a kernel's row."""
    groups = p[COLUMN_GROUPS]
    odd = 1 if p[PARITIES] > 1 and sequence >= groups else 0
    last = groups - 1 if odd == 0 else 2 * groups - 1 - p[COLUMN_BREAK]
    if sequence < last:
        return p[STEPS]
    return p[STEPS] - (p[BREAK_ODD] if odd else p[BREAK_EVEN])


def words_in_python(p: Ints) -> Number:
    """Data words of one row of the kernel."""
    return p[COLUMN_GROUPS] * p[PARITIES] - (p[COLUMN_BREAK] if p[PARITIES] > 1 else 0)


steps_of_word = inlined(steps_in_python)
words_of_row = inlined(words_in_python)


@inlined
def next_data(m: Slice) -> Number:
    """The data of the next ALU cycle: how many steps into the word, or -1 when that failed."""
    p, used = m.p, m.used
    if used[DATA_LEFT] == 0:
        if not fetch_data(m):
            return np.int64(-1)
        used[DATA_STEP], used[DATA_REPEAT] = 0, 0
        used[DATA_SEQUENCE] += 1
        if used[DATA_SEQUENCE] >= words_of_row(p):
            used[DATA_SEQUENCE] = 0
        used[DATA_STEPS] = steps_of_word(p, used[DATA_SEQUENCE])
        used[DATA_LEFT] = used[DATA_STEPS] * p[REPEAT_STEP] * p[REPEAT_WORD]
        if p[MASKED]:
            place_pixels(m)
    step = used[DATA_STEP]
    used[DATA_LEFT] -= 1
    used[DATA_REPEAT] += 1
    if used[DATA_REPEAT] == p[REPEAT_STEP]:
        used[DATA_REPEAT] = 0
        used[DATA_STEP] += 1
        if used[DATA_STEP] == used[DATA_STEPS]:
            used[DATA_STEP] = 0
    return step


@inlined
def next_weights(m: Slice) -> Number:
    """The weights of the next ALU cycle: how many steps into the word, or -1 when that failed."""
    p, used = m.p, m.used
    if used[WEIGHT_LEFT] == 0:
        if not fetch_weights(m):
            return np.int64(-1)
        used[WEIGHT_STEP_NOW], used[WEIGHT_REPEAT] = 0, 0
        used[WEIGHT_LEFT] = p[WEIGHT_STEPS] * p[WEIGHT_REPEAT_STEP] * p[WEIGHT_REPEAT_WORD]
    step = used[WEIGHT_STEP_NOW]
    used[WEIGHT_LEFT] -= 1
    used[WEIGHT_REPEAT] += 1
    if used[WEIGHT_REPEAT] == p[WEIGHT_REPEAT_STEP]:
        used[WEIGHT_REPEAT] = 0
        used[WEIGHT_STEP_NOW] += 1
        if used[WEIGHT_STEP_NOW] == p[WEIGHT_STEPS]:
            used[WEIGHT_STEP_NOW] = 0
    return step
