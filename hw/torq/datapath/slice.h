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
    DEDR = 0,
    DEDR1 = 1,
    DEWR = 2,
    DEBR = 3,
    DEBR1 = 4,
    DEQW = 5,
    MULTIPLY_INT = 0,
    MULTIPLY_FLOAT = 1,
    WHOLE_DATUM = 2,
    TRANSPOSE = 3,
    RUNS_INT = 4,
    RUNS_FLOAT = 5,
    NO_ALU = 6,
    OP_ADD = 0,
    OP_MULTIPLY = 1,
    OP_BYPASS = 2,
    OP_AND = 4,
    OP_OR = 5,
    OP_XOR = 6,
    OP_GREATER = 8,
    OP_GREATER_EQUAL = 9,
    OP_EQUAL = 10,
    COUNT = 0,
    DELTA = 1,
    COUNTER = 2,
    STEP = 3,
    LOOP_COLUMNS = 4,
    BASE = 0,
    FIRST_LOOP = 1,
    LOOPS = 2,
    NEST_COLUMNS = 3,
    AT = 0,
    NEST = 1,
    THROUGH = 2,
    PIXEL = 3,
    ROW = 4,
    COLUMN = 5,
    ROW_PARITY = 6,
    COLUMN_PARITY = 7,
    COUNTERS = 8,
    STATE = 24,
    LANE_WORD = 0,
    LANE_DATA = 1,
    LANE_WEIGHT = 2,
    LANE_PIXEL = 3,
    LANE_BYTE = 4,
    LANE_DATA_SIGNED = 5,
    LANE_WEIGHT_SIGNED = 6,
    LANE_COUNT = 256,
    ALU_KIND = 0,
    BLOCKS = 1,
    CYCLES = 2,
    LANES = 3,
    OPERATION = 4,
    INIT = 5,
    INVERT = 6,
    OUTPUT_INDEX = 7,
    CAST_BOOL = 8,
    DATUM_BYTES = 9,
    DATUM_FLOAT = 10,
    TOGGLE_LSB = 11,
    TOGGLE_MSB = 12,
    DATA_ON = 13,
    SEGMENTS = 14,
    WORD_BYTES = 15,
    GROUPS = 16,
    GROUP_STRIDE = 17,
    GROUP_PITCH = 18,
    REPEAT_STEP = 19,
    STEPS = 20,
    REPEAT_WORD = 21,
    BREAK_EVEN = 22,
    BREAK_ODD = 23,
    COLUMN_GROUPS = 24,
    COLUMN_BREAK = 25,
    PARITIES = 26,
    SHORT_LOOP = 27,
    SHORT_BY = 28,
    SHORT_LOOP1 = 29,
    SHORT_BY1 = 30,
    MASKED = 31,
    MASK_LEFT = 32,
    MASK_RIGHT = 33,
    MASK_ROWS = 34,
    PLANE_WIDTH = 35,
    BORDER_LEFT = 36,
    ROWS_FROM = 37,
    ROWS_TO = 38,
    COLUMN_DISTANCE = 39,
    ROW_DISTANCE = 40,
    ROW_END_DISTANCE = 41,
    WORD_PIXELS = 42,
    PAD_VALUE = 43,
    HALO = 44,
    GATHER = 45,
    INDEX_BYTES = 46,
    INDEX_SIZE = 47,
    UNIT = 48,
    INDEX_UNIT = 49,
    SCATTER = 50,
    SCATTER_BYTES = 51,
    WEIGHTS = 52,
    WEIGHT_TRANSFERS = 53,
    WEIGHT_BYTES = 54,
    WEIGHT_BITS = 55,
    WEIGHT_OUT = 56,
    WEIGHT_SIZE = 57,
    WEIGHT_REPEAT_STEP = 58,
    WEIGHT_STEPS = 59,
    WEIGHT_REPEAT_WORD = 60,
    WEIGHT_STEP_BYTES = 61,
    IMPLICIT_WEIGHT = 62,
    RUN = 63,
    RUN_GROUPS = 64,
    RUN_SHARED = 65,
    ACT_ON = 66,
    ACT_PLAIN = 67,
    VECTORS = 68,
    VECTOR_STEP = 69,
    PARTIALS = 70,
    PARTIAL_STEP = 71,
    SUM_GROUP = 72,
    SHIFT0 = 73,
    SHIFT1 = 74,
    SHIFT2 = 75,
    SHIFT3 = 76,
    ACT_MODE = 77,
    ACT_FLOAT = 78,
    ACT_WIDTH = 79,
    TO_INTEGER = 80,
    BIAS_ON = 81,
    BIAS_BYTES = 82,
    BIAS_REUSE = 83,
    RIGHT_SHIFT = 84,
    ROUNDING = 85,
    ZERO_POINT = 86,
    CLIP_MIN = 87,
    CLIP_MAX = 88,
    TABLE_ON = 89,
    RESULT_BYTES = 90,
    RESULTS = 91,
    WRITE_ON = 92,
    WRITE_BYTES = 93,
    FILL = 94,
    FILL_VALUE = 95,
    PIXEL_BYTES = 96,
    PLANE = 97,
    PLANE_X = 98,
    PLANE_PIXELS = 99,
    ROW_STEP = 100,
    ROW_PAIR_STEP = 101,
    SPLIT = 102,
    SPLIT_HALVES = 103,
    SPLIT_STRIDE = 104,
    NESTS = 105,
    SIZE = 117,
    WEIGHTS_EXPLICIT = 0,
    WEIGHTS_IMPLICIT = 1,
    WEIGHTS_NONE = 2,
    FINE = 0,
    OUT_OF_RANGE = 1,
    RAN_DRY = 2,
    PIXELS = 64,
    MASKS = 513,
    USES = 8,
    DATA_LEFT = 0,
    DATA_STEP = 1,
    DATA_REPEAT = 2,
    DATA_SEQUENCE = 3,
    DATA_STEPS = 4,
    WEIGHT_LEFT = 5,
    WEIGHT_STEP_NOW = 6,
    WEIGHT_REPEAT = 7,
    GATHERED = 0,
    DATA_BYTES = 640,
    WEIGHT_MEMORY = 1024,
    ABS = 1,
    NEGATE = 2,
    LEADING_ZEROS = 3,
    CEIL = 4,
    FLOOR = 5,
    CONVERT = 6,
    SHIFT_LEFT = 7,
    SHIFT_LOGIC = 8,
    SHIFT_ARITHMETIC = 9,
    NEAREST = 0,
    DOUBLE = 1,
    NEAREST_EVEN = 2,
    TRUNCATE = 3,
    NARROW = 1,
    AGENTS = 6,
};

struct slice;

struct slice {
    i64 *p;
    i64 *nests;
    i64 *loops;
    i64 *lanes;
    i64 *base;
    i64 *slope;
    i64 *expansion;
    u8 *lram;
    i32 *pram;
    i64 *report;
    i64 *states;
    u8 *data;
    u8 *weight;
    u8 *bias;
    i64 *window;
    i64 *xs;
    i64 *ys;
    u8 *masks;
    i64 *known;
    i32 *row;
    f32 *reals;
    f32 *sums;
    i64 *best;
    i64 *out;
    u8 *word;
    i64 *used;
    i64 lram_size;
};
_Static_assert(sizeof(struct slice) == 216, "as Python has it");
