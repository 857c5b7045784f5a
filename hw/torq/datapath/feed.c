/* What feeds the ALU: data and weight words, masks of padding. */

#pragma once
#include "bits.c"
#include "walk.c"

enum {
    SEGMENT = 72, /* bytes of one segment of the data memory before the ALU (IRAM) */
    SPACE = 1 << 24
};

/* Data bytes to the data memory; beyond the end of LRAM come zeros (nobody may store them).
 * Returns whether at least one byte was inside, or the window's border explains why none was. */
static inline int fetch_group(const struct slice *m, i64 at, i64 size, i64 to) {
    const u8 *lram = m->lram;
    u8 *target = m->data + to;
    i64 limit = m->lram_size;
    at &= SPACE - 1;
    i64 low = at > SPACE - (1 << 20) ? at - SPACE : at;
    if (low >= 0 && low + size <= limit) {
        for (i64 k = 0; k < size; k++) target[k] = lram[low + k];
        return 1;
    }
    for (i64 k = 0; k < size; k++)
        target[k] = 0 <= low + k && low + k < limit ? lram[low + k] : 0;
    return low + size > -m->p[HALO] && low < limit + m->p[HALO];
}

/* One segment, group by group; gathered ones at the index that DEDR1 stands at. */
static inline int fetch_segment(const struct slice *m, i64 segment) {
    const i64 *p = m->p, *state = state_of(m, DEDR), *indices = state_of(m, DEDR1);
    i64 size = p[WORD_BYTES];
    for (i64 g = 0; g < p[GROUPS]; g++) {
        i64 at = state[AT] + g * p[GROUP_STRIDE];
        if (p[GATHER]) {
            i64 index = indices[AT], width = p[INDEX_SIZE];
            if (indices[THROUGH]) return fail(m, RAN_DRY, DEDR1, 0, 0);
            if (is_outside(m, index, p[INDEX_BYTES]))
                return fail(m, OUT_OF_RANGE, DEDR1, index, p[INDEX_BYTES]);
            at += extend(number_at(m->lram + index + g * width, width), width, 1);
        }
        if (!fetch_group(m, at, size, segment * SEGMENT + g * p[GROUP_PITCH]))
            return fail(m, OUT_OF_RANGE, DEDR, at, size);
    }
    return 1;
}

/* Fills the data memory for its next use: one transfer for each segment. */
static inline int fetch_data(const struct slice *m) {
    const i64 *p = m->p, *state = state_of(m, DEDR);
    i64 *window = m->window;
    for (i64 segment = 0; segment < p[SEGMENTS]; segment++) {
        if (state[THROUGH]) return fail(m, RAN_DRY, DEDR, 0, 0);
        if (segment == 0)
            for (int k = PIXEL; k <= COLUMN_PARITY; k++) window[k] = state[k];
        if (!fetch_segment(m, segment)) return 0;
        go_on(m, DEDR);
        if (!p[GATHER]) continue;
        window[GATHERED]++;
        if (window[GATHERED] == p[UNIT]) {
            window[GATHERED] = 0;
            go_on(m, DEDR1);
        } else if (p[INDEX_UNIT] > 1) {
            go_on(m, DEDR1);
        }
    }
    return 1;
}

/* Compressed weights: each code of some bits stands for a value of `WEIGHT_OUT` bytes. */
static inline int expand_weights(const struct slice *m, i64 at, u8 *target) {
    i64 bits = m->p[WEIGHT_BITS], unit = m->p[WEIGHT_OUT];
    i64 first = at * (bits == 8 ? 8 : 1), count = m->p[WEIGHT_BYTES] / unit;
    if (first < 0 || (first + count * bits + 7) / 8 > m->lram_size)
        return fail(m, OUT_OF_RANGE, DEWR, first >> 3, count);
    for (i64 k = 0; k < count; k++) {
        i64 code = 0;
        for (i64 j = 0; j < bits; j++) {
            i64 bit = first + k * bits + j;
            code |= (i64)(m->lram[bit >> 3] >> (bit & 7) & 1) << j;
        }
        i64 value = m->expansion[code];
        for (i64 j = 0; j < unit; j++) target[k * unit + j] = (u8)(value >> (8 * j));
    }
    return 1;
}

/* Fills the weight memory for its next use. */
static inline int fetch_weights(const struct slice *m) {
    i64 size = m->p[WEIGHT_BYTES], to = 0;
    const i64 *state = state_of(m, DEWR);
    for (i64 transfer = 0; transfer < m->p[WEIGHT_TRANSFERS]; transfer++, to += size) {
        i64 at = state[AT];
        if (state[THROUGH]) return fail(m, RAN_DRY, DEWR, 0, 0);
        if (m->p[WEIGHT_BITS] == 0) {
            if (is_outside(m, at, size)) return fail(m, OUT_OF_RANGE, DEWR, at, size);
            for (i64 k = 0; k < size; k++) m->weight[to + k] = m->lram[at + k];
        } else if (!expand_weights(m, at, m->weight + to)) {
            return 0;
        }
        go_on(m, DEWR);
    }
    return 1;
}

/* The plane's x and y of each pixel of the current data word; forgets the masks of others. */
static void place_pixels(const struct slice *m) {
    i64 first = m->window[PIXEL] * m->p[WORD_PIXELS], width = m->p[PLANE_WIDTH];
    if (m->known[MASKS] == first) return;
    for (int k = 0; k < MASKS; k++) m->known[k] = 0;
    m->known[MASKS] = first;
    i64 x = first % width, y = first / width;
    for (int k = 0; k < PIXELS; k++) {
        m->xs[k] = x;
        m->ys[k] = y;
        if (++x == width) x = 0, y++;
    }
}

/* Whether the tap that is `move` to the right in a row lies outside of the plane, from a pixel. */
static inline int is_padding(const struct slice *m, int pixel, i64 move, i64 row, i64 parity) {
    const i64 *p = m->p;
    i64 x = m->xs[pixel] + move, width = p[PLANE_WIDTH];
    if ((p[MASK_LEFT] && x < 0) || (p[MASK_RIGHT] && x >= width)) return 1;
    if (!p[MASK_ROWS]) return 0;
    i64 y = m->ys[pixel] + row;
    i64 low = (y - parity * p[ROW_DISTANCE]) * width + p[BORDER_LEFT];
    i64 high = (y - parity * p[ROW_END_DISTANCE]) * width + p[BORDER_LEFT];
    return low < p[ROWS_FROM] || high > p[ROWS_TO];
}

/* The row of `masks` that marks the pixels whose tap lies outside of the plane; row 0 marks none.
 * A kernel's taps come again for every channel, so masks are kept until the pixels change: `known`
 * is 0 (not yet), 1 (marks some) or 2 (none). */
static i64 mask(const struct slice *m, i64 shift) {
    const i64 *p = m->p, *window = m->window;
    i64 column_parity = window[COLUMN_PARITY], row_parity = window[ROW_PARITY];
    i64 tap = 3 * window[COLUMN] + shift, row = window[ROW];
    i64 slot = 1 + ((row & 7) * 4 + row_parity * 2 + column_parity) * 16 + (tap & 15);
    if (m->known[slot] == 0 || row > 7 || tap > 15) {
        i64 move = tap - (p[BORDER_LEFT] - column_parity * p[COLUMN_DISTANCE]);
        int found = 0;
        for (int k = 0; k < PIXELS; k++) {
            int out = is_padding(m, k, move, row, row_parity);
            m->masks[slot * PIXELS + k] = (u8)out;
            found |= out;
        }
        m->known[slot] = found ? 1 : 2;
    }
    return m->known[slot] == 1 ? slot : 0;
}

/* How many shifts a data word serves; `sequence` counts the words of a kernel's row. */
i64 steps_of_word(const i64 *p, i64 sequence) {
    i64 groups = p[COLUMN_GROUPS];
    int odd = p[PARITIES] > 1 && sequence >= groups;
    i64 last = odd ? 2 * groups - 1 - p[COLUMN_BREAK] : groups - 1;
    if (sequence < last) return p[STEPS];
    return p[STEPS] - (odd ? p[BREAK_ODD] : p[BREAK_EVEN]);
}

/* Data words of one row of the kernel. */
i64 words_of_row(const i64 *p) {
    return p[COLUMN_GROUPS] * p[PARITIES] - (p[PARITIES] > 1 ? p[COLUMN_BREAK] : 0);
}

/* The data of the next ALU cycle: how many steps into the word, or -1 when that failed. */
static inline i64 next_data(const struct slice *m) {
    const i64 *p = m->p;
    i64 *used = m->used;
    if (used[DATA_LEFT] == 0) {
        if (!fetch_data(m)) return -1;
        used[DATA_STEP] = used[DATA_REPEAT] = 0;
        used[DATA_SEQUENCE]++;
        if (used[DATA_SEQUENCE] >= words_of_row(p)) used[DATA_SEQUENCE] = 0;
        used[DATA_STEPS] = steps_of_word(p, used[DATA_SEQUENCE]);
        used[DATA_LEFT] = used[DATA_STEPS] * p[REPEAT_STEP] * p[REPEAT_WORD];
        if (p[MASKED]) place_pixels(m);
    }
    i64 step = used[DATA_STEP];
    used[DATA_LEFT]--;
    if (++used[DATA_REPEAT] == p[REPEAT_STEP]) {
        used[DATA_REPEAT] = 0;
        if (++used[DATA_STEP] == used[DATA_STEPS]) used[DATA_STEP] = 0;
    }
    return step;
}

/* The weights of the next ALU cycle: how many steps into the word, or -1 when that failed. */
static inline i64 next_weights(const struct slice *m) {
    const i64 *p = m->p;
    i64 *used = m->used;
    if (used[WEIGHT_LEFT] == 0) {
        if (!fetch_weights(m)) return -1;
        used[WEIGHT_STEP_NOW] = used[WEIGHT_REPEAT] = 0;
        used[WEIGHT_LEFT] = p[WEIGHT_STEPS] * p[WEIGHT_REPEAT_STEP] * p[WEIGHT_REPEAT_WORD];
    }
    i64 step = used[WEIGHT_STEP_NOW];
    used[WEIGHT_LEFT]--;
    if (++used[WEIGHT_REPEAT] == p[WEIGHT_REPEAT_STEP]) {
        used[WEIGHT_REPEAT] = 0;
        if (++used[WEIGHT_STEP_NOW] == p[WEIGHT_STEPS]) used[WEIGHT_STEP_NOW] = 0;
    }
    return step;
}
