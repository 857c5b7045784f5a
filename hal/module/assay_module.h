/* Assay modules, version 3; made of hal/module/records.py. module.fbs says
   what fields mean.

   A file is:
   u32 size | FlatBuffer of that size | zeros to a multiple of 64 | segments | SHA-256

   A segment's offset counts from behind those zeros; each begins at a multiple of 64,
   right behind the one before, filled up with zeros. The 32 bytes at the end are the SHA-256 of the
   size and the FlatBuffer. Numbers are little-endian. ASSAY_<TABLE>_<FIELD> is the slot of a field
   in the table's vtable: its offset is the u16 at byte 4 + 2 * slot of the vtable, if the vtable is
   that long, and not 0. An instruction is a table of two slots: the kind (u8), and the table of
   that kind. */
#ifndef ASSAY_MODULE_H
#define ASSAY_MODULE_H

#define ASSAY_IDENTIFIER "ASM1" /* at byte 8 of the file */
#define ASSAY_VERSION 3
#define ASSAY_ALIGNMENT 64
#define ASSAY_NONE (-1) /* no record; a size that is not known */

enum assay_place {
    ASSAY_PLACE_PLANNED = 0,
    ASSAY_PLACE_DYNAMIC = 1,
    ASSAY_PLACE_INPUT = 2,
    ASSAY_PLACE_WEIGHT = 3,
    ASSAY_PLACE_VIEW = 4,
};

enum assay_op {
    ASSAY_OP_CONST = 0, /* 1 operand */
    ASSAY_OP_SYMBOL = 1, /* 1 operand */
    ASSAY_OP_DIM = 2, /* 2 operands */
    ASSAY_OP_VALUE = 3, /* 2 operands */
    ASSAY_OP_ADD = 4,
    ASSAY_OP_SUB = 5,
    ASSAY_OP_MUL = 6,
    ASSAY_OP_FLOORDIV = 7,
    ASSAY_OP_CEILDIV = 8,
    ASSAY_OP_MOD = 9,
    ASSAY_OP_MIN = 10,
    ASSAY_OP_MAX = 11,
    ASSAY_OP_EQ = 12,
    ASSAY_OP_LT = 13,
    ASSAY_OP_LE = 14,
    ASSAY_OP_SELECT = 15,
};

enum assay_action {
    ASSAY_ACTION_DEDUCE = 1,
    ASSAY_ACTION_CHECK = 2,
    ASSAY_ACTION_RESERVE = 3,
    ASSAY_ACTION_RELEASE = 4,
    ASSAY_ACTION_CALL = 5,
    ASSAY_ACTION_FORWARD = 6,
    ASSAY_ACTION_COPY = 7,
    ASSAY_ACTION_SIGNAL = 8,
    ASSAY_ACTION_WAIT = 9,
    ASSAY_ACTION_READ = 10,
    ASSAY_ACTION_IF = 11,
    ASSAY_ACTION_WHILE = 12,
};

enum assay_instruction {
    ASSAY_INSTRUCTION_KIND = 0, /* u8 */
    ASSAY_INSTRUCTION_TABLE = 1,
};

enum assay_segment {
    ASSAY_SEGMENT_OFFSET = 0, /* long */
    ASSAY_SEGMENT_SIZE = 1, /* long */
    ASSAY_SEGMENT_SHA256 = 2, /* [ubyte] */
};

enum assay_symbol {
    ASSAY_SYMBOL_NAME = 0, /* string */
    ASSAY_SYMBOL_MINIMUM = 1, /* long */
    ASSAY_SYMBOL_MAXIMUM = 2, /* long */
    ASSAY_SYMBOL_MULTIPLE_OF = 3, /* long */
};

enum assay_location {
    ASSAY_LOCATION_FILE = 0, /* string */
    ASSAY_LOCATION_OPERATOR = 1, /* string */
    ASSAY_LOCATION_NAME = 2, /* string */
};

enum assay_weight {
    ASSAY_WEIGHT_NAME = 0, /* string */
    ASSAY_WEIGHT_ELEMENT_TYPE = 1, /* int */
    ASSAY_WEIGHT_SHAPE = 2, /* [long] */
    ASSAY_WEIGHT_SEGMENT = 3, /* int */
};

enum assay_argument {
    ASSAY_ARGUMENT_OPERAND = 0, /* int */
    ASSAY_ARGUMENT_INDEX = 1, /* int */
    ASSAY_ARGUMENT_ELEMENT_TYPE = 2, /* int */
    ASSAY_ARGUMENT_OFFSET = 3, /* int */
};

enum assay_functionconstant {
    ASSAY_FUNCTIONCONSTANT_INDEX = 0, /* int */
    ASSAY_FUNCTIONCONSTANT_ELEMENT_TYPE = 1, /* int */
    ASSAY_FUNCTIONCONSTANT_BITS = 2, /* long */
};

enum assay_stage {
    ASSAY_STAGE_ENTRY = 0, /* string */
    ASSAY_STAGE_SEGMENT = 1, /* int */
    ASSAY_STAGE_ARGUMENTS = 2, /* [Argument] */
    ASSAY_STAGE_FUNCTION_CONSTANTS = 3, /* [FunctionConstant] */
    ASSAY_STAGE_THREADGROUP_MEMORY = 4, /* [long] */
};

enum assay_kernel {
    ASSAY_KERNEL_DEVICE = 0, /* int */
    ASSAY_KERNEL_FORMAT = 1, /* string */
    ASSAY_KERNEL_SEGMENT = 2, /* int */
    ASSAY_KERNEL_ENTRY = 3, /* string */
    ASSAY_KERNEL_INPUTS = 4, /* int */
    ASSAY_KERNEL_CONSTANTS = 5, /* int */
    ASSAY_KERNEL_OUTPUTS = 6, /* int */
    ASSAY_KERNEL_STAGES = 7, /* [Stage] */
};

enum assay_expression {
    ASSAY_EXPRESSION_CODE = 0, /* [long] */
};

enum assay_arena {
    ASSAY_ARENA_DEVICE = 0, /* int */
    ASSAY_ARENA_SIZE = 1, /* long */
};

enum assay_tensor {
    ASSAY_TENSOR_NAME = 0, /* string */
    ASSAY_TENSOR_ELEMENT_TYPE = 1, /* int */
    ASSAY_TENSOR_SHAPE = 2, /* [long] */
    ASSAY_TENSOR_DEVICE = 3, /* int */
    ASSAY_TENSOR_PLACE = 4, /* int */
    ASSAY_TENSOR_WHERE = 5, /* int */
    ASSAY_TENSOR_OFFSET = 6, /* long */
    ASSAY_TENSOR_SIZE = 7, /* long */
    ASSAY_TENSOR_LOCATION = 8, /* int */
};

enum assay_input {
    ASSAY_INPUT_NAME = 0, /* string */
    ASSAY_INPUT_TENSOR = 1, /* int */
    ASSAY_INPUT_DIMS = 2, /* [int] */
};

enum assay_output {
    ASSAY_OUTPUT_NAME = 0, /* string */
    ASSAY_OUTPUT_TENSOR = 1, /* int */
};

enum assay_deduce {
    ASSAY_DEDUCE_TENSOR = 0, /* int */
    ASSAY_DEDUCE_DIMS = 1, /* [int] */
};

enum assay_check {
    ASSAY_CHECK_EXPRESSION = 0, /* int */
    ASSAY_CHECK_MESSAGE = 1, /* string */
};

enum assay_reserve {
    ASSAY_RESERVE_TENSOR = 0, /* int */
};

enum assay_release {
    ASSAY_RELEASE_TENSOR = 0, /* int */
};

enum assay_call {
    ASSAY_CALL_KERNEL = 0, /* int */
    ASSAY_CALL_INPUTS = 1, /* [int] */
    ASSAY_CALL_CONSTANTS = 2, /* [int] */
    ASSAY_CALL_OUTPUTS = 3, /* [int] */
    ASSAY_CALL_WORKSPACE = 4, /* int */
    ASSAY_CALL_THREADGROUPS = 5, /* [int] */
    ASSAY_CALL_THREADS = 6, /* [int] */
};

enum assay_forward {
    ASSAY_FORWARD_SOURCE = 0, /* int */
    ASSAY_FORWARD_TARGET = 1, /* int */
    ASSAY_FORWARD_OFFSET = 2, /* int */
    ASSAY_FORWARD_DIMS = 3, /* [int] */
};

enum assay_copy {
    ASSAY_COPY_SOURCE = 0, /* int */
    ASSAY_COPY_TARGET = 1, /* int */
};

enum assay_signal {
    ASSAY_SIGNAL_DEVICE = 0, /* int */
    ASSAY_SIGNAL_POINT = 1, /* int */
};

enum assay_wait {
    ASSAY_WAIT_DEVICE = 0, /* int */
    ASSAY_WAIT_POINT = 1, /* int */
};

enum assay_read {
    ASSAY_READ_TENSOR = 0, /* int */
};

enum assay_if {
    ASSAY_IF_CONDITION = 0, /* int */
    ASSAY_IF_THEN = 1, /* int */
    ASSAY_IF_OTHERWISE = 2, /* int */
};

enum assay_while {
    ASSAY_WHILE_CONDITION = 0, /* int */
    ASSAY_WHILE_BODY = 1, /* int */
};

enum assay_region {
    ASSAY_REGION_INSTRUCTIONS = 0, /* [Instruction] */
};

enum assay_model {
    ASSAY_MODEL_NAME = 0, /* string */
    ASSAY_MODEL_DEVICES = 1, /* [int] */
    ASSAY_MODEL_INPUTS = 2, /* [Input] */
    ASSAY_MODEL_OUTPUTS = 3, /* [Output] */
    ASSAY_MODEL_ARENAS = 4, /* [Arena] */
    ASSAY_MODEL_TENSORS = 5, /* [Tensor] */
    ASSAY_MODEL_REGIONS = 6, /* [Region] */
    ASSAY_MODEL_POINTS = 7, /* int */
};

enum assay_module {
    ASSAY_MODULE_VERSION = 0, /* int */
    ASSAY_MODULE_NAME = 1, /* string */
    ASSAY_MODULE_PRODUCER = 2, /* string */
    ASSAY_MODULE_DEVICES = 3, /* [string] */
    ASSAY_MODULE_SYMBOLS = 4, /* [Symbol] */
    ASSAY_MODULE_WEIGHTS = 5, /* [Weight] */
    ASSAY_MODULE_KERNELS = 6, /* [Kernel] */
    ASSAY_MODULE_EXPRESSIONS = 7, /* [Expression] */
    ASSAY_MODULE_MODELS = 8, /* [Model] */
    ASSAY_MODULE_LOCATIONS = 9, /* [Location] */
    ASSAY_MODULE_SEGMENTS = 10, /* [Segment] */
};

#endif
