/* DEQW: results to their places in LRAM. */

#pragma once
#include "bits.c"
#include "walk.c"

static inline void copy(u8 *to, const u8 *from, i64 size) {
    for (i64 k = 0; k < size; k++) to[k] = from[k];
}

/* How far from the plane's start a row lies. */
static inline i64 row_start(const i64 *p, i64 y) {
    return (y & 1) * p[ROW_STEP] + (y >> 1) * p[ROW_PAIR_STEP];
}

/* Where in a split row a pixel lies. */
static inline i64 split_at(const i64 *p, i64 x) {
    return (x >> 1) * p[PIXEL_BYTES] + (x & 1) * p[SPLIT_STRIDE];
}

/* Writes the pixels of one transfer, row by row as they fall; returns as `write`. */
static i64 write_plane(const struct slice *m, i64 base) {
    const i64 *p = m->p;
    i64 unit = p[PIXEL_BYTES], width = p[PLANE_X], count = p[WRITE_BYTES] / unit;
    i64 first = state_of(m, DEQW)[PIXEL] * count;
    i64 y = first / width, x = first % width, row = base + row_start(p, y);
    for (i64 k = 0; k < LEAST(count, p[PLANE_PIXELS] - first); k++) {
        i64 at = row + (p[SPLIT] ? split_at(p, x) : x * unit);
        if (is_outside(m, at, unit)) return at;
        copy(m->lram + at, m->word + k * unit, unit);
        if (++x < width) continue;
        x = 0;
        row = base + row_start(p, ++y);
    }
    return -1;
}

/* Even pixels here and odd ones there. */
static i64 write_split(const struct slice *m, i64 base) {
    i64 unit = m->p[PIXEL_BYTES], count = m->p[WRITE_BYTES] / unit;
    for (i64 k = 0; k < count; k++) {
        i64 at = base + split_at(m->p, k);
        if (is_outside(m, at, unit)) return at;
        copy(m->lram + at, m->word + k * unit, unit);
    }
    return -1;
}

/* Writes one transfer; returns -1, or the address that is not in LRAM. Bytes of pixels beyond the
 * end of a plane are dropped. */
static inline i64 write(const struct slice *m, i64 offset) {
    const i64 *p = m->p;
    i64 base = state_of(m, DEQW)[AT] + offset, size = p[WRITE_BYTES];
    if (p[PLANE]) return write_plane(m, base);
    if (p[SPLIT] && !p[SPLIT_HALVES]) return write_split(m, base);
    i64 half = p[SPLIT] ? size / 2 : size, second = base + p[SPLIT_STRIDE];
    if (is_outside(m, base, half)) return base;
    copy(m->lram + base, m->word, half);
    if (half == size) return -1;
    if (is_outside(m, second, half)) return second;
    copy(m->lram + second, m->word + half, half);
    return -1;
}
