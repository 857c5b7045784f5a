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

#define PAGE 4096
#define REGIONS 1024
#define FAULTS 65536
#define OPENED 64
#define STEPS 4096
#define STRAYS 1000
#define LEVEL_FREE 0
#define LEVEL_OPEN 1
#define LEVEL_READ_ONLY 2

struct fault;
struct guard;
struct opened;
struct region;

struct region {
    u64 start;
    u64 size;
    u64 level;
    u64 fault_count;
};
_Static_assert(sizeof(struct region) == 32, "as Python has it");

struct fault {
    u64 address;
    u32 is_write;
    u32 thread;
};
_Static_assert(sizeof(struct fault) == 16, "as Python has it");

struct opened {
    u64 page;
    u32 thread;
    u32 unused;
};
_Static_assert(sizeof(struct opened) == 16, "as Python has it");

struct guard {
    u64 protect;
    u64 set_handler;
    u64 thread_id;
    u64 ask;
    u64 answer;
    u64 holds_python;
    u64 locate;
    u64 stop_collecting;
    u64 collect;
    u64 before_fault;
    u64 before_trap;
    u64 fault_count;
    u32 is_asked;
    u32 stray_count;
    struct region regions[1024];
    struct fault faults[65536];
    struct opened opened[64];
};
_Static_assert(sizeof(struct guard) == 1082472, "as Python has it");
