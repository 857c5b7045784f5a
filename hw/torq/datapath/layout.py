"""Where the compiled interpreter finds each number of a decoded slice task.

A task is one array of integers (these are the indices), a table of loops, and tables of lanes. The
same names stand for the same numbers in C.
"""

AGENTS = ("DEDR", "DEDR1", "DEWR", "DEBR", "DEBR1", "DEQW")
DEDR, DEDR1, DEWR, DEBR, DEBR1, DEQW = range(6)

# What the ALU does in one cycle.
MULTIPLY_INT, MULTIPLY_FLOAT, WHOLE_DATUM, TRANSPOSE, RUNS_INT, RUNS_FLOAT, NO_ALU = range(7)
"""Byte lanes multiplied and added; the same in bfloat16; an operation on whole data; four cycles
of bytes packed into words; the first two where each weight meets a run of neighbouring data."""

# Codes of CE.AL_MODE.op_mode.
OP_ADD, OP_MULTIPLY, OP_BYPASS = 0, 1, 2
OP_AND, OP_OR, OP_XOR = 4, 5, 6
OP_GREATER, OP_GREATER_EQUAL, OP_EQUAL = 8, 9, 10

# Columns of the table of loops: count, what a tick adds to the address, which counter of the
# window it advances (0: none; else an index into the walker's state) and by how much.
COUNT, DELTA, COUNTER, STEP = range(4)
LOOP_COLUMNS = 4
# Columns of the table of descriptors.
BASE, FIRST_LOOP, LOOPS = range(3)
NEST_COLUMNS = 3
# A walker's state: address, descriptor, whether it is through, then the window's counters.
AT, NEST, THROUGH, PIXEL, ROW, COLUMN, ROW_PARITY, COLUMN_PARITY = range(8)
COUNTERS = 8
STATE = COUNTERS + 16

# Rows of the table of lanes: PRAM word, byte of the data word, byte of the weight word, pixel,
# byte within the datum, is the data signed, is the weight signed.
LANE_WORD, LANE_DATA, LANE_WEIGHT, LANE_PIXEL, LANE_BYTE, LANE_DATA_SIGNED, LANE_WEIGHT_SIGNED = (
    range(7)
)
LANE_COUNT = 256
"""Columns of that table."""

(
    # ALU
    ALU_KIND,
    BLOCKS,
    CYCLES,
    LANES,
    OPERATION,
    CLEAR,
    INIT,
    INVERT,
    OUTPUT_INDEX,
    CAST_BOOL,
    DATUM_BYTES,
    DATUM_FLOAT,
    TOGGLE_LSB,
    TOGGLE_MSB,
    # data
    DATA_ON,
    SEGMENTS,
    WORD_BYTES,
    GROUPS,
    GROUP_STRIDE,
    GROUP_PITCH,
    REPEAT_STEP,
    STEPS,
    REPEAT_WORD,
    BREAK_EVEN,
    BREAK_ODD,
    COLUMN_GROUPS,
    COLUMN_BREAK,
    PARITIES,
    SHORT_LOOP,
    SHORT_BY,
    SHORT_LOOP1,
    SHORT_BY1,
    # window
    MASKED,
    MASK_LEFT,
    MASK_RIGHT,
    MASK_ROWS,
    PLANE_WIDTH,
    BORDER_LEFT,
    ROWS_FROM,
    ROWS_TO,
    COLUMN_DISTANCE,
    ROW_DISTANCE,
    ROW_END_DISTANCE,
    WORD_PIXELS,
    PAD_VALUE,
    HALO,
    # gather and scatter
    GATHER,
    INDEX_BYTES,
    INDEX_SIZE,
    UNIT,
    INDEX_UNIT,
    SCATTER,
    SCATTER_BYTES,
    # weights
    WEIGHTS,
    WEIGHT_TRANSFERS,
    WEIGHT_BYTES,
    WEIGHT_BITS,
    WEIGHT_OUT,
    WEIGHT_SIZE,
    WEIGHT_REPEAT_STEP,
    WEIGHT_STEPS,
    WEIGHT_REPEAT_WORD,
    WEIGHT_STEP_BYTES,
    IMPLICIT_WEIGHT,
    # runs: their data, how many there are, whether all have the same data
    RUN,
    RUN_GROUPS,
    RUN_SHARED,
    # activation
    ACT_ON,
    ACT_PLAIN,
    VECTORS,
    VECTOR_STEP,
    PARTIALS,
    PARTIAL_STEP,
    SUM_GROUP,
    SHIFT0,
    SHIFT1,
    SHIFT2,
    SHIFT3,
    ACT_MODE,
    ACT_FLOAT,
    ACT_WIDTH,
    TO_INTEGER,
    BIAS_ON,
    BIAS_BYTES,
    BIAS_REUSE,
    RIGHT_SHIFT,
    ROUNDING,
    ZERO_POINT,
    CLIP_MIN,
    CLIP_MAX,
    TABLE_ON,
    RESULT_BYTES,
    RESULTS,
    # results
    WRITE_ON,
    WRITE_BYTES,
    FILL,
    FILL_VALUE,
    PIXEL_BYTES,
    PLANE,
    PLANE_X,
    PLANE_PIXELS,
    ROW_STEP,
    ROW_PAIR_STEP,
    SPLIT,
    SPLIT_HALVES,
    SPLIT_STRIDE,
    # descriptors: first and number per agent
    NESTS,
) = range(107)
SIZE = NESTS + 2 * len(AGENTS)

# Kinds of weights on the bus: as they are in memory, or each code looked up in a table.
WEIGHTS_EXPLICIT, WEIGHTS_IMPLICIT, WEIGHTS_NONE = range(3)

# What the interpreter reports: a code, then the agent, the address, a number.
FINE, OUT_OF_RANGE, RAN_DRY = range(3)
