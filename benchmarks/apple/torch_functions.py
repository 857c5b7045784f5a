"""PyTorch's kernels of one element at a time, from the headers that its wheel has.

`c10/metal` holds the kernels as templates, and functions that Metal has not. What a kernel of a
name computes of one element or two is a function object in a file that no wheel has: those here are
ours, written from what the functions of PyTorch are. Which types and forms there are, the names in
the library say.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from assay.launches.inputs import Exact, Given, Setup

from .launches.values import ints, longs, tiles
from .torch_launches.values import TYPE_OF, drawn, exact

_HEAD = """#include <c10/metal/indexing.h>
#include <c10/metal/special_math.h>
#include <c10/metal/igamma.h>
#include <metal_stdlib>
using namespace metal;
template <class T>
using real_of = conditional_t<is_floating_point_v<T>, T, float>;
"""
_TYPES = "float|half|bfloat|int|uint|long|ulong|short|ushort|char|uchar|bool"
_KERNEL = re.compile(rf"(?P<name>\w+?)_dense_(?P<result>{_TYPES})_(?P<of>{_TYPES})")
_FORMS = ["strided", "inner_contiguous", "dense", "dense_scalar"]
_FORMS_OF_TWO = ["dense_ilp4", "dense_broadcast", "dense_broadcast_rhs", "dense_scalar_lhs"]
_LONGEST = "|".join(sorted((*_FORMS, *_FORMS_OF_TWO), key=len, reverse=True))
_PARTS = re.compile(rf"(?P<name>\w+?)_(?P<form>{_LONGEST})_(?P<result>{_TYPES})_(?P<of>{_TYPES})")
_OPERANDS = {
    "dense_broadcast": ("input", "broadcast"),
    "dense_broadcast_rhs": ("broadcast", "input"),
    "dense_scalar": ("input", "scalar"),
    "dense_scalar_lhs": ("scalar", "input"),
}
_ROWS, _COLUMNS, _AT_ONCE = 3, 21, 4
_ROOM = _ROWS * _COLUMNS
_BEFORE = 0xA5  # in each byte of a result

# Of one element, in the wider type that the function computes in.
_OF_HEADERS = (
    "erf",
    "erfc",
    "erfcx",
    "erfinv",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "entr",
    "bessel_j0_forward",
    "bessel_j1_forward",
    "bessel_y0_forward",
    "bessel_y1_forward",
    "modified_bessel_i0_forward",
    "modified_bessel_i1_forward",
    "modified_bessel_k0_forward",
    "modified_bessel_k1_forward",
    "scaled_modified_bessel_k0_forward",
    "scaled_modified_bessel_k1_forward",
    "spherical_bessel_j0",
    "sinc",
)
_OF_METAL = (
    "exp",
    "exp2",
    "log",
    "log2",
    "log10",
    "sqrt",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
)
_ONE = {
    **{name: f"real_of<T>(c10::metal::{name}(real_of<T>(a)))" for name in _OF_HEADERS},
    **{name: f"real_of<T>(precise::{name}(float(a)))" for name in _OF_METAL},
    **{name: f"T({name}(a))" for name in ("floor", "ceil", "trunc")},
    "rsqrt": "real_of<T>(1 / precise::sqrt(float(a)))",
    "lgamma": "real_of<T>(c10::metal::log_gamma(float(a)))",
    **{name: f"real_of<T>(c10::metal::{name}(float(a)))" for name in ("digamma", "trigamma")},
    "neg": "T(-a)",
    "sqr": "T(a * a)",
    "bitwise_not": "is_same_v<T, bool> ? T(!a) : T(~int64_t(a))",
    "logical_not": "a == 0",
}
_POLYNOMIALS = (
    *(f"{shifted}chebyshev_polynomial_{kind}" for shifted in ("", "shifted_") for kind in "tuvw"),
    "hermite_polynomial_h",
    "hermite_polynomial_he",
    "laguerre_polynomial_l",
)
_COMPARED = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_BITS = {"and": "&", "or": "|", "xor": "^"}
_TWO = {
    **{name: f"T({name}(a, b))" for name in ("fmax", "fmin", "nextafter")},
    **{name: f"real_of<T>(c10::metal::{name}(a, b))" for name in ("zeta", "xlogy", "xlog1py")},
    **{
        name: f"c10::metal::{name}(real_of<T>(a), real_of<T>(b))"
        for name in ("logaddexp", "logaddexp2")
    },
    **{name: f"T(c10::metal::{name}(float(a), float(b)))" for name in ("igamma", "igammac")},
    **{
        name: f"real_of<T>(c10::metal::{name}_forward(float(a), int64_t(b)))"
        for name in _POLYNOMIALS
    },
    **{name: f"a {sign} b" for name, sign in _COMPARED.items()},
    **{f"bitwise_{name}": f"T(a {sign} b)" for name, sign in _BITS.items()},
    "maximum": "T(c10::metal::max(a, b))",
    "minimum": "T(c10::metal::min(a, b))",
    "atan2": "real_of<T>(precise::atan2(float(a), float(b)))",
    "copysign": "real_of<T>(copysign(real_of<T>(a), real_of<T>(b)))",
    "add": "T(a + b)",
    "sub": "T(a - b)",
    "mul": "T(a * b)",
    "div_true": "real_of<T>(float(a) / float(b))",
    "logical_and": "bool(a) && bool(b)",
    "logical_or": "bool(a) || bool(b)",
    "logical_xor": "bool(a) != bool(b)",
}
FUNCTIONS = (*_ONE, *_TWO)


def kernels(name: str, there: Iterable[str]) -> list[str]:
    """The kernels of a function that a library has, in all types that are written here."""
    names = frozenset(there)
    forms = [*_FORMS, *(_FORMS_OF_TWO if name in _TWO else ())]
    types = _types(name, names)
    found = [f"{name}_{form}_{result}_{of}" for result, of in types for form in forms]
    return [each for each in found if each in names]


def _types(name: str, names: Iterable[str]) -> list[tuple[str, str]]:
    """Pairs of the result's type and the operands' that a function has."""
    matches = (_KERNEL.fullmatch(each) for each in names)
    return sorted({(m["result"], m["of"]) for m in matches if m is not None and m["name"] == name})


def source(name: str, there: Iterable[str]) -> str:
    """The text of a file that has a function's kernels."""
    taken, body = ("T a, T b", _TWO[name]) if name in _TWO else ("T a", _ONE[name])
    register = "REGISTER_BINARY_OP" if name in _TWO else "REGISTER_UNARY_OP"
    lines = [f"{register}({name}, {of}, {result});" for result, of in _types(name, there)]
    functor = (
        f"struct {name}_functor {{ template <class T> auto operator()({taken}) "
        f"{{ return {body}; }} }};"
    )
    return "\n".join((_HEAD, functor, *lines, ""))


def is_known(kernel: str) -> bool:
    """Whether it is a kernel of one of the functions here."""
    found = _PARTS.fullmatch(kernel)
    return found is not None and found["name"] in FUNCTIONS


def launch(kernel: str) -> Setup:
    """What PyTorch's host gives a kernel: three rows, whose last elements fill no word."""
    found = _PARTS.fullmatch(kernel)
    assert found is not None, kernel
    form, is_two = found["form"], found["name"] in _TWO
    operands = _OPERANDS.get(form, ("input", "other")) if is_two else ("input",)
    into = "out" if is_two and form.startswith("dense") else "output"
    of, result = (TYPE_OF[found[part]].itemsize for part in ("of", "result"))
    arrays: dict[str, Given] = {
        each: exact(drawn(f"{kernel}.{each}", found["of"], _ROOM)) for each in operands
    }
    arrays[into] = Exact(array=np.full(_ROOM * result, _BEFORE, np.uint8))
    sizes = {into: result, **dict.fromkeys(operands, of)}
    threads = (_ROOM, 1, 1)
    if form == "strided":
        arrays |= {f"{side}_strides": longs(size, size * _COLUMNS) for side, size in sizes.items()}
        arrays |= {"sizes": longs(_COLUMNS, _ROWS), "ndim": ints(2, 0, 0, 0) if is_two else ints(2)}
        threads = threads if is_two else (_COLUMNS, _ROWS, 1)
    elif form == "inner_contiguous":
        arrays |= {f"{side}_outer_strides": longs(size * _COLUMNS) for side, size in sizes.items()}
        arrays |= {"outer_sizes": longs(_ROWS), "ndim_outer_inner": ints(1, _COLUMNS)}
        threads = (tiles(_COLUMNS, _AT_ONCE), _ROWS, 1)
    elif form.startswith("dense_broadcast"):
        arrays["broadcast_numel"] = longs(_COLUMNS)
    elif form == "dense_ilp4" or (form == "dense" and not is_two):
        arrays["numel"] = ints(_ROOM)
        threads = (tiles(_ROOM, _AT_ONCE), 1, 1)
    return Setup(threads=threads, threadgroup=(8, 1, 1), arguments=arrays)
