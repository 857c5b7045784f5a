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

#define SCRATCH_VALUES 256
#define HANDLE_SHIFT 48
#define OFFSET_MASK 281474976710655ull
#define TABLE_ENTRIES 65536
#define THREADGROUP_HANDLE 1
#define FIRST_BUFFER_HANDLE 16
#define BANKS 32
#define BANK_BYTES 4
#define LANES 32
#define LOCKS 4096
#define FLAG_ATOMIC 1
#define MASK_SHIFT 3
#define SITE_SHIFT 7
#define LANE_SHIFT 17
#define TAG_SHIFT 59
#define RUN 32
#define EXPANDED 1
#define GROUP_MASK 4194303
#define MEM_DEVICE 1
#define MEM_THREADGROUP 2
#define MEM_TEXTURE 4
#define UNSETTLED 16384
#define KIND_COPY 1
#define KIND_COPIED 2
#define KIND_TEXEL_WRITE 3
#define KIND_TEXEL_READ 4
#define KIND_BITS 8
#define COPIES 16
#define OPERATIONS 16
#define HOW_WRITE 1
#define HOW_ATOMIC 2
#define HOW_CONSTANT 4
#define HOW_STORE 8
#define HOW_UPDATE 16
#define HOW_SITE 8
#define REPORT_WRITE_WRITE 1
#define REPORT_WRITE_READ 2
#define REPORT_READ_WRITE 3
#define REPORT_WEAK 4
#define REPORT_SAME_STORE 5
#define REPORT_UNINITIALISED 10
#define ORIGIN_FAR 32768
#define ORIGIN_READ 1024
#define MAX_READS 16384
#define READ_SLOTS 32768
#define REPORT_LANES_LEFT 6
#define REPORT_LANES_ELSEWHERE 7
#define REPORT_OTHER_BARRIER 8
#define REPORT_SIMDGROUP_LEFT 9
#define REPORT_LANE_RACE 18
#define REPORT_READ_ONLY_WRITE 16
#define REPORT_MISALIGNED 17
#define REPORT_STORE_UPDATE 19
#define REPORT_COPY_NOT_WAITED 20
#define REPORT_TEXTURE_NOT_FENCED 21
#define REPORT_PARTIAL_SIMDGROUP 33
#define REPORT_TENSOR_SCOPE 35
#define REPORT_PARTIAL_TENSOR_SCOPE 36
#define REPORT_OUTSIDE_TENSOR 37
#define REPORT_NON_UNIFORM_ARGUMENT 12
#define REPORT_NAN_BORN 13
#define REPORT_INFINITY_BORN 14
#define REPORT_INDEX_OVERFLOW 15
#define REPORT_ROW_OVERRUN 34
#define REPORT_BANK_CONFLICT 32

struct buffer;
struct context;
struct operation;
struct report;
struct table_entry;
struct tape_writer;
struct unsettled;
struct unwritten_read;
struct waiter;
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

struct report {
    u32 kind;
    u32 site;
    u32 other_site;
    u32 lane;
    u32 simdgroup;
    u32 epoch;
    u32 other_lane;
    u32 other_simdgroup;
    u32 other_epoch;
    u32 detail;
    u64 group;
    u64 other_group;
    u64 address;
    u64 found;
    u64 count;
};
_Static_assert(sizeof(struct report) == 80, "as Python has it");

struct buffer {
    u64 *written;
    u64 *runs;
    u64 *read;
    u64 *read_runs;
    u64 granules;
    u64 has_readers;
    u64 *lane_written;
    u64 *lane_read;
};
_Static_assert(sizeof(struct buffer) == 64, "as Python has it");

struct waiter {
    u32 site;
    u32 flags;
    u32 mask;
    u32 live;
    u32 branch;
    u32 passed[2];
};
_Static_assert(sizeof(struct waiter) == 28, "as Python has it");

struct unwritten_read {
    u64 address;
    u64 offset;
    u32 site;
    u32 lane;
    u32 simdgroup;
    u32 readers;
};
_Static_assert(sizeof(struct unwritten_read) == 32, "as Python has it");

struct unsettled {
    u64 granule;
    u32 stamp;
    u32 site;
    u8 settles;
    u8 write;
    u8 mask;
    u8 lane;
    u32 simdgroup;
    u32 begun;
    u32 barriers;
};
_Static_assert(sizeof(struct unsettled) == 32, "as Python has it");

struct operation {
    u32 site;
    u32 cause;
    u32 calls[32];
};
_Static_assert(sizeof(struct operation) == 136, "as Python has it");

struct watch {
    struct buffer *buffers;
    u64 *arena_written;
    u64 *arena_read;
    u64 *arena_before;
    u64 *arena_runs;
    u64 *arena_read_runs;
    u64 *arena_before_runs;
    u64 *arena_lane_written;
    u64 *arena_lane_read;
    u64 arena_granules;
    u32 *locks;
    struct report *reports;
    u64 report_count;
    u64 report_limit;
    u64 reports_dropped;
    u64 tag;
    u64 group;
    u64 group_base;
    u64 run;
    u64 order_factor;
    u64 order_shift;
    u64 order_count;
    u32 arena_shift;
    u32 barriers;
    u32 arena_epoch;
    u32 device_epoch;
    u32 arena_covered;
    u32 device_covered;
    u32 arena_fenced;
    u32 device_fenced;
    u32 flush_denormals;
    u32 lanes;
    u32 simdgroups;
    struct unwritten_read *reads;
    u16 *read_slots;
    u64 read_count;
    struct unsettled *unsettled;
    u32 kind;
    u32 kind_mask;
    u32 copying;
    u32 slow;
    u32 stamp;
    u32 remembers;
    u32 copy;
    u32 begun;
    u32 settled;
    u32 pending[32];
    u32 stamps[17][32];
    u32 ordered[17][32];
    u32 met;
    struct waiter meeting;
    struct waiter waiting[32];
    struct waiter left[32];
    u32 operation_count;
    struct operation operations[16];
};
_Static_assert(sizeof(struct watch) == 8776, "as Python has it");
