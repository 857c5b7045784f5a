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

#define LANES 32
#define HANDLE_SHIFT 48
#define OFFSET_MASK 281474976710655ull
#define THREADGROUP_HANDLE 1
#define PRIVATE_LINES 4398046511104ull
#define LINE_BYTES 128
#define BANKS 32
#define BANK_BYTES 4
#define LANES_SHIFT 32
#define FIELD_MASK 255
#define LINES_SHIFT 0
#define WORDS_SHIFT 8
#define WAYS_SHIFT 16
#define SHARING_SHIFT 24
#define BYTES_SHIFT 32
#define FIRST_ROW_SHIFT 42
#define LAST_ROW_SHIFT 50
#define CONSECUTIVE 1099511627776ull
#define CACHED 2199023255552ull

struct context;
struct segment;
struct table_entry;
struct tape_writer;
struct watch;

struct table_entry {
    u8 *host;
    u64 size;
};
_Static_assert(sizeof(struct table_entry) == 16, "as Python has it");

struct context {
    struct table_entry *table;
    u64 *arguments;
    u8 *arena;
    u8 *private_memory;
    u8 *scratch;
    i32 *fault;
    i32 *stop;
    u8 *states;
    i64 state_stride;
    i64 fuel;
    u8 *constants;
    u64 arena_size;
    i64 constants_size;
    i64 private_size;
    u8 *private_all;
    u32 threadgroups[3];
    i32 threads[3];
    i32 origin[3];
    i32 box[3];
    u32 position[3];
    u32 simdgroup;
    i64 grid_threads;
    struct watch *watch;
    u32 *order;
    i32 fill;
    u8 *arena_shadow;
    u64 *shadows;
    i64 floor;
    u8 *read_only;
    struct tape_writer *tape_writer;
    u8 *reached;
};
_Static_assert(sizeof(struct context) == 264, "as Python has it");

struct segment {
    u64 *start;
    u64 stream;
};
_Static_assert(sizeof(struct segment) == 16, "as Python has it");

struct tape_writer {
    u64 *position;
    u64 *limit;
    u64 *spare;
    u64 *end;
    struct segment *segments;
    u64 segment_count;
    u64 segment_limit;
    u64 full;
    u64 group;
    u64 simdgroups;
    u64 private_rows;
    u64 private_line;
};
_Static_assert(sizeof(struct tape_writer) == 96, "as Python has it");
