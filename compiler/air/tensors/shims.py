"""Metal 4's operations on tensors, by a header of ours: C++ as for `shims`.

What each takes is what the headers of Metal Performance Primitives declare: `matmul2d` passes the
parts of its descriptor one by one, where it does not pass a pointer to it.
"""

from __future__ import annotations

import re

from ..names import AirFunction

PREFIX = "__tensorops_impl_"
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
        f"return <places>is_valid(which, {_GIVEN}, at, threads);",
    ),
}
OF_CONVOLUTION = "conv2d_cooperative_destination_"
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
CONVOLVE = re.compile(r"convolution2d_op_run_cooperative_dv_(\w+?)_dv_(\w+?)_f32")
_MOVE = re.compile(r"(load|store)_(dv|tg)_(\w+)")
_MOVED = {
    "load": ("{0}* data, const void* from, int kind, int rank", "load_tensor", "from"),
    "store": ("const {0}* data, const void* to, int kind", "store_tensor", "to"),
}
RUN = re.compile(
    r"matmul2d_op_run_(?:cooperative_)?(?P<left>(?:dv_|tg_)?[^_]+)_(?P<right>(?:dv_|tg_)?[^_]+)"
    r"_(?P<sums>(?:dv_|tg_)?[^_]+)"
)
ELEMENTS = {
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
# Tensors that the host binds, by where it describes them.
_BOUND = "const __ASSAY_DEVICE void* of"
# The engine has no such function: what calls it is refused.
_REFUSED = 'extern "C" [[clang::sycl_external]] void __assay_unknown_access_of_tensor();\n'
_UNKNOWN = "if (rank) __assay_unknown_access_of_tensor(); "
_GLOBAL = {
    "air.get_null_global_tensor": ("__ASSAY_DEVICE void*", "", "return nullptr;"),
    "air.is_null_global_tensor": ("bool", _BOUND, "return !of;"),
    "air.get_extent_global_tensor.i32": (
        "int",
        f"{_BOUND}, short rank, short dimension",
        "return ((const __ASSAY_DEVICE bound*)of)->extents[dimension];",
    ),
    "air.get_stride_global_tensor.i32": (
        "int",
        f"{_BOUND}, short rank, short dimension",
        "return ((const __ASSAY_DEVICE bound*)of)->strides[dimension];",
    ),
    "air.get_data_pointer_typed_global_tensor.s.i32.global": (
        "__ASSAY_DEVICE void*",
        f"{_BOUND}, short rank, const void* at, uchar kind",
        "return element_of(of, rank, at);",
    ),
}
# Elements of tensors without dimensions. What they take for others is not public.
_ACCESS = re.compile(r"air\.(?P<how>load|store)_global_tensor\.s\.i32\.global\.(?P<kind>\w+)")
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
    return function.name.startswith(PREFIX) or "_tensor" in function.name


def shim_of(function: AirFunction, places: str = "") -> str | None:
    """C++ of an operation on tensors; None for one that is not known.

    `places` is the scope of functions that tell where elements in registers are.
    """
    known = _VIEWS.get(function.name) or _GLOBAL.get(function.name)
    if known is not None:
        return function_of(function.name, *known)
    access = _ACCESS.fullmatch(function.name)
    if access:
        return _accessing(function.name, access)
    name = function.name.removeprefix(PREFIX)
    if name.startswith(_OF_TENSOR):
        end = name.removeprefix(_OF_TENSOR)
        moved = _COOPERATIVE.get(end) or _moving(end)
        if moved is None:
            return None
        result, taken, body = moved
        body = body.replace("<places>", places)
        return function_of(function.name, result, f"{_DESCRIPTOR}, {taken}", body)
    if name.startswith(OF_CONVOLUTION):
        of = _CONVOLUTIONS.get(name.removeprefix(OF_CONVOLUTION))
        return function_of(function.name, *of) if of else None
    convolve = CONVOLVE.fullmatch(name)
    if convolve:
        return _convolving(function.name, convolve)
    run = RUN.fullmatch(name)
    return _running(function.name, run) if run else None


def _moving(name: str) -> tuple[str, str, str] | None:
    """Elements that are loaded from a tensor in memory, or stored to one."""
    found = _MOVE.fullmatch(name)
    element = ELEMENTS.get(found[3]) if found else None
    if found is None or element is None:
        return None
    taken, called, other = _MOVED[found[1]]
    return (
        "void",
        f"{taken.format(element)}, {_TYPES}, int threads",
        f"auto memory = {_seen(found[2], element, other, 'kind')}; "
        f"<places>{called}(which, {_GIVEN}, data, &memory, threads);",
    )


def _seen(space: str, element: str, given: str, how: str, rank: int = 2) -> str:
    """A view of a tensor that is passed in one of several ways, if it is in device memory."""
    pointer = f"{_SPACES[space]} {element}*"
    if space == "dv":
        return f"seen<{rank}, {pointer}>({given}, {how})"
    return f"*(const view<{pointer}>*){given}"


def _accessing(name: str, found: re.Match[str]) -> str | None:
    """One element of a tensor without dimensions."""
    element = ELEMENTS.get(found["kind"])
    if element is None:
        return None
    taken = f"{_BOUND}, short rank, const void* at, const void* more"
    place = f"*(__ASSAY_DEVICE {element}*)((const __ASSAY_DEVICE bound*)of)->base"
    if found["how"] == "load":
        return _REFUSED + function_of(name, element, taken, f"{_UNKNOWN}return {place};")
    stored = f"{_UNKNOWN}{place} = value;"
    return _REFUSED + function_of(name, "void", f"{taken}, {element} value", stored)


def _convolving(name: str, found: re.Match[str]) -> str | None:
    """A convolution whose sums are in registers."""
    kinds = [ELEMENTS.get(kind) for kind in found.groups()]
    if None in kinds:
        return None
    taken = (
        "const convolution* c, const void* s, int st, const void* w, int wt, float* sums, "
        "int threads, const int* offset"
    )
    source, weights = (
        f"auto {name}_view = {_seen('dv', str(kind), name, f'{name}t', 4)}; "
        for name, kind in zip("sw", kinds, strict=True)
    )
    called = f"convolve<{kinds[0]}, {kinds[1]}>(c, &s_view, &w_view, sums, threads, offset);"
    body = f"{source}{weights}{called}"
    return function_of(name, "void", taken, body)


def _running(name: str, found: re.Match[str]) -> str | None:
    """A product whose sums are in registers, or go to memory."""
    to, _, sum_kind = found["sums"].rpartition("_")
    sums = ELEMENTS.get(sum_kind)
    if sums is None or (not to and sums not in ("float", "int")):
        return None
    taken, operands, in_memory = ["const descriptor* d"], [], False
    for which in ("left", "right"):
        space, _, kind = found[which].rpartition("_")
        element = ELEMENTS.get(kind)
        if element is None:
            return None
        given = f"{which}_given"
        if space:
            in_memory = True
            pointer = f"{_SPACES[space]} {element}*"
            taken.append(f"const void* {given}, int {which}_kind")
            seen = _seen(space, element, given, f"{which}_kind")
            operands.append(f"in_memory<{element}, {pointer}>{{{seen}}}")
        else:
            taken.append(f"const {element}* {given}")
            operands.append(f"in_registers<{element}>{{{given}, *d, {which}}}")
    both = ", ".join(operands)
    if to:
        taken.append("const void* sums, int sums_kind, int threads")
        into = _seen(to, sums, "sums", "sums_kind")
        body = f"multiply_into<{sums}>(d, {both}, {into}, threads);"
    else:
        taken.append(f"{sums}* sums, int threads")
        body = f"multiply_views(d, {both}, sums, threads);"
        if not in_memory:
            body = "multiply(d, left_given, right_given, sums);"
    return function_of(name, "void", ", ".join(taken), body)


def function_of(name: str, result: str, taken: str, body: str) -> str:
    """C++ of a function that a module calls by its name."""
    head = f"[[clang::sycl_external]] {result} __assay_shim({taken})"
    return (
        f'{_NAMESPACES}extern "C" {head} __asm__("{name}");\n'
        f'extern "C" [[clang::always_inline]] {head} {{ {body} }}\n'
    )
