"""Functions of AIR by those of our MSL headers: one C++ function each, compiled once and kept.

The headers are what MSL source is compiled with, so that Apple's code and ours compute alike.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from assay.sim.native.disk_cache import DiskCache, digest

from ..msl.together import compiled_together
from .names import AirFunction, spelled
from .version import own_version

_CACHE = DiskCache("air")
# Functions whose precise and fast forms may differ.
_MODES = re.compile(
    "r?sqrt|exp(?:2|10)?|log(?:2|10)?|powr?|divide|(?:sin|cos|tan)(?:pi|h)?|atan2"
    "|a(?:sin|cos|tan)h?"
)
_PLAIN = re.compile(
    "floor|ceil|trunc|rint|round|fract|fabs|sign|saturate|step|smoothstep|mix|fma|fmod|fdim|ldexp"
    "|copysign|nextafter|f?(?:min|max)3?|f?median3|clamp|abs|clz|ctz|popcount|reverse_bits|rotate"
    "|(?:extract|insert)_bits|absdiff|mulhi|madhi|(?:mad|add|sub)sat|r?hadd"
)
_RENAMED = {
    "abs_diff": "absdiff",
    "mul_hi": "mulhi",
    "mad_hi": "madhi",
    "mad_sat": "madsat",
    "add_sat": "addsat",
    "sub_sat": "subsat",
}
_LANES = re.compile(
    "(?:simd|quad)_(?:sum|product|min|max|and|or|xor|prefix_(?:in|ex)clusive_(?:sum|product)"
    "|shuffle(?:_up|_down|_xor|_rotate_up|_rotate_down|_and_fill_up|_and_fill_down)?"
    "|broadcast(?:_first)?|any|all|is_first)"
)
# Expressions of `a`, `b`, ... by operation.
_OTHERS: Mapping[str, str] = {
    "sincos": "precise::sincos(a, *b)",
    "simd_ballot": "__assay_simd_ballot(a)",
    "simd_active_threads_mask": "__assay_simd_active_mask()",
    "simd_vote_all": "a == 0xfffffffful",
    "simd_vote_any": "a != 0",
    "quad_ballot": "(ushort)(quad_vote::vote_t)quad_ballot(a)",
    "quad_active_threads_mask": "(ushort)(quad_vote::vote_t)quad_active_threads_mask()",
    "get_simdgroup_size": "32",
    "get_thread_index_in_simdgroup": "__assay_thread_index_in_simdgroup()",
    "wg.barrier": "__assay_threadgroup_barrier(__ordered((mem_flags)a))",
    "simdgroup.barrier": "__assay_simdgroup_barrier(__ordered((mem_flags)a))",
    "atomic.fence": "__assay_fence(__ordered((mem_flags)a), b, c)",
    "is_uniform": "true",
    "normalize_function_constant_predicate": "a != 0",
}
_ATOMICS = ("add", "sub", "min", "max", "and", "or", "xor", "xchg")
_SIGNED = {"i8": "signed char", "i16": "short", "i32": "int", "i64": "long"}
_UNSIGNED = {"i8": "uchar", "i16": "ushort", "i32": "uint", "i64": "ulong"}
_SPACES = {
    "ptr": "",
    "ptr addrspace(1)": "__ASSAY_DEVICE ",
    "ptr addrspace(3)": "__ASSAY_THREADGROUP ",
}
_OTHER_TYPES = ("i1", "half", "bfloat", "float", "void")
_NAMES = "abcdefgh"  # of parameters
_CELLS = {"int": "i32", "uint": "u32", "long": "i64", "ulong": "u64", "float": "f32"}


def shim_of(function: AirFunction) -> str | None:
    """C++ of a function on scalars; None for one that is not known."""
    types = (function.result, *function.parameters)
    if len(function.parameters) > len(_NAMES) or not all(map(_is_known, types)):
        return None
    value = _value_type(function)
    expression = _expression(function, value)
    if expression is None:
        return None
    parameters = []
    for number, kind in enumerate(function.parameters):
        name = _NAMES[number]
        if kind in _SPACES:
            parameters.append(f"{_SPACES[kind]}{value}* {name}")
        else:
            parameters.append(f"{_spelled(kind, signed=function.is_signed)} {name}")
    result = _spelled(function.result, signed=function.is_signed)
    returns = "" if result == "void" else f"return ({result})"
    return (
        "using namespace metal;\n"
        f'extern "C" [[clang::sycl_external]] {result} __assay_shim({", ".join(parameters)}) '
        f'__asm__("{function.name}");\n'
        f'extern "C" [[clang::sycl_external]] {result} __assay_shim({", ".join(parameters)}) '
        f"{{ {returns}({expression}); }}\n"
    )


def compiled_shims(texts: Sequence[str]) -> list[bytes]:
    """The bitcode of each, from the cache on disk or made together.

    Raises:
        CompileError: if one does not compile, which is an error of ours.
    """
    from ..msl.errors import CompileError

    keys = {text: digest(own_version(), text) for text in texts}
    found = {text: _CACHE.get(key) for text, key in keys.items()}
    missing = [text for text, bitcode in found.items() if bitcode is None]
    if missing:
        made = compiled_together(missing, fast_math=False)
        for text in missing:
            if text not in made:
                made |= compiled_together([text], fast_math=False)
            if text not in made:
                raise CompileError(f"a function of AIR does not compile: {text}")
            _CACHE.put(keys[text], made[text].bitcode)
        found |= {text: made[text].bitcode for text in missing}
    return [bitcode for text in texts if (bitcode := found[text]) is not None]


def _is_known(kind: str) -> bool:
    return kind in (*_SIGNED, *_SPACES, *_OTHER_TYPES)


def _spelled(kind: str, *, signed: bool) -> str:
    """An LLVM type in C++."""
    if kind == "i1":
        return "bool"
    return (_SIGNED if signed else _UNSIGNED).get(kind, kind)


def _value_type(function: AirFunction) -> str:
    """What a function computes with, in C++: its name's last type, or what it gives."""
    kinds = [spelled(word) for word in function.words]
    known = [kind for kind in kinds if kind in (*_SIGNED, "half", "bfloat", "float")]
    kind = known[-1] if known else function.result
    return _spelled(kind, signed=function.is_signed)


def _expression(function: AirFunction, value: str) -> str | None:
    operation = function.operation
    names = ", ".join(_NAMES[: len(function.parameters)])
    if operation in _OTHERS:
        return _OTHERS[operation]
    if _LANES.fullmatch(operation):
        return f"{operation}({names})"
    if operation.startswith(("atomic.global.", "atomic.local.")):
        return _atomic(operation.split(".", 2)[2], value)
    return _mathematics(operation, names, value)


def _mathematics(operation: str, names: str, value: str) -> str | None:
    fast = operation.startswith("fast_")
    name = operation.removeprefix("fast_")
    name = _RENAMED.get(name, name)
    if name in ("clz", "ctz"):
        return f"{name}(a)"
    if _MODES.fullmatch(name) and value == "float":
        return f"{'fast' if fast else 'precise'}::{name}({names})"
    known = _MODES.fullmatch(name) or _PLAIN.fullmatch(name)
    return f"metal::{name}({names})" if known else None


def _atomic(operation: str, value: str) -> str | None:
    """An atomic access of `a`; orders, scopes and the rest of the operands say nothing new."""
    cell = _CELLS.get(value)
    if cell is None:
        return None
    place = f"({value}*)a"
    if operation == "load":
        return f"__assay_atomic_load_{cell}({place})"
    if operation == "store":
        return f"__assay_atomic_store_{cell}({place}, b)"
    if operation == "cmpxchg.weak":
        # What was there is given and written to where the expected value was.
        return _exchange(cell, value)
    if operation in _ATOMICS and not (cell == "f32" and operation in ("sub", "and", "or", "xor")):
        return f"__assay_atomic_{operation}_{cell}({place}, b)"
    return None


def _exchange(cell: str, value: str) -> str:
    bits = "uint" if cell == "f32" else value
    name = "u32" if cell == "f32" else cell
    wanted = f"__builtin_bit_cast({bits}, c)"
    return (
        f"[&] {{ {bits} was = __assay_atomic_cmpxchg_{name}(({bits}*)a, *({bits}*)b, {wanted}); "
        f"*({bits}*)b = was; return __builtin_bit_cast({value}, was); }}()"
    )
