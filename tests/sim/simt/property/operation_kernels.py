"""Kernels in LLVM IR that apply every scalar operation of a type to columns of operands."""

from __future__ import annotations

from collections.abc import Iterable

import ml_dtypes
import numpy as np

INTEGERS = ("i8", "i16", "i32", "i64")
FLOATS = ("half", "bfloat", "float")
DTYPES = {
    "i8": np.uint8,
    "i16": np.uint16,
    "i32": np.uint32,
    "i64": np.uint64,
    "half": np.float16,
    "bfloat": ml_dtypes.bfloat16,
    "float": np.float32,
}
_SUFFIX = {"half": "f16", "bfloat": "bf16", "float": "f32"}
_INTEGER_BINARY = (
    "add",
    "sub",
    "mul",
    "udiv",
    "sdiv",
    "urem",
    "srem",
    "shl",
    "lshr",
    "ashr",
    "and",
    "or",
    "xor",
)
_INTEGER_CALLS = {
    "smin": 2,
    "smax": 2,
    "umin": 2,
    "umax": 2,
    "sadd.sat": 2,
    "uadd.sat": 2,
    "ssub.sat": 2,
    "usub.sat": 2,
    "fshl": 3,
    "fshr": 3,
    "ctpop": 1,
    "bitreverse": 1,
    "bswap": 1,
    "abs": 1,
    "ctlz": 1,
    "cttz": 1,
}
_FLOAT_CALLS = {
    "fma": 3,
    "sqrt": 1,
    "fabs": 1,
    "floor": 1,
    "ceil": 1,
    "trunc": 1,
    "rint": 1,
    "round": 1,
    "roundeven": 1,
    "nearbyint": 1,
    "minnum": 2,
    "maxnum": 2,
    "minimum": 2,
    "maximum": 2,
    "minimumnum": 2,
    "maximumnum": 2,
    "canonicalize": 1,
}
_INTEGER_PREDICATES = ("eq", "ne", "ult", "ule", "ugt", "uge", "slt", "sle", "sgt", "sge")
_FLOAT_PREDICATES = (
    "oeq",
    "ogt",
    "oge",
    "olt",
    "ole",
    "one",
    "ord",
    "ueq",
    "ugt",
    "uge",
    "ult",
    "ule",
    "une",
    "uno",
)


def _call(name: str, type: str, count: int) -> tuple[str, str]:
    """(declaration, expression) of an intrinsic of one type."""
    function = f"@llvm.{name}.{_SUFFIX.get(type, type)}"
    flag = name in ("abs", "ctlz", "cttz")
    declared = ", ".join([type] * count + ["i1"] * flag)
    given = ", ".join([f"{type} %{v}" for v in "abc"[:count]] + ["i1 false"] * flag)
    return f"declare {type} {function}({declared})", f"call {type} {function}({given})"


def operations(type: str) -> dict[str, tuple[str, str, str]]:
    """By a name: (declaration or "", expression on %a, %b, %c, type of the result)."""
    found: dict[str, tuple[str, str, str]] = {}
    whole = type in INTEGERS
    for op in _INTEGER_BINARY if whole else ("fadd", "fsub", "fmul", "fdiv"):
        found[op] = ("", f"{op} {type} %a, %b", type)
    for name, count in (_INTEGER_CALLS if whole else _FLOAT_CALLS).items():
        if name == "bswap" and type == "i8":
            continue
        found[name] = (*_call(name, type, count), type)
    for predicate in _INTEGER_PREDICATES if whole else _FLOAT_PREDICATES:
        compare = "icmp" if whole else "fcmp"
        found[predicate] = ("", f"{compare} {predicate} {type} %a, %b", "i1")
    for target, op in _conversions(type):
        found[f"{op} to {target}"] = ("", f"{op} {type} %a to {target}", target)
    return found


def _conversions(type: str) -> Iterable[tuple[str, str]]:
    if type in INTEGERS:
        for target in INTEGERS:
            if int(target[1:]) != int(type[1:]):
                narrower = int(target[1:]) < int(type[1:])
                yield from ((target, op) for op in (("trunc",) if narrower else ("zext", "sext")))
        yield from ((target, op) for target in FLOATS for op in ("sitofp", "uitofp"))
        return
    yield from ((target, op) for target in INTEGERS for op in ("fptosi", "fptoui"))
    if type == "float":
        yield from (("half", "fptrunc"), ("bfloat", "fptrunc"))
    else:
        yield ("float", "fpext")


def kernel(type: str, position: str, count: int) -> str:
    """A module whose kernel applies all operations of a type; operation n writes row n of `out`.

    Args:
        type: of the operands in the buffers a, b and c.
        position: machine operation that gives x; decides whether engines see x vary by lane.
        count: threads; a row of `out` has as many slots of 64 bits.
    """
    loads = "\n".join(
        f"%p{v} = getelementptr {type}, ptr addrspace(1) %{v}s, i64 %x\n"
        f"%{v} = load {type}, ptr addrspace(1) %p{v}"
        for v in "abc"
    )
    lines, declarations = [], dict.fromkeys(["declare i32 @__assay_" + position + "(i32)"])
    for number, (declaration, expression, result) in enumerate(operations(type).values()):
        declarations[declaration] = None
        lines.append(f"%r{number} = {expression}")
        value = f"{result} %r{number}"
        if result == "i1":
            lines.append(f"%w{number} = zext i1 %r{number} to i8")
            value = f"i8 %w{number}"
        lines.append(f"%i{number} = add i64 %x, {number * count}")
        lines.append(f"%q{number} = getelementptr i64, ptr addrspace(1) %out, i64 %i{number}")
        lines.append(f"store {value}, ptr addrspace(1) %q{number}")
    buffers = ", ".join(f"ptr addrspace(1) %{v}" for v in ("as", "bs", "cs", "out"))
    return "\n".join(
        [
            *declarations,
            f"define void @kernel_entry({buffers}) {{",
            f"%x32 = call i32 @__assay_{position}(i32 0)",
            "%x = zext i32 %x32 to i64",
            loads,
            *lines,
            "ret void\n}",
        ]
    )


def operands(type: str, count: int, seed: int) -> list[np.ndarray]:
    """Three columns: random bits, and all pairs of values at which operations turn."""
    random = np.random.default_rng(seed)
    dtype = np.dtype(DTYPES[type])
    bits = np.dtype(f"u{dtype.itemsize}")
    if type in INTEGERS:
        top = 1 << (8 * dtype.itemsize - 1)
        edges = np.array([0, 1, 2, 7, top - 1, top, top + 1, 2 * top - 1], bits)
    else:
        numbers = [0.0, -0.0, 1.0, -1.5, 2.5, 0.49, 3e4, 1e-7, np.inf, -np.inf, np.nan, -200.7]
        with np.errstate(over="ignore"):
            edges = np.array(numbers, np.float32).astype(dtype).view(bits)
    left, right = (part.ravel() for part in np.meshgrid(edges, edges))
    columns = []
    for edge in (left, right, right[::-1]):
        column = random.integers(0, 1 << 8 * dtype.itemsize, count, np.uint64).astype(bits)
        column[: len(edge)] = edge[:count]
        columns.append(column.view(dtype))
    return columns
