"""Which instruction classes operations become; tables only."""

from __future__ import annotations

from collections.abc import Mapping

from assay.sim.simt.ir.operations import functions as f
from assay.sim.simt.ir.operations.conversions import FPTOSI, FPTOUI, SITOFP, UITOFP
from assay.sim.simt.ir.operations.floats import (
    CANONICALIZE,
    CEIL,
    COPYSIGN,
    FABS,
    FADD,
    FLOOR,
    FMUL,
    FSUB,
    FTRUNC,
    IS_FPCLASS,
    MAXIMUM,
    MAXIMUMNUM,
    MAXNUM,
    MINIMUM,
    MINIMUMNUM,
    MINNUM,
    NEARBYINT,
    RINT,
    ROUND,
    ROUNDEVEN,
    SQRT,
)
from assay.sim.simt.ir.operations.integers import (
    ABS,
    ADD,
    AND,
    BITREVERSE,
    BSWAP,
    CTLZ,
    CTPOP,
    CTTZ,
    FSHL,
    FSHR,
    OR,
    SADD_SAT,
    SCMP,
    SMAX,
    SMIN,
    SSUB_SAT,
    SUB,
    UADD_SAT,
    UCMP,
    UMAX,
    UMIN,
    USUB_SAT,
    XOR,
)
from assay.sim.simt.ir.operations.operation import Operation

# Functions of mathematics: the classes of their instructions, each of which reads what the one
# before gives. What hardware has no instruction for is expanded as its compiler would: from base-2
# exponentials and logarithms, reciprocals and polynomials.
_POLYNOMIAL = ("ffma32",) * 8
# A logarithm in two parts, a product of such, and an exponential: some seventy operations, as in
# the headers' own.
_PRECISE_POWER = ("exp_precise", *_POLYNOMIAL * 7, *("cmpsel32_min_max",) * 6, "exp_precise")
MATH: Mapping[Operation, tuple[str, ...]] = {
    f.EXP2: ("exp2_log2",),
    f.LOG2: ("exp2_log2",),
    f.EXP: ("exp_log_natural",),
    f.LOG: ("exp_log_natural",),
    f.EXP10: ("exp_log_natural",),
    f.LOG10: ("exp_log_natural",),
    f.POW: ("exp2_log2", "fmul32", "exp2_log2"),
    f.POWR: ("exp2_log2", "fmul32", "exp2_log2"),
    f.SQUARE_ROOT: ("sqrt",),
    f.RSQRT: ("rsqrt",),
    f.DIVIDE: ("div_fast",),
    f.SIN: ("sin_cos_fast",),
    f.COS: ("sin_cos_fast",),
    f.SINPI: ("sinpi_fast",),
    f.COSPI: ("sinpi_fast",),
    f.TAN: ("sin_cos_fast", "sin_cos_fast", "div_fast"),
    f.TANPI: ("sinpi_fast", "sin_cos_fast", "div_fast"),
    f.SINH: ("exp_log_natural", "recip", "fadd32", "fmul32"),
    f.COSH: ("exp_log_natural", "recip", "fadd32", "fmul32"),
    f.TANH: ("exp_log_natural", "fadd32", "recip", "ffma32"),
    f.ASINH: ("ffma32", "sqrt", "fadd32", "exp_log_natural"),
    f.ACOSH: ("ffma32", "sqrt", "fadd32", "exp_log_natural"),
    f.ATANH: ("fadd32", "div_fast", "exp_log_natural", "fmul32"),
    f.ASIN: ("ffma32", "sqrt", *_POLYNOMIAL, "cmpsel32_min_max"),
    f.ACOS: ("ffma32", "sqrt", *_POLYNOMIAL, "cmpsel32_min_max"),
    f.ATAN: ("recip", "cmpsel32_min_max", *_POLYNOMIAL, "cmpsel32_min_max"),
    f.ATAN2: ("div_fast", "cmpsel32_min_max", *_POLYNOMIAL, "cmpsel32_min_max", "bitwise"),
    f.FMOD: ("div_fast", "rint_trunc", "ffma32"),
    f.FRACT: ("fract",),
    f.ROUND: ("rint_trunc", "fadd32", "cmpsel32_min_max", "rint_trunc"),
    f.MULHI: ("imulhi32",),
    f.MADHI: ("imulhi32", "iadd"),
    f.HADD: ("rhadd",),
    f.RHADD: ("rhadd",),
    f.ABSDIFF: ("abs_diff",),
    f.ROTATE: ("rotate",),
    f.MEDIAN3: ("cmpsel32_min_max", "cmpsel32_min_max"),  # behind two of y and z
    f.FMEDIAN3: ("cmpsel32_min_max", "cmpsel32_min_max"),
    f.EXTRACT_BITS: ("bitfield_extract",),
    f.INSERT_BITS: ("bitfield_insert",),
    f.MUL24: ("imul32_imad32",),
    f.MAD24: ("imul32_imad32",),
}
# Where precise functions take others.
PRECISE: Mapping[Operation, tuple[str, ...]] = {
    f.EXP: ("exp_precise",),
    f.EXP10: ("exp_precise",),
    f.LOG: ("exp_precise",),
    f.LOG10: ("exp_precise",),
    f.POW: _PRECISE_POWER,
    f.POWR: _PRECISE_POWER,
    f.SQUARE_ROOT: ("sqrt_precise",),
    f.RSQRT: ("rsqrt_precise",),
    f.DIVIDE: ("div_precise",),
    f.SIN: ("sin_precise",),
    f.COS: ("sin_precise",),
    f.SINPI: ("sinpi_precise",),
    f.COSPI: ("sinpi_precise",),
    f.TAN: ("sin_precise", "sin_precise", "div_precise"),
    f.TANPI: ("sinpi_precise", "sin_cos_fast", "div_precise"),
}
# With other classes for 16 bits, and for 64-bit integers.
MATH_NARROW: Mapping[Operation, tuple[str, ...]] = {
    f.SINPI: ("fract", "ffma32", "sin_cos_fast"),
    f.COSPI: ("fract", "ffma32", "sin_cos_fast"),
    f.MEDIAN3: ("cmpsel32_min_max",) * 5,
    f.FMEDIAN3: ("cmpsel32_min_max",) * 5,
    f.RHADD: ("bitwise", "bitfield_extract", "iadd", "iadd"),
    f.HADD: ("bitwise", "bitfield_extract", "iadd"),
}
MATH_WIDE: Mapping[Operation, tuple[str, ...]] = {
    f.MULHI: ("imulhi64",),
    f.MADHI: ("imulhi64", "iadd64"),
}

# LLVM's intrinsics.
CALLS: Mapping[Operation, tuple[str, ...]] = {
    FLOOR: ("rint_trunc",),
    CEIL: ("rint_trunc",),
    FTRUNC: ("rint_trunc",),
    RINT: ("rint_trunc",),
    NEARBYINT: ("rint_trunc",),
    ROUNDEVEN: ("rint_trunc",),
    ROUND: ("rint_trunc", "fadd32", "cmpsel32_min_max", "rint_trunc"),
    SQRT: ("sqrt",),
    CTPOP: ("popcount_bitrev",),
    BITREVERSE: ("popcount_bitrev",),
    BSWAP: ("bitfield_extract", "bitfield_insert", "bitfield_insert"),
    CTLZ: ("clz",),
    CTTZ: ("popcount_bitrev", "clz"),
    ABS: ("cmpsel32_min_max",),
    FABS: ("bitwise",),
    COPYSIGN: ("bitfield_insert",),
    FSHL: ("rotate",),
    FSHR: ("rotate",),
    SADD_SAT: ("iadd",),
    UADD_SAT: ("iadd",),
    SSUB_SAT: ("iadd",),
    USUB_SAT: ("iadd",),
    SCMP: ("cmpsel32_min_max", "cmpsel32_min_max"),
    UCMP: ("cmpsel32_min_max", "cmpsel32_min_max"),
    IS_FPCLASS: ("bitwise", "cmpsel32_min_max"),
    CANONICALIZE: ("fadd32",),
}
EXTREMES = frozenset(
    {
        MINNUM,
        MAXNUM,
        MINIMUM,
        MAXIMUM,
        MINIMUMNUM,
        MAXIMUMNUM,
        SMIN,
        SMAX,
        UMIN,
        UMAX,
    }
)

COPY_START, COPY_WAIT = "async_copy", "async_copy_wait"
WALLS = frozenset({"barrier", "simdgroup_barrier", COPY_START, COPY_WAIT})

CONVERSIONS = frozenset({SITOFP, UITOFP, FPTOSI, FPTOUI})
FLOAT_ARITHMETIC: Mapping[Operation, str] = {FADD: "fadd32", FSUB: "fadd32", FMUL: "fmul32"}
INTEGER_SUMS = frozenset({ADD, SUB})
LOGIC = frozenset({AND, OR, XOR})
# What the machine does with 16 bits, instead of a class for 32.
NARROW: Mapping[str, str] = {
    "fadd32": "fadd16",
    "fmul32": "fmul16",
    "ffma32": "ffma16",
    "iadd": "iadd16",
    "cmpsel32_min_max": "cmpsel16",
    "imul32_imad32": "imul16_imad16",
}
# Floating-point operations of one lane.
FLOPS: Mapping[str, int] = {
    **dict.fromkeys(("fadd32", "fmul32", "fadd16", "fmul16", "recip", "rsqrt", "sqrt"), 1),
    **dict.fromkeys(("exp2_log2", "exp_log_natural", "sin_cos_fast", "exp_precise"), 1),
    **dict.fromkeys(("div_fast", "div_precise", "recip_precise", "sqrt_precise"), 1),
    **dict.fromkeys(("rsqrt_precise", "sin_precise", "sinpi_fast", "sinpi_precise"), 1),
    **dict.fromkeys(("ffma32", "ffma16"), 2),
    **dict.fromkeys(("simd_sum_f32", "simd_sum_f16", "quad_sum_f32", "quad_sum_f16"), 1),
    **dict.fromkeys(("mma_8x8x8_f16", "mma_8x8x8_f32", "mma_8x8x8_bf16"), 32),
}
