"""A whole slice task: the ALU's blocks with their feeds, then the activation unit's vectors."""

import numpy as np

from .act import activate
from .alu import (
    multiply_float,
    multiply_float_runs,
    multiply_int,
    multiply_int_runs,
    transpose,
    whole_datum,
)
from .bits import bits_of, float_of
from .compiled import called, compiled, inlined
from .feed import fail, go_on, index_of, mask, next_data, next_weights, start, step_on
from .layout import (
    ALU_KIND,
    AT,
    BIAS_BYTES,
    BIAS_ON,
    BIAS_REUSE,
    BLOCKS,
    CYCLES,
    DATA_ON,
    DATUM_BYTES,
    DEBR,
    DEBR1,
    DEQW,
    FILL,
    FILL_VALUE,
    FINE,
    INIT,
    LANE_WORD,
    LANES,
    MASKED,
    MULTIPLY_FLOAT,
    MULTIPLY_INT,
    OUT_OF_RANGE,
    OUTPUT_INDEX,
    PIXEL_BYTES,
    RAN_DRY,
    RESULT_BYTES,
    RESULTS,
    RUN,
    RUN_GROUPS,
    RUNS_FLOAT,
    RUNS_INT,
    SCATTER,
    SCATTER_BYTES,
    THROUGH,
    TRANSPOSE,
    VECTORS,
    WEIGHT_STEP_BYTES,
    WEIGHTS,
    WEIGHTS_EXPLICIT,
    WRITE_BYTES,
)
from .state import DATA_SEQUENCE, MASKS, USES, Slice
from .write import write


@inlined
def alu_block(m: Slice) -> bool:
    """The ALU cycles of one block; returns whether all went well."""
    p = m.p
    kind = p[ALU_KIND]
    for k in range(256):
        m.pram[k] = p[INIT]
        m.sums[k] = float_of(np.int32(p[INIT]))
    for cycle in range(p[CYCLES]):
        shift, step, slot = np.int64(0), np.int64(0), np.int64(0)
        if p[DATA_ON]:
            shift = next_data(m)
            if shift < 0:
                return False
            if p[MASKED]:
                slot = mask(m, shift)
            shift *= p[DATUM_BYTES]
        if p[WEIGHTS] == WEIGHTS_EXPLICIT:
            step = next_weights(m)
            if step < 0:
                return False
            step *= p[WEIGHT_STEP_BYTES]
        if kind == RUNS_INT:
            multiply_int_runs(m, shift, slot, step)
        elif kind == RUNS_FLOAT:
            multiply_float_runs(m, shift, slot, step)
        elif kind == MULTIPLY_INT:
            multiply_int(m, shift, slot, step, cycle)
        elif kind == MULTIPLY_FLOAT:
            multiply_float(m, shift, slot, step, cycle)
        elif kind == TRANSPOSE:
            transpose(m, cycle)
        else:
            whole_datum(m, shift, slot, step, cycle)
    if kind == RUNS_FLOAT:
        for k in range(p[RUN] * p[RUN_GROUPS]):
            m.pram[2 * k] = bits_of(m.sums[k])
    if p[OUTPUT_INDEX]:
        for q in range(p[LANES]):
            word = m.lanes[LANE_WORD, q]
            m.pram[word] = m.best[word] << 16
    return True


@inlined
def put_results(m: Slice) -> bool:
    """Hands one transfer to DEQW; returns whether all went well."""
    p = m.p
    if m.states[DEQW, THROUGH]:
        return fail(m, RAN_DRY, DEQW, 0, 0)
    size = p[RESULT_BYTES]
    for k in range(p[RESULTS]):
        for j in range(size):
            m.word[k * size + j] = (m.out[k] >> (8 * j)) & 0xFF
    offset = np.int64(0)
    if p[SCATTER]:
        index = m.states[DEBR1, AT]
        if m.states[DEBR1, THROUGH]:
            return fail(m, RAN_DRY, DEBR1, 0, 0)
        if index < 0 or index + p[SCATTER_BYTES] > len(m.lram):
            return fail(m, OUT_OF_RANGE, DEBR1, index, p[SCATTER_BYTES])
        offset = index_of(m.lram, index, p[SCATTER_BYTES])
        step_on(m, DEBR1)
    missed = write(m, offset)
    if missed != -1:
        return fail(m, OUT_OF_RANGE, DEQW, missed, p[WRITE_BYTES])
    go_on(m, DEQW)
    return True


@called
def fill(m: Slice) -> bool:
    """DEQW alone, writing one value everywhere; returns whether all went well."""
    p = m.p
    unit = p[PIXEL_BYTES]
    for k in range(64):
        m.word[k] = (p[FILL_VALUE] >> (8 * (k % unit))) & 0xFF
    while not m.states[DEQW, THROUGH]:
        missed = write(m, np.int64(0))
        if missed != -1:
            return fail(m, OUT_OF_RANGE, DEQW, missed, p[WRITE_BYTES])
        step_on(m, DEQW)
    return True


@called
def fetch_bias(m: Slice) -> bool:
    """The next word of biases and scales; returns whether all went well."""
    size, at = m.p[BIAS_BYTES], m.states[DEBR, AT]
    if m.states[DEBR, THROUGH]:
        return fail(m, RAN_DRY, DEBR, 0, 0)
    if at < 0 or at + size > len(m.lram):
        return fail(m, OUT_OF_RANGE, DEBR, at, size)
    for k in range(size):
        m.bias[k] = m.lram[at + k]
    step_on(m, DEBR)
    return True


@called
def clear(m: Slice) -> None:
    """Forgets what the task before left in the slice's memories, partial sums excepted."""
    for agent in range(6):
        start(m, agent)
    for k in range(len(m.data)):
        m.data[k] = 0
    for k in range(len(m.weight)):
        m.weight[k] = 0
    for k in range(len(m.window)):
        m.window[k] = 0
    for k in range(USES):
        m.used[k] = 0
    m.used[DATA_SEQUENCE] = -1
    m.known[MASKS] = -1
    m.report[0] = FINE


@compiled
def run_task(m: Slice) -> None:
    """Runs a decoded slice task (a `state.Slice`); its `report` says how that went."""
    p = m.p
    clear(m)
    if p[FILL]:
        fill(m)
        return
    bias_left = np.int64(0)
    for _ in range(p[BLOCKS]):
        if not alu_block(m):
            return
        for vector in range(p[VECTORS]):
            if p[BIAS_ON]:
                if bias_left == 0:
                    if not fetch_bias(m):
                        return
                    bias_left = p[BIAS_REUSE]
                bias_left -= 1
            activate(m, vector)
            if not put_results(m):
                return
