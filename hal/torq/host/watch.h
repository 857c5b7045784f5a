/* Made of what Python declares: change it there, then run `python -m tests.c_headers`. */

#pragma once

typedef __INT8_TYPE__ i8;
typedef __UINT8_TYPE__ u8;
typedef __INT16_TYPE__ i16;
typedef __UINT16_TYPE__ u16;
typedef __INT32_TYPE__ i32;
typedef __UINT32_TYPE__ u32;
typedef __INT64_TYPE__ i64;
typedef __UINT64_TYPE__ u64;
typedef float f32;
typedef double f64;

enum {
    INSTRUCTION_BYTES = 4,
    WRITE = 17,
    READ = 1,
    WRITTEN = 2,
};

struct fuel;
struct marked;
struct region;

struct fuel {
    u64 used;
    u64 most;
    void *stop;
};
_Static_assert(sizeof(struct fuel) == 24, "as Python has it");

struct region {
    u64 start;
    u64 size;
    u8 *marks;
};
_Static_assert(sizeof(struct region) == 24, "as Python has it");

struct marked {
    u64 count;
    void *regions;
};
_Static_assert(sizeof(struct marked) == 16, "as Python has it");
