"""The cases: what each computes, of which values."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator
from itertools import chain

from assay.hw.apple.facts.promises import promises

from .argument_buffers import argument_buffer_cases
from .case import FLOATS, Case, simple
from .groups import group_cases
from .matrices import matrix_cases
from .textures import texture_cases

INTEGERS = ("char", "uchar", "short", "ushort", "int", "uint", "long", "ulong")
TYPES = (*FLOATS, "bfloat", *INTEGERS)
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


def cases(pattern: str = "*") -> list[Case]:
    """The cases whose names fit a pattern, in their order."""
    return [case for case in _all() if fnmatch.fnmatchcase(case.name, pattern)]


def _all() -> Iterator[Case]:
    return chain(
        _mathematics(),
        _arithmetic(),
        _integers(),
        _conversions(),
        group_cases(),
        matrix_cases(),
        _others(),
        texture_cases(),
        argument_buffer_cases(),
    )


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
            yield simple(f"arithmetic/{name}-{kind}", kind, f"uchar(a {operator} b)", "uchar")


def _integers() -> Iterator[Case]:
    for kind in INTEGERS:
        for name, operator in _BITS.items():
            yield simple(f"integer/{name}-{kind}", kind, f"{kind}(a {operator} b)")
        yield simple(f"integer/shift-left-{kind}", kind, f"{kind}(a << (b & 7))")
        yield simple(f"integer/shift-right-{kind}", kind, f"{kind}(a >> (b & 7))")
        for name in _INTEGER_UNARY:
            yield simple(f"integer/{name}-{kind}", kind, f"{kind}({name}(a))")
        for name in _INTEGER_BINARY:
            yield simple(f"integer/{name}-{kind}", kind, f"{kind}({name}(a, b))")


def _conversions() -> Iterator[Case]:
    for given in TYPES:
        for result in TYPES:
            if given != result:
                yield simple(f"convert/{given}-{result}", given, f"{result}(a)", result)


def _others() -> Iterator[Case]:
    yield simple("pack/snorm4x8", "float", "pack_float_to_snorm4x8(float4(a, b, -a, -b))", "uint")
    yield simple("pack/unorm4x8", "float", "pack_float_to_unorm4x8(float4(a, b, -a, -b))", "uint")
    yield simple("bits/float-uint", "float", "as_type<uint>(a * b)", "uint")
    yield simple("bits/half-ushort", "half", "as_type<ushort>(half(a * b))", "ushort")
