/* The activation unit on one vector of partial sums. */

#pragma once
#include "bits.c"

enum { AMOUNTS = 8 /* in shift modes: the word of a vector where the shift amounts start */ };

/* `value` shifted right; `start` is what it was before scaling (its sign matters to DOUBLE). */
static inline i64 shift_rounded(i64 value, i64 start, i64 shift, i64 rounding) {
    if (shift == 0) return value;
    if (rounding == TRUNCATE) return value >> shift;
    i64 half = left(1, shift - 1);
    if (rounding == NEAREST_EVEN) {
        i64 down = value >> shift, rest = value - left(down, shift);
        return down + (rest > half || (rest == half && down & 1));
    }
    if (rounding == DOUBLE && shift > 31) half += start >= 0 ? 1 << 30 : -(1 << 30);
    return sum(value, half) >> shift;
}

/* The table's line through a 16-bit number with 7 bits behind the point. */
static inline i64 look_up(const struct slice *m, i64 value) {
    i64 v = LEAST(MOST(value, -32768), 32767), index = (v >> 7) + 256;
    return m->base[index] + ((m->slope[index] * (v & 127) + 64) >> 7);
}

/* Bias and scale of a result. */
struct line {
    i64 bias, scale;
};

/* Those of result `k` from the bytes of a bias word. */
static inline struct line line_of(const struct slice *m, i64 k) {
    const u8 *at = m->bias + (m->p[BIAS_BYTES] / 8 <= 1 ? 0 : 8 * k);
    return (struct line){(i32)number_at(at, 4), (i32)number_at(at + 4, 4)};
}

/* A float32 as the bits of a result of 2 or 4 bytes. */
static inline i64 store_float(const i64 *p, f32 value) {
    return p[RESULT_BYTES] == 2 ? to_bfloat(value) : bits_of(value);
}

/* The sum of a group of lanes, each shifted as its number in four says. */
static inline i64 total_of(const struct slice *m, i64 first, i64 k) {
    const i64 *p = m->p;
    i64 total = 0, group = p[SUM_GROUP];
    for (i64 j = 0; j < group; j++) {
        i64 lane = k * group + j;
        total = sum(total, left(m->pram[first + lane * p[PARTIAL_STEP]], p[SHIFT0 + (lane & 3)]));
    }
    return total;
}

static inline i64 leading_zeros(i64 total, i64 act_width) {
    i64 width = 8 << LEAST(act_width, 2), count = width;
    for (i64 low = total & (((i64)1 << width) - 1); low; low >>= 1) count--;
    return count;
}

/* Result number `k`: sum, bias, scale, shift, zero point, clip. */
static inline i64 integer(const struct slice *m, i64 first, i64 k) {
    const i64 *p = m->p;
    i64 mode = p[ACT_MODE], total = total_of(m, first, k);
    if (mode == NEGATE || (mode == ABS && total < 0)) total = product(total, -1);
    if (mode == LEADING_ZEROS) total = leading_zeros(total, p[ACT_WIDTH]);
    i64 value = total;
    if (p[BIAS_ON]) {
        struct line line = line_of(m, k);
        total = sum(total, line.bias);
        value = product(total, line.scale);
    }
    value = sum(shift_rounded(value, total, p[RIGHT_SHIFT], p[ROUNDING]), p[ZERO_POINT]);
    value = LEAST(MOST(value, p[CLIP_MIN]), p[CLIP_MAX]);
    if (p[TABLE_ON]) {
        value = look_up(m, value);
        if (p[RESULT_BYTES] == 1) value >>= 8;
    }
    return mode == CONVERT ? store_float(p, (f32)value) : value;
}

/* `integer` for a vector of single sums with one bias and scale and nothing else to do. */
static inline void plain(const struct slice *m, i64 first) {
    const i64 *p = m->p;
    const i32 *pram = m->pram + first;
    struct line line = p[BIAS_ON] ? line_of(m, 0) : (struct line){0, 1};
    i64 shift = p[RIGHT_SHIFT], zero = p[ZERO_POINT], low = p[CLIP_MIN], high = p[CLIP_MAX];
    i64 half = shift ? left(1, shift - 1) : 0, step = p[PARTIAL_STEP], count = p[RESULTS];
    i64 *restrict out = m->out;
    for (i64 k = 0; k < count; k++) {
        i64 value = product(pram[k * step] + line.bias, line.scale);
        value = sum(sum(value, half) >> shift, zero);
        value = MOST(value, low);
        out[k] = LEAST(value, high);
    }
}

static inline f64 rounded_down(f64 value) {
    f64 whole = (f64)(i64)value;
    return whole > value ? whole - 1 : whole;
}

/* To nearest, ties to even: a number this large has no room for a fraction. */
static inline f64 rounded_to_even(f64 value) {
    f64 large = value < 0 ? -0x1p52 : 0x1p52;
    return (value + large) - large;
}

/* A float as 32-bit integer: rounded, kept in range; NaN is 0. */
static inline i64 to_integer(f32 value, i64 rounding) {
    if (value != value) return 0;
    f64 wide = value;
    if (-4e9 < wide && wide < 4e9) {
        if (rounding == TRUNCATE)
            wide = (f64)(i64)wide;
        else if (rounding == NEAREST_EVEN)
            wide = rounded_to_even(wide);
        else
            wide = rounded_down(wide + 0.5);
    }
    return (i64)LEAST(MOST(wide, -2147483648.0), 2147483647.0);
}

/* Towards infinity or minus infinity; what has no fraction stays. `bits` has the sign. */
static inline f32 rounded_up_or_down(f32 value, int up, i32 bits) {
    if (!(-8388608.0f < value && value < 8388608.0f)) return value;
    f32 whole = (f32)(i32)value;
    if (up && whole < value) whole += 1;
    if (!up && whole > value) whole -= 1;
    return whole == 0 ? (bits < 0 ? -0.0f : 0.0f) : whole;
}

/* Result number `k` of a float task: bias, clip, conversion. */
static inline i64 floating(const struct slice *m, i64 first, i64 k) {
    const i64 *p = m->p;
    i32 bits = m->pram[first + k * p[SUM_GROUP] * p[PARTIAL_STEP]];
    f32 value = p[ACT_WIDTH] == NARROW ? from_bfloat(bits) : float_of(bits);
    i64 mode = p[ACT_MODE];
    if (mode == ABS) value = float_of(bits_of(value) & 0x7FFFFFFF);
    if (mode == NEGATE) value = -value;
    if (mode == CEIL || mode == FLOOR) value = rounded_up_or_down(value, mode == CEIL, bits);
    if (p[BIAS_ON])
        value += float_of((i32)number_at(m->bias + (p[BIAS_BYTES] <= 4 ? 0 : 4 * k), 4));
    f32 low = float_of((i32)p[CLIP_MIN]), high = float_of((i32)p[CLIP_MAX]);
    if (value < low) value = low;
    if (value > high) value = high;
    return p[TO_INTEGER] ? to_integer(value, p[ROUNDING]) : store_float(p, value);
}

/* Result number `k` of a shift: elements packed in words, amounts in the words behind. */
static inline i64 shifted(const struct slice *m, i64 first, i64 k) {
    const i64 *p = m->p;
    i64 size = (i64)1 << p[ACT_WIDTH], per_word = 4 / size, mode = p[ACT_MODE];
    i64 at = first + k / per_word * p[PARTIAL_STEP], move = 8 * size * (k % per_word);
    i64 word = (u32)m->pram[at], amounts = (u32)m->pram[at + AMOUNTS * p[PARTIAL_STEP]];
    i64 value = extend(word >> move, size, mode == SHIFT_ARITHMETIC);
    i64 amount = LEAST(extend(amounts >> move, size, 0), 62);
    if (mode == SHIFT_LEFT) return amount < 8 * size ? left(value, amount) : 0;
    if (p[ROUNDING] != TRUNCATE && amount > 0) value += (i64)1 << (amount - 1);
    return value >> amount;
}

/* The results of one vector of a block, in `out`; how many is p[RESULTS]. */
static void activate(const struct slice *m, i64 vector) {
    const i64 *p = m->p;
    i64 first = vector * p[VECTOR_STEP], mode = p[ACT_MODE];
    if (p[ACT_PLAIN]) {
        plain(m, first);
        return;
    }
    for (i64 k = 0; k < p[RESULTS]; k++) {
        if (SHIFT_LEFT <= mode && mode <= SHIFT_ARITHMETIC)
            m->out[k] = shifted(m, first, k);
        else
            m->out[k] = p[ACT_FLOAT] ? floating(m, first, k) : integer(m, first, k);
    }
}
