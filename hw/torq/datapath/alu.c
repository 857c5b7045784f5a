/* One ALU cycle over the lanes. Integers wrap at 32 bits, floats round to even. */

#pragma once
#include "bits.c"
#include "walk.c"

/* What lanes take, a row of the table of lanes. */
static inline const i64 *lanes_of(const struct slice *m, i64 row) {
    return m->lanes + row * LANE_COUNT;
}

/* The whole datum whose first byte is lane `q`'s, as a number (of floats: the bits). */
static inline i64 datum(const struct slice *m, i64 q, i64 shift, i64 slot) {
    const i64 *p = m->p;
    i64 size = p[DATUM_BYTES], value;
    if (p[DATA_ON] == 0 || m->masks[slot * PIXELS + lanes_of(m, LANE_PIXEL)[q]]) {
        value = p[PAD_VALUE];
        if (size == 4 && !p[DATUM_FLOAT]) value = extend(value, 2, 1);
    } else {
        value = number_at(m->data + lanes_of(m, LANE_DATA)[q] + shift, size);
    }
    return extend(value, size, lanes_of(m, LANE_DATA_SIGNED)[q] != 0);
}

/* The explicit weight of lane number `q`. */
static inline i64 weight_byte(const struct slice *m, i64 q, i64 step) {
    i64 value = m->weight[lanes_of(m, LANE_WEIGHT)[q] + step];
    return value - ((value & lanes_of(m, LANE_WEIGHT_SIGNED)[q]) << 1);
}

/* The bfloat16 weight of lane number `q`, as float32. */
static inline f32 weight_float(const struct slice *m, i64 q, i64 step, i64 cycle) {
    const i64 *p = m->p;
    i64 bits = p[IMPLICIT_WEIGHT];
    if (p[WEIGHTS] == WEIGHTS_EXPLICIT)
        bits = number_at(m->weight + lanes_of(m, LANE_WEIGHT)[q] + step, 2);
    if (p[TOGGLE_MSB] && cycle & 1) bits ^= 0x8000;
    return from_bfloat(bits);
}

/* P = P + d * w in byte lanes, wrapping. */
static void multiply_int(const struct slice *m, i64 shift, i64 slot, i64 step, i64 cycle) {
    const i64 *p = m->p;
    const i64 *from = lanes_of(m, LANE_DATA), *weights = lanes_of(m, LANE_WEIGHT);
    const i64 *words = lanes_of(m, LANE_WORD), *pixels = lanes_of(m, LANE_PIXEL);
    const i64 *bytes = lanes_of(m, LANE_BYTE), *data_sign = lanes_of(m, LANE_DATA_SIGNED);
    const i64 *weight_sign = lanes_of(m, LANE_WEIGHT_SIGNED);
    const u8 *outside = m->masks + slot * PIXELS, *data = m->data + shift;
    const u8 *weight = m->weight + step;
    int from_word = p[DATA_ON] != 0, explicit = p[WEIGHTS] == WEIGHTS_EXPLICIT;
    i64 toggle = p[TOGGLE_LSB] && cycle & 1, pad = p[PAD_VALUE], count = p[LANES];
    i64 implicit = p[IMPLICIT_WEIGHT] >> (8 * (cycle & 1)) & 0xFF;
    for (i64 q = 0; q < count; q++) {
        i64 d = pad >> (8 * bytes[q]) & 0xFF, w = implicit;
        if (from_word && !outside[pixels[q]]) d = data[from[q]];
        if (explicit) w = weight[weights[q]] ^ toggle;
        d -= (d & data_sign[q]) << 1;
        w -= (w & weight_sign[q]) << 1;
        i32 *word = m->pram + words[q];
        *word = (i32)(*word + d * w);
    }
}

/* A run of neighbouring bytes as numbers, in `row`; padding where pixels are outside. */
static inline void int_run(const struct slice *m, i64 base, i64 slot) {
    i64 run = m->p[RUN];
    int is_signed = lanes_of(m, LANE_DATA_SIGNED)[0] != 0;
    const u8 *window = m->data + base, *outside = m->masks + slot * PIXELS;
    i32 *restrict values = m->row;
    if (is_signed)
        for (i64 k = 0; k < run; k++) values[k] = (i8)window[k];
    else
        for (i64 k = 0; k < run; k++) values[k] = window[k];
    if (!slot) return;
    i32 pad = (i32)extend(m->p[PAD_VALUE], 1, is_signed);
    for (i64 k = 0; k < run; k++) values[k] = outside[k] ? pad : values[k];
}

/* multiply_int where each weight meets one run of neighbouring bytes: the fast path. */
static inline void multiply_int_runs(const struct slice *m, i64 shift, i64 slot, i64 step) {
    const i64 *p = m->p, *from = lanes_of(m, LANE_DATA), *weights = lanes_of(m, LANE_WEIGHT);
    i64 run = p[RUN], groups = p[RUN_GROUPS], sign = lanes_of(m, LANE_WEIGHT_SIGNED)[0];
    int shared = p[RUN_SHARED] != 0;
    for (i64 g = 0; g < groups; g++) {
        if (g == 0 || !shared) int_run(m, from[g * run] + shift, slot);
        i64 byte = m->weight[weights[g * run] + step];
        u32 w = (u32)(byte - ((byte & sign) << 1));
        const i32 *values = m->row;
        i32 *restrict sums = m->pram + g * run;
        for (i64 k = 0; k < run; k++) sums[k] = (i32)((u32)sums[k] + (u32)values[k] * w);
    }
}

/* A run of neighbouring bfloat16 as float32, in `reals`; padding where pixels are outside. */
static inline void float_run(const struct slice *m, i64 base, i64 slot) {
    i64 run = m->p[RUN];
    const u8 *data = m->data + base, *outside = m->masks + slot * PIXELS;
    f32 *restrict values = m->reals;
    for (i64 k = 0; k < run; k++)
        values[k] = float_of((i32)((u32)data[2 * k] << 16 | (u32)data[2 * k + 1] << 24));
    if (!slot) return;
    f32 pad = from_bfloat(m->p[PAD_VALUE]);
    for (i64 k = 0; k < run; k++) values[k] = outside[k] ? pad : values[k];
}

/* multiply_float where each weight meets one run; the block's sums stay in `sums`. */
static inline void multiply_float_runs(const struct slice *m, i64 shift, i64 slot, i64 step) {
    const i64 *p = m->p, *from = lanes_of(m, LANE_DATA), *weights = lanes_of(m, LANE_WEIGHT);
    i64 run = p[RUN], groups = p[RUN_GROUPS];
    int shared = p[RUN_SHARED] != 0;
    for (i64 g = 0; g < groups; g++) {
        i64 first = g * run;
        if (g == 0 || !shared) float_run(m, from[first] + shift, slot);
        f32 w = from_bfloat(number_at(m->weight + weights[first] + step, 2));
        const f32 *values = m->reals;
        f32 *restrict sums = m->sums + first;
        for (i64 k = 0; k < run; k++) sums[k] += values[k] * w;
    }
}

/* A float datum's value: of bfloat16 or float32 bits. */
static inline f32 float_value(const i64 *p, i64 bits) {
    return p[DATUM_BYTES] == 2 ? from_bfloat(bits) : float_of((i32)bits);
}

/* P = P + d * w or P * (d * w) in float32; d is bfloat16 or, without weights, float32. */
static void multiply_float(const struct slice *m, i64 shift, i64 slot, i64 step, i64 cycle) {
    const i64 *p = m->p, *words = lanes_of(m, LANE_WORD);
    for (i64 q = 0; q < p[LANES]; q++) {
        f32 x = float_value(p, datum(m, q, shift, slot)) * weight_float(m, q, step, cycle);
        i32 *word = m->pram + words[q];
        if (p[OPERATION] != OP_MULTIPLY)
            x = float_of(*word) + x;
        else if (cycle > 0)
            x = float_of(*word) * x;
        *word = bits_of(x);
    }
}

/* Whether a comparison lets `new` take the place of `old`. */
static inline int replaces(const i64 *p, i64 old, i64 new) {
    int result, invert = p[INVERT] != 0;
    if (p[DATUM_FLOAT]) {
        f32 a = float_value(p, old), b = float_value(p, new);
        if (p[OUTPUT_INDEX] == 0 || invert) {
            if (a != a) return 0;
            if (b != b) return 1;
        }
        result = p[OPERATION] == OP_GREATER ? a > b : p[OPERATION] == OP_EQUAL ? a == b : a >= b;
    } else {
        result = p[OPERATION] == OP_GREATER ? old > new
                 : p[OPERATION] == OP_EQUAL ? old == new : old >= new;
    }
    return result != invert;
}

/* What becomes of a word of partial sums when a whole datum meets it. */
static inline i64 combined(const struct slice *m, i64 x, i64 word, i64 cycle, int is_signed) {
    const i64 *p = m->p;
    i64 old = m->pram[word];
    switch (p[OPERATION]) {
    case OP_BYPASS:
    case OP_ADD: return x;
    case OP_AND: return x & old;
    case OP_OR: return x | old;
    case OP_XOR: return p[CAST_BOOL] ? x ^ old : extend(x ^ old, p[DATUM_BYTES], is_signed);
    case OP_MULTIPLY:
        if (cycle == 0) return x;
        f32 result = float_value(p, old) * float_value(p, x);
        return p[DATUM_BYTES] == 2 ? to_bfloat(result) : bits_of(result);
    default:
        if (cycle == 0) {
            m->best[word] = 0;
            return x;
        }
        if (!replaces(p, extend(old, 4, is_signed), x)) return old;
        m->best[word] = cycle;
        return x;
    }
}

/* An operation on whole data: logic, extremes and their positions, or the datum as it is. */
static void whole_datum(const struct slice *m, i64 shift, i64 slot, i64 step, i64 cycle) {
    const i64 *p = m->p, *words = lanes_of(m, LANE_WORD);
    for (i64 q = 0; q < p[LANES]; q++) {
        i64 x = datum(m, q, shift, slot);
        if (p[WEIGHTS] == WEIGHTS_EXPLICIT) x = product(x, weight_byte(m, q, step));
        if (p[CAST_BOOL]) x = x != 0;
        int is_signed = lanes_of(m, LANE_DATA_SIGNED)[q] != 0;
        m->pram[words[q]] = (i32)combined(m, x, words[q], cycle, is_signed);
    }
}

/* Packs the bytes of four neighbouring lanes into the word that cycle 0 to 3 fills. */
static void transpose(const struct slice *m, i64 cycle) {
    const i64 *from = lanes_of(m, LANE_DATA);
    for (int quad = 0; quad < LANE_COUNT / 4; quad++) {
        u32 word = 0;
        for (int k = 0; k < 4; k++) word |= (u32)m->data[from[4 * quad + k]] << (8 * k);
        m->pram[4 * quad + cycle] = (i32)word;
    }
}
