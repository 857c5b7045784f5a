"""Metal 4's operations on tensors, by a header of ours: C++ as for `shims`.

What each takes is what the headers of Metal Performance Primitives declare: `matmul2d` passes the
parts of its descriptor one by one, where it does not pass a pointer to it.
"""

from __future__ import annotations

import re

from .names import AirFunction

_PREFIX = "__tensorops_impl_"
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
    "num_elements": (
        "ushort",
        "const void* data, int lt, int rt, int threads",
        f"return (ushort)elements_of(which, {_GIVEN}, threads);",
    ),
    "get_coordinate": (
        "void",
        f"const void* data, ushort at, int* to, int kind, int threads, {_TYPES}",
        f"to[0] = column_of(which, {_GIVEN}, at, threads); "
        f"to[1] = row_of(which, {_GIVEN}, at, threads);",
    ),
    "is_valid_element": (
        "bool",
        f"const void* data, ushort at, {_TYPES}, int threads",
        f"return is_valid(which, {_GIVEN}, at, threads);",
    ),
}
_OF_CONVOLUTION = "conv2d_cooperative_destination_"
# The same of convolutions, whose functions take all that they need of their descriptor.
_CONVOLUTIONS = {
    "data_size": (
        "ulong",
        "const convolution* c, int st, int wt, int dt, int threads",
        "return (ulong)elements_of(destination, as_matrix(c), threads) * sizeof(float);",
    ),
    "tensor_init": ("void", "void* data, const convolution* c, int a, int b, int d, int e", ""),
    "tensor_destory": ("void", "void* data, const convolution* c, int threads", ""),
    "tensor_num_elements": (
        "ushort",
        "const convolution* c, const void* data, int st, int wt, int dt, int threads",
        "return (ushort)elements_of(destination, as_matrix(c), threads);",
    ),
    "tensor_elements": (
        "void*",
        "void* data, ushort at, int dt, int threads",
        "return (char*)data + (at == 0xffff ? 0 : at * bytes_of(dt));",
    ),
    "tensor_get_coordinate": (
        "void",
        "const convolution* c, const void* data, ushort at, int dt, int* to, int kind, "
        "int st, int wt, int rt, int threads",
        "coordinate_of(c, at, to, threads);",
    ),
}
_CONVOLVE = re.compile(r"convolution2d_op_run_cooperative_dv_(\w+?)_dv_(\w+?)_f32")
_MOVE = re.compile(r"(load|store)_(dv|tg)_(\w+)")
_MOVED = {
    "load": ("{0}* data, const view<{1} {0}*>* from, int kind, int rank", "load_tensor", "from"),
    "store": ("const {0}* data, const view<{1} {0}*>* to, int kind", "store_tensor", "to"),
}
_RUN = re.compile(
    r"matmul2d_op_run_cooperative_(?P<left>(?:dv_|tg_)?[^_]+)_(?P<right>(?:dv_|tg_)?[^_]+)_(?P<sums>[^_]+)"
)
_ELEMENTS = {
    "f16": "half",
    "f32": "float",
    "b16": "bfloat",
    "bf": "bfloat",
    "i8": "signed char",
    "ui8": "uchar",
    "i32": "int",
}
_SPACES = {"dv": "__ASSAY_DEVICE", "tg": "__ASSAY_THREADGROUP"}
_PRIVATE = "{}* to, short rank, {} char* base, const void* extents, const void* strides, uchar kind"
# Tensors that a thread keeps itself: `metal::tensor` of pointers, extents and strides.
_VIEWS = {
    "air.get_descriptor_size_tensor": (
        "short",
        "short rank, short bytes",
        "return sizeof(view<__ASSAY_DEVICE char*>);",
    ),
    "air.init_strided_private_tensor.i32.global": (
        "void",
        _PRIVATE.format("void", "__ASSAY_DEVICE"),
        "make_view(to, rank, base, extents, strides);",
    ),
    "air.init_strided_private_tensor.i32.local": (
        "void",
        _PRIVATE.format("void", "__ASSAY_THREADGROUP"),
        "make_view(to, rank, base, extents, strides);",
    ),
    "air.slice_private_tensor_private_tensor.s.i32": (
        "void",
        "void* to, const void* from, short rank, const void* starts, const void* extents",
        "slice_view(to, from, rank, starts, extents);",
    ),
    "air.get_extent_private_tensor.i32": (
        "int",
        "const void* of, short rank, short dimension",
        "return ((const view<__ASSAY_DEVICE char*>*)of)->extents[dimension];",
    ),
}


def is_of_tensors(function: AirFunction) -> bool:
    """Whether a function is one of tensors, known or not."""
    return function.name.startswith(_PREFIX) or "_tensor" in function.name


def shim_of(function: AirFunction) -> str | None:
    """C++ of an operation on tensors; None for one that is not known."""
    if function.name in _VIEWS:
        return _function(function.name, *_VIEWS[function.name])
    name = function.name.removeprefix(_PREFIX)
    if name.startswith(_OF_TENSOR):
        end = name.removeprefix(_OF_TENSOR)
        known = _COOPERATIVE.get(end) or _moving(end)
        if known is None:
            return None
        result, taken, body = known
        return _function(function.name, result, f"{_DESCRIPTOR}, {taken}", body)
    if name.startswith(_OF_CONVOLUTION):
        of = _CONVOLUTIONS.get(name.removeprefix(_OF_CONVOLUTION))
        return _function(function.name, *of) if of else None
    convolve = _CONVOLVE.fullmatch(name)
    if convolve:
        return _convolving(function.name, convolve)
    run = _RUN.fullmatch(name)
    return _running(function.name, run) if run else None


def _moving(name: str) -> tuple[str, str, str] | None:
    """Elements that are loaded from a tensor in memory, or stored to one."""
    found = _MOVE.fullmatch(name)
    element = _ELEMENTS.get(found[3]) if found else None
    if found is None or element is None:
        return None
    taken, called, other = _MOVED[found[1]]
    return (
        "void",
        f"{taken.format(element, _SPACES[found[2]])}, {_TYPES}, int threads",
        f"{called}(which, {_GIVEN}, data, {other}, threads);",
    )


def _convolving(name: str, found: re.Match[str]) -> str | None:
    """A convolution whose sums are in registers."""
    kinds = [_ELEMENTS.get(kind) for kind in found.groups()]
    if None in kinds:
        return None
    source, weights = (f"const view<__ASSAY_DEVICE {kind}*>*" for kind in kinds)
    taken = (
        f"const convolution* c, {source} s, int st, {weights} w, int wt, float* sums, "
        "int threads, const int* offset"
    )
    body = f"convolve<{kinds[0]}, {kinds[1]}>(c, s, w, sums, threads, offset);"
    return _function(name, "void", taken, body)


def _running(name: str, found: re.Match[str]) -> str | None:
    """A product whose sums are in registers."""
    sums = _ELEMENTS.get(found["sums"])
    if sums not in ("float", "int"):
        return None
    taken, operands, in_memory = ["const descriptor* d"], [], False
    for which in ("left", "right"):
        space, _, kind = found[which].rpartition("_")
        element = _ELEMENTS.get(kind)
        if element is None:
            return None
        if space:
            in_memory = True
            pointer = f"{_SPACES[space]} {element}*"
            taken.append(f"const view<{pointer}>* {which}_given, int {which}_kind")
            operands.append(f"in_memory<{element}, {pointer}>{{{which}_given}}")
        else:
            taken.append(f"const {element}* {which}_given")
            operands.append(f"in_registers<{element}>{{{which}_given, *d, {which}}}")
    taken.append(f"{sums}* sums, int threads")
    body = f"multiply_views(d, {', '.join(operands)}, sums, threads);"
    if not in_memory:
        body = "multiply(d, left_given, right_given, sums);"
    return _function(name, "void", ", ".join(taken), body)


def _function(name: str, result: str, taken: str, body: str) -> str:
    head = f"[[clang::sycl_external]] {result} __assay_shim({taken})"
    return (
        f'{_NAMESPACES}extern "C" {head} __asm__("{name}");\n'
        f'extern "C" [[clang::always_inline]] {head} {{ {body} }}\n'
    )
