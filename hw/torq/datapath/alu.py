"""One ALU cycle over the lanes, compiled. Integers wrap at 32 bits, floats round to even."""

import numpy as np

from .bits import bits_of, extend, float_of, from_bfloat, to_bfloat
from .compiled import called, inlined
from .layout import (
    CAST_BOOL,
    DATA_ON,
    DATUM_BYTES,
    DATUM_FLOAT,
    IMPLICIT_WEIGHT,
    INVERT,
    LANE_BYTE,
    LANE_DATA,
    LANE_DATA_SIGNED,
    LANE_PIXEL,
    LANE_WEIGHT,
    LANE_WEIGHT_SIGNED,
    LANE_WORD,
    LANES,
    OP_ADD,
    OP_AND,
    OP_BYPASS,
    OP_EQUAL,
    OP_GREATER,
    OP_MULTIPLY,
    OP_OR,
    OP_XOR,
    OPERATION,
    OUTPUT_INDEX,
    PAD_VALUE,
    RUN,
    RUN_GROUPS,
    RUN_SHARED,
    TOGGLE_LSB,
    TOGGLE_MSB,
    WEIGHTS,
    WEIGHTS_EXPLICIT,
)
from .state import Ints, Number, Real, Slice


@inlined
def datum(m: Slice, q: Number, shift: Number, slot: Number) -> Number:
    """The whole datum whose first byte is lane `q`'s, as a number (of floats: the bits)."""
    p, lanes = m.p, m.lanes
    size = p[DATUM_BYTES]
    if p[DATA_ON] == 0 or m.masks[slot, lanes[LANE_PIXEL, q]]:
        value = p[PAD_VALUE]
        if size == 4 and not p[DATUM_FLOAT]:
            value = extend(value, 2, True)
    else:
        at = lanes[LANE_DATA, q] + shift
        value = np.int64(0)
        for k in range(size):
            value |= np.int64(m.data[at + k]) << (8 * k)
    return extend(value, size, lanes[LANE_DATA_SIGNED, q] != 0)


@inlined
def weight_byte(m: Slice, q: Number, step: Number) -> Number:
    """The explicit weight of lane number `q`."""
    value = np.int64(m.weight[m.lanes[LANE_WEIGHT, q] + step])
    return value - ((value & m.lanes[LANE_WEIGHT_SIGNED, q]) << 1)


@inlined
def weight_float(m: Slice, q: Number, step: Number, cycle: Number) -> Real:
    """The bfloat16 weight of lane number `q`, as float32."""
    p = m.p
    if p[WEIGHTS] == WEIGHTS_EXPLICIT:
        at = m.lanes[LANE_WEIGHT, q] + step
        bits = np.int64(m.weight[at]) | np.int64(m.weight[at + 1]) << 8
    else:
        bits = p[IMPLICIT_WEIGHT]
    if p[TOGGLE_MSB] and cycle & 1:
        bits ^= 0x8000
    return from_bfloat(bits)


@called
def multiply_int(m: Slice, shift: Number, slot: Number, step: Number, cycle: Number) -> None:
    """P = P + d * w in byte lanes, wrapping.

    Written in one piece: a call per lane would cost more than the lane's work.
    """
    p, lanes, pram, data, weight = m.p, m.lanes, m.pram, m.data, m.weight
    outside = m.masks[slot]
    from_word, pad = p[DATA_ON] != 0, p[PAD_VALUE]
    explicit = p[WEIGHTS] == WEIGHTS_EXPLICIT
    toggle = np.int64(1) if p[TOGGLE_LSB] and cycle & 1 else np.int64(0)
    implicit = (p[IMPLICIT_WEIGHT] >> (8 * (cycle & 1))) & 0xFF
    for q in range(p[LANES]):
        if from_word and not outside[lanes[LANE_PIXEL, q]]:
            d = np.int64(data[lanes[LANE_DATA, q] + shift])
        else:
            d = (pad >> (8 * lanes[LANE_BYTE, q])) & 0xFF
        w = implicit
        if explicit:
            w = np.int64(weight[lanes[LANE_WEIGHT, q] + step]) ^ toggle
        d -= (d & lanes[LANE_DATA_SIGNED, q]) << 1
        w -= (w & lanes[LANE_WEIGHT_SIGNED, q]) << 1
        word = lanes[LANE_WORD, q]
        pram[word] = np.int32(pram[word] + d * w)


@inlined
def int_run(m: Slice, base: Number, slot: Number) -> None:
    """A run of neighbouring bytes as numbers, in `row`; padding where pixels are outside."""
    run, signed = m.p[RUN], m.lanes[LANE_DATA_SIGNED, 0] != 0
    window, values = m.data[base : base + run], m.row[:run]
    if signed:
        for k in range(run):
            values[k] = np.int8(window[k])
    else:
        for k in range(run):
            values[k] = window[k]
    if slot:
        outside = m.masks[slot]
        pad = np.int32(extend(m.p[PAD_VALUE], 1, signed))
        for k in range(run):
            values[k] = pad if outside[k] else values[k]


@inlined
def multiply_int_runs(m: Slice, shift: Number, slot: Number, step: Number) -> None:
    """multiply_int where each weight meets one run of neighbouring bytes: the fast path."""
    p, lanes = m.p, m.lanes
    run, shared = p[RUN], p[RUN_SHARED] != 0
    values = m.row[:run]
    sign = lanes[LANE_WEIGHT_SIGNED, 0]
    for g in range(p[RUN_GROUPS]):
        if g == 0 or not shared:
            int_run(m, lanes[LANE_DATA, g * run] + shift, slot)
        byte = np.int64(m.weight[lanes[LANE_WEIGHT, g * run] + step])
        w = np.int32(byte - ((byte & sign) << 1))
        sums = m.pram[g * run : g * run + run]
        for k in range(run):
            sums[k] += values[k] * w


@inlined
def float_run(m: Slice, base: Number, slot: Number) -> None:
    """A run of neighbouring bfloat16 as float32, in `reals`; padding where pixels are outside."""
    run = m.p[RUN]
    data, values = m.data, m.reals[:run]
    for k in range(run):
        at = base + 2 * k
        values[k] = from_bfloat(np.int32(data[at]) | np.int32(data[at + 1]) << 8)
    if slot:
        outside = m.masks[slot]
        pad = from_bfloat(m.p[PAD_VALUE])
        for k in range(run):
            values[k] = pad if outside[k] else values[k]


@inlined
def multiply_float_runs(m: Slice, shift: Number, slot: Number, step: Number) -> None:
    """multiply_float where each weight meets one run; the block's sums stay in `sums`."""
    p, lanes = m.p, m.lanes
    run, shared = p[RUN], p[RUN_SHARED] != 0
    values = m.reals[:run]
    for g in range(p[RUN_GROUPS]):
        first = g * run
        if g == 0 or not shared:
            float_run(m, lanes[LANE_DATA, first] + shift, slot)
        at = lanes[LANE_WEIGHT, first] + step
        w = from_bfloat(np.int64(m.weight[at]) | np.int64(m.weight[at + 1]) << 8)
        sums = m.sums[first : first + run]
        for k in range(run):
            sums[k] += values[k] * w


@called
def multiply_float(m: Slice, shift: Number, slot: Number, step: Number, cycle: Number) -> None:
    """P = P + d * w or P * (d * w) in float32; d is bfloat16 or, without weights, float32."""
    p, lanes, pram = m.p, m.lanes, m.pram
    for q in range(p[LANES]):
        bits = datum(m, q, shift, slot)
        d = from_bfloat(bits) if p[DATUM_BYTES] == 2 else float_of(np.int32(bits))
        x = np.float32(d * weight_float(m, q, step, cycle))
        word = lanes[LANE_WORD, q]
        if p[OPERATION] == OP_MULTIPLY:
            if cycle > 0:
                x = np.float32(float_of(pram[word]) * x)
        else:
            x = np.float32(float_of(pram[word]) + x)
        pram[word] = bits_of(x)


@inlined
def float_value(p: Ints, bits: Number) -> Real:
    """A float datum's value: of bfloat16 or float32 bits."""
    return from_bfloat(bits) if p[DATUM_BYTES] == 2 else float_of(np.int32(bits))


@inlined
def replaces(p: Ints, old: Number, new: Number) -> bool:
    """Whether a comparison lets `new` take the place of `old`."""
    operation = p[OPERATION]
    if p[DATUM_FLOAT]:
        a, b = float_value(p, old), float_value(p, new)
        if p[OUTPUT_INDEX] == 0 or p[INVERT]:
            if a != a:
                return False
            if b != b:
                return True
        if operation == OP_GREATER:
            result = a > b
        elif operation == OP_EQUAL:
            result = a == b
        else:
            result = a >= b
    elif operation == OP_GREATER:
        result = old > new
    elif operation == OP_EQUAL:
        result = old == new
    else:
        result = old >= new
    return result != (p[INVERT] != 0)


@called
def whole_datum(m: Slice, shift: Number, slot: Number, step: Number, cycle: Number) -> None:
    """An operation on whole data: logic, extremes and their positions, or the datum as it is."""
    p, lanes, pram, best = m.p, m.lanes, m.pram, m.best
    operation = p[OPERATION]
    for q in range(p[LANES]):
        x = datum(m, q, shift, slot)
        if p[WEIGHTS] == WEIGHTS_EXPLICIT:
            x *= weight_byte(m, q, step)
        signed = lanes[LANE_DATA_SIGNED, q] != 0
        word = lanes[LANE_WORD, q]
        old = np.int64(pram[word])
        if p[CAST_BOOL]:
            x = np.int64(x != 0)
        if operation == OP_AND:
            x &= old
        elif operation == OP_OR:
            x |= old
        elif operation == OP_XOR:
            x = extend(x ^ old, p[DATUM_BYTES], signed) if not p[CAST_BOOL] else x ^ old
        elif operation == OP_MULTIPLY:
            if cycle > 0:
                product = np.float32(float_value(p, old) * float_value(p, x))
                x = np.int64(to_bfloat(product) if p[DATUM_BYTES] == 2 else bits_of(product))
        elif operation != OP_BYPASS and operation != OP_ADD:
            if cycle == 0:
                best[word] = 0
            elif replaces(p, extend(old, 4, signed), x):
                best[word] = cycle
            else:
                x = old
        pram[word] = np.int32(x & 0xFFFFFFFF)


@called
def transpose(m: Slice, cycle: Number) -> None:
    """Packs the bytes of four neighbouring lanes into the word that cycle 0 to 3 fills."""
    for quad in range(64):
        word = np.int64(0)
        for k in range(4):
            word |= np.int64(m.data[m.lanes[LANE_DATA, 4 * quad + k]]) << (8 * k)
        m.pram[4 * quad + cycle] = np.int32(word & 0xFFFFFFFF)
