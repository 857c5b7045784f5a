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
#define TYPE_MASK 3
#define NUMBER_MASK 1073741823
#define NUMBER_SHIFT 2
#define LANES_SHIFT 32
#define FIELD_MASK 255
#define LINES_SHIFT 0
#define WORDS_SHIFT 8
#define WAYS_SHIFT 16
#define SHARING_SHIFT 24
#define CONSECUTIVE 1099511627776ull
#define CACHED 2199023255552ull
#define ACCESS_EVENT 1
#define PRIVATE_HANDLE 2
#define PRIVATE_SHIFT 41
#define LINE 128
#define SOURCES 4
#define CATEGORIES 9
#define CAUSES 11
#define UNIT 11
#define QUEUES 6
#define TICKS 256
#define PARTITIONS 4
#define MARKS 1024
#define REUSE 8

enum {
    ISSUE = 0,
    DEPENDENCY = 1,
    L1 = 2,
    L2 = 3,
    SLC = 4,
    DRAM = 5,
    THREADGROUP_MEMORY = 6,
    BARRIER = 7,
    ATOMIC = 8,
    LAUNCH = 9,
    IDLE = 10,
};
enum {
    AT_THREADGROUP_MEMORY = 0,
    AT_L1 = 1,
    AT_L2 = 2,
    AT_SLC = 3,
    AT_DRAM = 4,
};
enum {
    L1_PORT = 0,
    L2_PORT = 1,
    SLC_PORT = 2,
    DRAM_PORT = 3,
    THREADGROUP_MEMORY_PORT = 4,
    ATOMIC_PORT = 5,
};
enum {
    ACCESSES = 0,
    SERVED = 1,
    WAYS = 2,
};
enum {
    ARITHMETIC = 0,
    CACHED_LOAD = 1,
    CACHED_STORE = 2,
    CACHED_ATOMIC = 3,
    PRIVATE_ACCESS = 4,
    THREADGROUP_ACCESS = 5,
    THREADGROUP_ATOMIC = 6,
    WAIT_ALL = 7,
    WAIT_COPIES = 8,
    COPY_FROM_CACHED = 9,
    COPY_TO_CACHED = 10,
    COPY_FROM_THREADGROUP = 11,
    COPY_TO_THREADGROUP = 12,
};

struct job;
struct line;
struct op;
struct slice;

struct op {
    i32 sources[4];
    i32 destination;
    i32 access;
    i32 place;
    i32 flops;
    i32 kind;
};
_Static_assert(sizeof(struct op) == 36, "as Python has it");

struct slice {
    i64 begin;
    i64 end;
    i32 partition;
    i32 threadgroup;
    i32 simdgroup;
    i32 cause;
    i32 place;
    i32 awaited;
    i32 met;
    i32 unused;
};
_Static_assert(sizeof(struct slice) == 48, "as Python has it");

struct job {
    i32 *starts;
    struct op *ops;
    i32 *move_starts;
    i32 *moves;
    i64 *block_issued;
    i64 *block_flops;
    u8 *site_does;
    u8 *class_does;
    u8 *class_pipe;
    u8 *class_width;
    i64 *class_turn;
    i64 *class_issue;
    i64 *class_busy;
    i64 *class_latency;
    i64 *class_after;
    i64 *reuse;
    u64 *words;
    i64 *stream_starts;
    u64 *known;
    i64 *access_starts;
    u16 *site_shares;
    i64 *category_weight;
    i64 *category_payers;
    i64 *category_sector_payers;
    i64 *category_l2;
    i64 *category_slc;
    i64 *capacity;
    struct line *lines;
    i32 *buckets;
    i64 *ring;
    void *simdgroups;
    void *groups;
    void *registers;
    i64 *access_at;
    void *slices;
    i64 *flights;
    i64 *counters;
    i64 *counters_before;
    i64 *counters_learned;
    i64 *cycles;
    i64 *site_cycles;
    i64 *pipe_cycles;
    i64 *bytes;
    i64 *group_begin;
    i64 *group_end;
    i64 *group_instructions;
    i64 *busy;
    i64 *banks;
    i64 *marks;
    i64 register_count;
    i64 access_limit;
    i64 class_count;
    i64 group_count;
    i64 per_group;
    i64 resident;
    i64 bucket_mask;
    i64 outstanding;
    i64 queue;
    i64 active_cores;
    i64 sector;
    i64 footprint;
    i64 l1_full_line;
    i64 l1_line;
    i64 l1_access;
    i64 l1_latency;
    i64 l2_line;
    i64 l2_latency;
    i64 slc_line;
    i64 slc_latency;
    i64 dram_line;
    i64 write_line;
    i64 write_room;
    i64 dram_latency;
    i64 threadgroup_interval;
    i64 threadgroup_broadcast;
    i64 threadgroup_row;
    i64 threadgroup_way;
    i64 threadgroup_latency;
    i64 threadgroup_atomic_interval;
    i64 threadgroup_atomic_serial;
    i64 threadgroup_atomic_latency;
    i64 atomic_serial;
    i64 atomic_line;
    i64 atomic_word;
    i64 atomic_slice_lines;
    i64 atomic_slices;
    i64 atomic_latency;
    i64 private_interval;
    i64 barrier_latency;
    i64 spilled;
    i64 dispatch_start;
    i64 launch_latency;
    i64 launch_interval;
    i64 may_skip;
    i64 skipped;
    i64 counter_count;
    i64 flops;
    i64 worst_ways;
    i64 held_back;
    i64 slice_count;
    i64 slice_limit;
    i64 grain;
    i64 flight_count;
    i64 mark_count;
    i64 mark_step;
};
_Static_assert(sizeof(struct job) == 840, "as Python has it");
