"""Functions of AIR whose parameters are vectors, by C++ that takes their elements one by one.

C++ passes vectors by the rules of the machine that it is compiled for, which are not AIR's.
"""

from __future__ import annotations

from .body import Body, define
from .names import AirFunction, vector_parts

_SIGNED = {"i8": "signed char", "i16": "short", "i32": "int", "i64": "long"}
_UNSIGNED = {"i8": "uchar", "i16": "ushort", "i32": "uint", "i64": "ulong"}
_POINTERS = {
    "ptr": "void*",
    "ptr addrspace(1)": "__ASSAY_DEVICE void*",
    "ptr addrspace(3)": "__ASSAY_THREADGROUP void*",
    "ptr addrspace(6)": "const __ASSAY_CONSTANT void*",
}


def scalar_type(kind: str, *, signed: bool = False) -> str | None:
    """A scalar of LLVM in C++; None for another type. Booleans are passed as `uint`."""
    if kind in ("half", "bfloat", "float"):
        return kind
    return "uint" if kind == "i1" else (_SIGNED if signed else _UNSIGNED).get(kind)


def flattened(
    function: AirFunction,
    code: str,
    *,
    handles: bool = False,
    signed: bool = False,
    convergent: bool = False,
    in_memory: bool = False,
) -> Body | None:
    """The function by C++ `code`: `p2` is parameter 2 in it, `p3_0` an element of parameter 3.

    A scalar is returned, unless `in_memory` is said; other results are written to `out`, a pointer
    to elements. With `handles` pointers that are not private are numbers (`ulong`), which is what
    textures and samplers are. None for types that are not known.
    """
    lines: list[str] = []
    passed: list[str] = []
    taken: list[str] = []
    for number, kind in enumerate(function.parameters):
        if handles and kind.startswith("ptr addrspace"):
            lines.append(f"  %h{number} = ptrtoint {kind} %{number} to i64\n")
            passed.append(f"i64 %h{number}")
            taken.append(f"ulong p{number}")
        elif kind in _POINTERS:
            passed.append(f"{kind} %{number}")
            taken.append(f"{_POINTERS[kind]} p{number}")
        else:
            count, element = vector_parts(kind) or (0, kind)
            spelled = scalar_type(element, signed=signed)
            if spelled is None:
                return None
            for at in range(max(count, 1)):
                place, name = f"%{number}", f"p{number}"
                if count:
                    place, name = f"%e{number}.{at}", f"p{number}_{at}"
                    lines.append(f"  {place} = extractelement {kind} %{number}, i64 {at}\n")
                if element == "i1":
                    lines.append(f"  {place.replace('%', '%z')} = zext i1 {place} to i32\n")
                    place = place.replace("%", "%z")
                passed.append(f"{'i32' if element == 'i1' else element} {place}")
                taken.append(f"{spelled} {name}")
    wanted = _written(function.result, in_memory=in_memory)
    if wanted is None:
        return _returned(function, code, lines, passed, taken, convergent=convergent)
    out = scalar_type((vector_parts(wanted) or (0, wanted))[1], signed=signed)
    if out is None:
        return None
    name = f"{function.name}.parts"
    lines.insert(0, f"  %out = alloca {wanted}\n")
    passed.insert(0, "ptr %out")
    taken.insert(0, f"{out}* out")
    lines.append(f"  call void @{name}({', '.join(passed)})\n  %r = load {wanted}, ptr %out\n")
    end = "%r"
    if function.result != wanted:  # with the residency of its texels, of which none is missing
        lines.append(f"  %s = insertvalue {function.result} zeroinitializer, {wanted} %r, 0\n")
        end = "%s"
    text = define(function, "".join(lines), end, convergent=convergent)
    return _body(name, text, "void", "void", passed, taken, code)


def _returned(
    function: AirFunction,
    code: str,
    lines: list[str],
    passed: list[str],
    taken: list[str],
    *,
    convergent: bool,
) -> Body | None:
    """A function that gives nothing or a scalar."""
    name, result = f"{function.name}.parts", function.result
    call = f"call {result} @{name}({', '.join(passed)})\n"
    returns = "void" if result == "void" else _POINTERS.get(result) or scalar_type(result)
    if returns is None:
        return None
    lines.append(f"  {call}" if result == "void" else f"  %r = {call}")
    end = "" if result == "void" else "%r"
    text = define(function, "".join(lines), end, convergent=convergent)
    return _body(name, text, result, "bool" if result == "i1" else returns, passed, taken, code)


def _body(
    name: str,
    text: str,
    result: str,
    returns: str,
    passed: list[str],
    taken: list[str],
    code: str,
) -> Body:
    """What calls the C++ function, with its declaration and definition."""
    kinds = ", ".join(each.rpartition(" ")[0] for each in passed)
    head = f"[[clang::sycl_external]] {returns} __assay_shim({', '.join(taken)})"
    shim = (
        f'using namespace metal;\nextern "C" {head} __asm__("{name}");\n'
        f'extern "C" {head} {{ {code} }}\n'
    )
    return Body(text, declares=(f"declare {result} @{name}({kinds})",), shims=(shim,))


def _written(result: str, *, in_memory: bool) -> str | None:
    """The type that is written to memory for a result: a vector, or a struct's first member."""
    if vector_parts(result) is not None or (in_memory and result != "void" and result[0] != "{"):
        return result
    if result.startswith("{") and result.endswith(", i8 }"):
        return result[1:].removesuffix(", i8 }").strip()
    return None
