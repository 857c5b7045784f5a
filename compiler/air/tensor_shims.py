"""Metal 4's operations on tensors, `__tensorops_impl_*`, by a header of ours: C++ as for `shims`.

What each takes is what the headers of Metal Performance Primitives declare: `matmul2d` passes the
parts of its descriptor one by one, where it does not pass a pointer to it.
"""

from __future__ import annotations

import re

from ..msl.front import clang
from .names import AirFunction

PREFIX = "__tensorops_impl_"
_HEADER = clang.HEADERS / "assay" / "tensor_product.h"
_NAMESPACES = "using namespace metal;\nusing namespace metal::__tensor;\n"
_DESCRIPTOR = "int which, int m, int n, int k, uchar tl, uchar tr, uchar relaxed, int mode"
_GIVEN = "descriptor{m, n, k, tl != 0, tr != 0, relaxed != 0, mode}"
_TYPES = "int lt, int rt, int dt"
_ELEMENT = "bytes_of(which == left ? lt : which == right ? rt : dt)"
_OF_TENSOR = "matmul2d_op_cooperative_tensor_"
# By the end of the name: what it gives, what it takes behind the descriptor, and its body.
_COOPERATIVE = {
    "data_size": (
        "ulong",
        f"{_TYPES}, int threads",
        f"return (ulong)elements_of(which, {_GIVEN}, threads) * {_ELEMENT};",
    ),
    "init": ("void", f"void* data, {_TYPES}, int threads", ""),
    "get_element_pointer": (
        "void*",
        f"void* data, ushort at, {_TYPES}",
        f"return (char*)data + (at == 0xffff ? 0 : at * {_ELEMENT});",
    ),
}
_RUN = re.compile(r"matmul2d_op_run_cooperative_(\w+?)_(\w+?)_(\w+)")
_ELEMENTS = {"f16": "half", "f32": "float", "b16": "bfloat"}


def shim_of(function: AirFunction) -> str | None:
    """C++ of an operation on tensors; None for one that is not known."""
    name = function.name.removeprefix(PREFIX)
    if name.startswith(_OF_TENSOR):
        known = _COOPERATIVE.get(name.removeprefix(_OF_TENSOR))
        if known is None:
            return None
        result, taken, body = known
        return _function(function.name, result, f"{_DESCRIPTOR}, {taken}", body)
    run = _RUN.fullmatch(name)
    if run is None or not all(kind in _ELEMENTS for kind in run.groups()):
        return None
    a, b, c = (_ELEMENTS[kind] for kind in run.groups())
    taken = f"const descriptor* d, const {a}* l, const {b}* r, {c}* sums, int threads"
    return _function(function.name, "void", taken, "multiply(d, l, r, sums);")


def _function(name: str, result: str, taken: str, body: str) -> str:
    head = f"[[clang::sycl_external]] {result} __assay_shim({taken})"
    return (
        f'{_HEADER.read_text()}{_NAMESPACES}extern "C" {head} __asm__("{name}");\n'
        f'extern "C" [[clang::always_inline]] {head} {{ {body} }}\n'
    )
