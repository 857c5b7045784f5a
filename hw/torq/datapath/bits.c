/* Number formats as bits: integers of a few bytes, float32 and bfloat16. What wraps is computed
 * without signs. */

#pragma once
#include "slice.h"

#define LEAST(a, b) ((a) < (b) ? (a) : (b))
#define MOST(a, b) ((a) > (b) ? (a) : (b))

static inline i64 left(i64 value, i64 shift) { return (i64)((u64)value << shift); }
static inline i64 product(i64 a, i64 b) { return (i64)((u64)a * (u64)b); }
static inline i64 sum(i64 a, i64 b) { return (i64)((u64)a + (u64)b); }

static inline f32 float_of(i32 bits) {
    union { i32 bits; f32 value; } both = {.bits = bits};
    return both.value;
}

static inline i32 bits_of(f32 value) {
    union { f32 value; i32 bits; } both = {.value = value};
    return both.bits;
}

static inline f32 from_bfloat(i64 bits) { return float_of((i32)((u32)bits << 16)); }

/* Rounded to nearest, ties to even; 16 bits. */
static inline i64 to_bfloat(f32 value) {
    u32 bits = (u32)bits_of(value);
    if ((bits & 0x7FFFFFFF) > 0x7F800000) return bits >> 16 | 0x40;
    return ((u64)bits + 0x7FFF + (bits >> 16 & 1)) >> 16 & 0xFFFF;
}

/* The low `size` bytes (1, 2 or 4) as a number. */
static inline i64 extend(i64 value, i64 size, int is_signed) {
    i64 bits = 8 * size, low = value & (((i64)1 << bits) - 1);
    return is_signed && low >> (bits - 1) ? low - ((i64)1 << bits) : low;
}

/* `size` bytes, the lowest first. */
static inline i64 number_at(const u8 *bytes, i64 size) {
    i64 value = 0;
    for (i64 k = 0; k < size; k++) value |= (i64)bytes[k] << (8 * k);
    return value;
}
