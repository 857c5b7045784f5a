"""Which instruction classes operations become; tables only."""

from __future__ import annotations

from collections.abc import Mapping

# Functions of mathematics: the classes of their instructions, each of which reads what the one
# before gives. What hardware has no instruction for is expanded as its compiler would: from base-2
# exponentials and logarithms, reciprocals and polynomials.
_POLYNOMIAL = ("ffma32",) * 8
# A logarithm in two parts, a product of such, and an exponential: some seventy operations, as in
# the headers' own.
_PRECISE_POWER = ("exp_precise", *_POLYNOMIAL * 7, *("cmpsel32_min_max",) * 6, "exp_precise")
MATH: Mapping[str, tuple[str, ...]] = {
    "exp2": ("exp2_log2",),
    "log2": ("exp2_log2",),
    "exp": ("exp_log_natural",),
    "log": ("exp_log_natural",),
    "exp10": ("exp_log_natural",),
    "log10": ("exp_log_natural",),
    "pow": ("exp2_log2", "fmul32", "exp2_log2"),
    "powr": ("exp2_log2", "fmul32", "exp2_log2"),
    "sqrt": ("sqrt",),
    "rsqrt": ("rsqrt",),
    "divide": ("div_fast",),
    "sin": ("sin_cos_fast",),
    "cos": ("sin_cos_fast",),
    "sinpi": ("sinpi_fast",),
    "cospi": ("sinpi_fast",),
    "tan": ("sin_cos_fast", "sin_cos_fast", "div_fast"),
    "tanpi": ("sinpi_fast", "sin_cos_fast", "div_fast"),
    "sinh": ("exp_log_natural", "recip", "fadd32", "fmul32"),
    "cosh": ("exp_log_natural", "recip", "fadd32", "fmul32"),
    "tanh": ("exp_log_natural", "fadd32", "recip", "ffma32"),
    "asinh": ("ffma32", "sqrt", "fadd32", "exp_log_natural"),
    "acosh": ("ffma32", "sqrt", "fadd32", "exp_log_natural"),
    "atanh": ("fadd32", "div_fast", "exp_log_natural", "fmul32"),
    "asin": ("ffma32", "sqrt", *_POLYNOMIAL, "cmpsel32_min_max"),
    "acos": ("ffma32", "sqrt", *_POLYNOMIAL, "cmpsel32_min_max"),
    "atan": ("recip", "cmpsel32_min_max", *_POLYNOMIAL, "cmpsel32_min_max"),
    "atan2": ("div_fast", "cmpsel32_min_max", *_POLYNOMIAL, "cmpsel32_min_max", "bitwise"),
    "fmod": ("div_fast", "rint_trunc", "ffma32"),
    "fract": ("fract",),
    "round": ("rint_trunc", "fadd32", "cmpsel32_min_max", "rint_trunc"),
    "mulhi": ("imulhi32",),
    "madhi": ("imulhi32", "iadd"),
    "hadd": ("rhadd",),
    "rhadd": ("rhadd",),
    "absdiff": ("abs_diff",),
    "rotate": ("rotate",),
    "median3": ("cmpsel32_min_max", "cmpsel32_min_max"),  # behind two of y and z
    "fmedian3": ("cmpsel32_min_max", "cmpsel32_min_max"),
    "extract_bits": ("bitfield_extract",),
    "insert_bits": ("bitfield_insert",),
    "mul24": ("imul32_imad32",),
    "mad24": ("imul32_imad32",),
}
# Where precise functions take others.
PRECISE: Mapping[str, tuple[str, ...]] = {
    "exp": ("exp_precise",),
    "exp10": ("exp_precise",),
    "log": ("exp_precise",),
    "log10": ("exp_precise",),
    "pow": _PRECISE_POWER,
    "powr": _PRECISE_POWER,
    "sqrt": ("sqrt_precise",),
    "rsqrt": ("rsqrt_precise",),
    "divide": ("div_precise",),
    "sin": ("sin_precise",),
    "cos": ("sin_precise",),
    "sinpi": ("sinpi_precise",),
    "cospi": ("sinpi_precise",),
    "tan": ("sin_precise", "sin_precise", "div_precise"),
    "tanpi": ("sinpi_precise", "sin_cos_fast", "div_precise"),
}
# With other classes for 16 bits, and for 64-bit integers.
MATH_NARROW: Mapping[str, tuple[str, ...]] = {
    "sinpi": ("fract", "ffma32", "sin_cos_fast"),
    "cospi": ("fract", "ffma32", "sin_cos_fast"),
    "median3": ("cmpsel32_min_max",) * 5,
    "fmedian3": ("cmpsel32_min_max",) * 5,
    "rhadd": ("bitwise", "bitfield_extract", "iadd", "iadd"),
    "hadd": ("bitwise", "bitfield_extract", "iadd"),
}
MATH_WIDE: Mapping[str, tuple[str, ...]] = {
    "mulhi": ("imulhi64",),
    "madhi": ("imulhi64", "iadd64"),
}

# LLVM's intrinsics.
CALLS: Mapping[str, tuple[str, ...]] = {
    "llvm.floor": ("rint_trunc",),
    "llvm.ceil": ("rint_trunc",),
    "llvm.trunc": ("rint_trunc",),
    "llvm.rint": ("rint_trunc",),
    "llvm.nearbyint": ("rint_trunc",),
    "llvm.roundeven": ("rint_trunc",),
    "llvm.round": ("rint_trunc", "fadd32", "cmpsel32_min_max", "rint_trunc"),
    "llvm.sqrt": ("sqrt",),
    "llvm.ctpop": ("popcount_bitrev",),
    "llvm.bitreverse": ("popcount_bitrev",),
    "llvm.bswap": ("bitfield_extract", "bitfield_insert", "bitfield_insert"),
    "llvm.ctlz": ("clz",),
    "llvm.cttz": ("popcount_bitrev", "clz"),
    "llvm.abs": ("cmpsel32_min_max",),
    "llvm.fabs": ("bitwise",),
    "llvm.copysign": ("bitfield_insert",),
    "llvm.fshl": ("rotate",),
    "llvm.fshr": ("rotate",),
    "llvm.sadd.sat": ("iadd",),
    "llvm.uadd.sat": ("iadd",),
    "llvm.ssub.sat": ("iadd",),
    "llvm.usub.sat": ("iadd",),
    "llvm.scmp": ("cmpsel32_min_max", "cmpsel32_min_max"),
    "llvm.ucmp": ("cmpsel32_min_max", "cmpsel32_min_max"),
    "llvm.is.fpclass": ("bitwise", "cmpsel32_min_max"),
    "llvm.canonicalize": ("fadd32",),
    "llvm.fptosi.sat": ("convert_f_i",),
    "llvm.fptoui.sat": ("convert_f_i",),
}
EXTREMES = frozenset(
    f"llvm.{name}"
    for name in ("minnum", "maxnum", "minimum", "maximum", "minimumnum", "maximumnum")
) | frozenset(f"llvm.{name}" for name in ("smin", "smax", "umin", "umax"))

COPY_START, COPY_WAIT = "async_copy", "async_copy_wait"
WALLS = frozenset({"barrier", "simdgroup_barrier", COPY_START, COPY_WAIT})

CONVERSIONS = ("sitofp", "uitofp", "fptosi", "fptoui")
FLOAT_ARITHMETIC: Mapping[str, str] = {"fadd": "fadd", "fsub": "fadd", "fmul": "fmul"}
INTEGER_SUMS = ("add", "sub")
LOGIC = ("and", "or", "xor")
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
