"""The cases: what each computes, of which values."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator
from itertools import chain

from assay.hw.apple.facts.promises import promises

from .argument_buffers import argument_buffer_cases
from .case import FLOATS, Case
from .textures import texture_cases

INTEGERS = ("char", "uchar", "short", "ushort", "int", "uint", "long", "ulong")
TYPES = (*FLOATS, *INTEGERS)
_UNARY = [
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "exp",
    "exp2",
    "exp10",
    "log",
    "log2",
    "log10",
    "sqrt",
    "rsqrt",
    "sinpi",
    "cospi",
    "tanpi",
    "floor",
    "ceil",
    "trunc",
    "rint",
    "round",
    "fract",
    "fabs",
    "sign",
    "saturate",
]
_BINARY = ["fmin", "fmax", "fmod", "pow", "atan2", "copysign", "fdim", "nextafter", "step"]
_OPERATORS = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/"}
_BITS = {"and": "&", "or": "|", "xor": "^", "remainder": "%"}
_COMPARISONS = {"less": "<", "equal": "=="}
_INTEGER_UNARY = ("clz", "ctz", "popcount", "reverse_bits", "abs")
_INTEGER_BINARY = ("addsat", "subsat", "mulhi", "hadd", "rhadd", "absdiff", "min", "max", "rotate")
_SIMD = ("simd_sum", "simd_product", "simd_min", "simd_max", "simd_prefix_inclusive_sum")
_SIMD_BITS = ("simd_and", "simd_or", "simd_xor")
_ATOMICS = ("add", "sub", "min", "max", "and", "or", "xor", "exchange")
_SIMD_TYPES = ("float", "half", "int", "uint", "short", "ushort")


def cases(pattern: str = "*") -> list[Case]:
    """The cases whose names fit a pattern, in their order."""
    return [case for case in _all() if fnmatch.fnmatchcase(case.name, pattern)]


def _all() -> Iterator[Case]:
    return chain(
        _mathematics(),
        _arithmetic(),
        _integers(),
        _conversions(),
        _lanes(),
        _atomics(),
        _others(),
        texture_cases(),
        argument_buffer_cases(),
    )


def _simple(name: str, given: str, expression: str, result: str = "") -> Case:
    return Case(name=name, given=given, result=result or given, body=f"r = {expression};")


def _function(name: str, kind: str, expression: str, *, fast: bool) -> Case:
    """A function; with fast math of arguments for which there is a promise."""
    group = "fast-math" if fast else "math"
    domain = promises().fast_domain.get(name, 0.0) if fast else 0.0
    return Case(
        name=f"{group}/{name}-{kind}",
        given=kind,
        result=kind,
        body=f"r = {expression};",
        is_fast=fast,
        function=name,
        domain=domain,
    )


def _mathematics() -> Iterator[Case]:
    for fast in (False, True):
        for kind in FLOATS:
            for name in _UNARY:
                yield _function(name, kind, f"{name}(a)", fast=fast)
            for name in _BINARY:
                yield _function(name, kind, f"{name}(a, b)", fast=fast)
            yield _function("fma", kind, "fma(a, b, a)", fast=fast)
            yield _function("products", kind, "a * b + b * a", fast=fast)


def _arithmetic() -> Iterator[Case]:
    for kind in TYPES:
        for name, operator in _OPERATORS.items():
            expression = f"r = {kind}(a {operator} b);"
            named = f"arithmetic/{name}-{kind}"
            yield Case(name=named, given=kind, result=kind, body=expression, function=name)
        for name, operator in _COMPARISONS.items():
            yield _simple(f"arithmetic/{name}-{kind}", kind, f"uchar(a {operator} b)", "uchar")


def _integers() -> Iterator[Case]:
    for kind in INTEGERS:
        for name, operator in _BITS.items():
            yield _simple(f"integer/{name}-{kind}", kind, f"{kind}(a {operator} b)")
        yield _simple(f"integer/shift-left-{kind}", kind, f"{kind}(a << (b & 7))")
        yield _simple(f"integer/shift-right-{kind}", kind, f"{kind}(a >> (b & 7))")
        for name in _INTEGER_UNARY:
            yield _simple(f"integer/{name}-{kind}", kind, f"{kind}({name}(a))")
        for name in _INTEGER_BINARY:
            yield _simple(f"integer/{name}-{kind}", kind, f"{kind}({name}(a, b))")


def _conversions() -> Iterator[Case]:
    for given in TYPES:
        for result in TYPES:
            if given != result:
                yield _simple(f"convert/{given}-{result}", given, f"{result}(a)", result)


def _lanes() -> Iterator[Case]:
    for kind in _SIMD_TYPES:
        for name in _SIMD:
            yield _simple(f"simdgroup/{name}-{kind}", kind, f"{name}(a)")
        yield _simple(f"simdgroup/shuffle-{kind}", kind, "simd_shuffle_xor(a, ushort(5))")
        if kind in INTEGERS:
            for name in _SIMD_BITS:
                yield _simple(f"simdgroup/{name}-{kind}", kind, f"{name}(a)")


def _atomics() -> Iterator[Case]:
    for kind in ("int", "uint"):
        for name in _ATOMICS:
            call = "exchange" if name == "exchange" else f"fetch_{name}"
            # One thread after the other: what each gets does not depend on the order.
            body = (
                f"device atomic_{kind}* place = (device atomic_{kind}*)&z[i];"
                "atomic_store_explicit(place, a, memory_order_relaxed);"
                f"atomic_{call}_explicit(place, b, memory_order_relaxed);"
                "r = atomic_load_explicit(place, memory_order_relaxed);"
            )
            yield Case(name=f"atomic/{name}-{kind}", given=kind, result=kind, body=body)


def _others() -> Iterator[Case]:
    for kind in FLOATS:
        matrix = (
            f"threadgroup {kind} tile[256];"
            "if (t < 128) {"
            f"simdgroup_matrix<{kind}, 8, 8> p, q, s; uint at = t / 32 * 64;"
            "simdgroup_load(p, x + (i - t) + at, 8); simdgroup_load(q, y + (i - t) + at, 8);"
            "simdgroup_multiply(s, p, q); simdgroup_store(s, tile + at, 8);"
            "} threadgroup_barrier(mem_flags::mem_threadgroup); r = tile[t];"
        )
        yield Case(name=f"matrix/multiply-{kind}", given=kind, result=kind, body=matrix)
    turned = (
        "threadgroup float tile[256]; tile[t] = a; threadgroup_barrier(mem_flags::mem_threadgroup);"
        "r = tile[255 - t];"
    )
    yield Case(name="barrier/reverse", given="float", result="float", body=turned)
    yield _simple("pack/snorm4x8", "float", "pack_float_to_snorm4x8(float4(a, b, -a, -b))", "uint")
    yield _simple("pack/unorm4x8", "float", "pack_float_to_unorm4x8(float4(a, b, -a, -b))", "uint")
    yield _simple("bits/float-uint", "float", "as_type<uint>(a * b)", "uint")
    yield _simple("bits/half-ushort", "half", "as_type<ushort>(half(a * b))", "ushort")
