"""Functions of AIR as LLVM IR: conversions, matrices, and what works on vectors by parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from .names import AirFunction, short, spelled, vector_parts

_SMALL = ("half", "bfloat")
# What a lane holds of a matrix are its first two elements; the others have no meaning.
_ROW = "  %row32 = call i32 @__assay_matrix_row()\n  %row = zext i32 %row32 to i64\n"
_COLUMN = "  %column32 = call i32 @__assay_matrix_column()\n  %column = zext i32 %column32 to i64\n"
_MMA = "declare float @__assay_mma_f32(i32, float, float, float, float, float, float) #990"
_PLACES = ("declare i32 @__assay_matrix_row() #991", "declare i32 @__assay_matrix_column() #991")
ATTRIBUTES = (
    "attributes #990 = { convergent nounwind willreturn memory(none) }\n"
    "attributes #991 = { nounwind willreturn memory(none) }\n"
    'attributes #992 = { alwaysinline nounwind "no-builtins" }\n'
    'attributes #993 = { alwaysinline convergent nounwind "no-builtins" }\n'
)


class Body:
    """The definition of a function, with the functions that it calls.

    Attributes:
        text: LLVM IR.
        calls: other functions of AIR, on scalars.
        declares: lines that declare what the engine has.
    """

    def __init__(
        self, text: str, calls: tuple[AirFunction, ...] = (), declares: tuple[str, ...] = ()
    ) -> None:
        self.text = text
        self.calls = calls
        self.declares = declares


def body_of(function: AirFunction) -> Body | None:
    """A function as IR; None if it works on scalars, or is not known."""
    if function.operation.startswith("convert"):
        return _conversion(function)
    for prefix, make in _MATRICES.items():
        if function.operation == f"simdgroup_matrix_8x8_{prefix}":
            return make(function)
    if function.operation in ("any", "all"):
        return _vote(function)
    if function.operation == "dot":
        return _dot(function)
    return _by_parts(function)


def _define(
    function: AirFunction, lines: str, result: str = "", *, convergent: bool = False
) -> str:
    end = f"  ret {function.result} {result}" if result else "  ret void"
    mark = "#993" if convergent else "#992"
    taking = ", ".join(f"{kind} %{number}" for number, kind in enumerate(function.parameters))
    head = f"define internal {function.result} @{function.name}({taking}) {mark}"
    return f"{head} {{\n{lines}{end}\n}}\n"


# -- conversions --------------------------------------------------------------------------------


def _conversion(function: AirFunction) -> Body | None:
    """`air.convert.<d>.<T>.<s>.<U>`: numbers that do not fit become the nearest that does."""
    if len(function.words) != 5:
        return None  # with a way of rounding of its own
    _, to, _, of, _ = function.words
    given, wanted = function.parameters[0], function.result
    if to == "f" and of == "f":
        return Body(_define(function, *_resized(given, wanted)))
    if of == "f" and _element(wanted) == "i1":
        zero = f"  %r = fcmp une {given} %0, zeroinitializer\n"
        return Body(_define(function, zero, "%r"))
    if of == "f":
        name = f"llvm.fpto{to}i.sat.{_mangled(wanted)}.{_mangled(given)}"
        call = f"  %r = call {wanted} @{name}({given} %0)\n"
        return Body(_define(function, call, "%r"), declares=(f"declare {wanted} @{name}({given})",))
    if to == "f":
        op = "sitofp" if of == "s" else "uitofp"
        return Body(_define(function, f"  %r = {op} {given} %0 to {wanted}\n", "%r"))
    bits = [int(_element(kind)[1:]) for kind in (given, wanted)]
    if bits[0] == bits[1]:
        return Body(_define(function, "", "%0"))
    if _element(wanted) == "i1":
        return Body(_define(function, f"  %r = icmp ne {given} %0, zeroinitializer\n", "%r"))
    op = "trunc" if bits[1] < bits[0] else "sext" if of == "s" else "zext"
    return Body(_define(function, f"  %r = {op} {given} %0 to {wanted}\n", "%r"))


def _resized(given: str, wanted: str) -> tuple[str, str]:
    """Lines that change the width of floats, and where the result is."""
    kinds = _element(given), _element(wanted)
    if kinds[0] == kinds[1]:
        return "", "%0"
    if all(kind in _SMALL for kind in kinds):
        wide = _like(given, "float")
        lines = f"  %w = fpext {given} %0 to {wide}\n  %r = fptrunc {wide} %w to {wanted}\n"
        return lines, "%r"
    op = "fpext" if kinds[1] == "float" else "fptrunc"
    return f"  %r = {op} {given} %0 to {wanted}\n", "%r"


def _element(kind: str) -> str:
    parts = vector_parts(kind)
    return parts[1] if parts else kind


def _like(kind: str, element: str) -> str:
    parts = vector_parts(kind)
    return f"<{parts[0]} x {element}>" if parts else element


def _mangled(kind: str) -> str:
    return short(kind)


# -- vectors ------------------------------------------------------------------------------------


def _by_parts(function: AirFunction) -> Body | None:
    """A function that does to each element of its vectors what its namesake does to a scalar."""
    counts = {
        parts[0]
        for kind in (function.result, *function.parameters)
        if (parts := vector_parts(kind)) is not None
    }
    if len(counts) != 1 or (vector_parts(function.result) is None and function.result != "void"):
        return None
    (count,) = counts
    scalar = AirFunction(
        name=".".join(["air", *(_without_count(word, count) for word in function.words)]),
        result=_element(function.result),
        parameters=tuple(_element(kind) for kind in function.parameters),
    )
    lines, result = [], "poison"
    for at in range(count):
        passed = []
        for number, kind in enumerate(function.parameters):
            if vector_parts(kind) is None:
                passed.append(f"{kind} %{number}")
                continue
            lines.append(f"  %e{at}.{number} = extractelement {kind} %{number}, i64 {at}\n")
            passed.append(f"{_element(kind)} %e{at}.{number}")
        call = f"call {scalar.result} @{scalar.name}({', '.join(passed)})\n"
        if function.result == "void":
            lines.append(f"  {call}")
            continue
        lines.append(f"  %c{at} = {call}")
        one = f"{scalar.result} %c{at}, i64 {at}"
        lines.append(f"  %v{at} = insertelement {function.result} {result}, {one}\n")
        result = f"%v{at}"
    given = "" if function.result == "void" else result
    over_lanes = function.operation.startswith(("simd", "quad"))
    return Body(_define(function, "".join(lines), given, convergent=over_lanes), calls=(scalar,))


def _without_count(word: str, count: int) -> str:
    return word.removeprefix(f"v{count}") if spelled(word).startswith("<") else word


def _vote(function: AirFunction) -> Body | None:
    """Whether any or all of a vector's booleans are true."""
    parts = vector_parts(function.parameters[0])
    if parts is None:
        return None
    bits = f"i{parts[0]}"
    test = "ne" if function.operation == "any" else "eq"
    number = "0" if function.operation == "any" else "-1"
    lines = (
        f"  %b = bitcast {function.parameters[0]} %0 to {bits}\n"
        f"  %r = icmp {test} {bits} %b, {number}\n"
    )
    return Body(_define(function, lines, "%r"))


def _dot(function: AirFunction) -> Body | None:
    """A sum of products, two by two, as our headers add them."""
    parts = vector_parts(function.parameters[0])
    if parts is None:
        return None
    count, kind = parts
    lines = [f"  %p = fmul {function.parameters[0]} %0, %1\n"]
    lines += [
        f"  %e{at} = extractelement {function.parameters[0]} %p, i64 {at}\n" for at in range(count)
    ]
    if count == 4:
        lines.append(f"  %a = fadd {kind} %e0, %e1\n  %b = fadd {kind} %e2, %e3\n")
        lines.append(f"  %r = fadd {kind} %a, %b\n")
    elif count == 3:
        lines.append(f"  %a = fadd {kind} %e0, %e1\n  %r = fadd {kind} %a, %e2\n")
    else:
        lines.append(f"  %r = fadd {kind} %e0, %e1\n")
    return Body(_define(function, "".join(lines), "%r"))


# -- matrices -----------------------------------------------------------------------------------


def _filled(function: AirFunction) -> Body:
    """Both of a lane's elements are the value."""
    kind, given = function.result, function.parameters[0]
    lines = (
        f"  %a = insertelement {kind} zeroinitializer, {given} %0, i64 0\n"
        f"  %r = insertelement {kind} %a, {given} %0, i64 1\n"
    )
    return Body(_define(function, lines, "%r"))


def _diagonal(function: AirFunction) -> Body:
    kind, given = function.result, function.parameters[0]
    lines = (
        f"{_ROW}{_COLUMN}  %d0 = icmp eq i64 %row, %column\n"
        "  %next = add i64 %column, 1\n  %d1 = icmp eq i64 %row, %next\n"
        f"  %x0 = select i1 %d0, {given} %0, {given} 0.0\n"
        f"  %x1 = select i1 %d1, {given} %0, {given} 0.0\n"
        f"  %a = insertelement {kind} zeroinitializer, {given} %x0, i64 0\n"
        f"  %r = insertelement {kind} %a, {given} %x1, i64 1\n"
    )
    return Body(_define(function, lines, "%r"), declares=_PLACES)


def _product(function: AirFunction) -> Body:
    """Sums in float, rounded once: the engine's operation, as for MSL."""
    lines, wide = [], []
    for number, kind in enumerate(function.parameters):
        for at in (0, 1):
            name = f"%e{number}.{at}"
            lines.append(f"  {name} = extractelement {kind} %{number}, i64 {at}\n")
            if _element(kind) != "float":
                lines.append(f"  {name}w = fpext {_element(kind)} {name} to float\n")
                name += "w"
            wide.append(f"float {name}")
    kind = function.result
    result = "zeroinitializer"
    for at in (0, 1):
        lines.append(f"  %m{at} = call float @__assay_mma_f32(i32 {at}, {', '.join(wide)})\n")
        value = f"%m{at}"
        if _element(kind) != "float":
            lines.append(f"  {value}n = fptrunc float {value} to {_element(kind)}\n")
            value += "n"
        lines.append(
            f"  %r{at} = insertelement {kind} {result}, {_element(kind)} {value}, i64 {at}\n"
        )
        result = f"%r{at}"
    text = _define(function, "".join(lines), result, convergent=True)
    return Body(text, declares=(_MMA,))


def _load(function: AirFunction) -> Body:
    kind, element = function.result, _element(function.result)
    lines = "".join(_element_places(function, 0, element))
    for at in (0, 1):
        lines += (
            f"  %x{at} = load {element}, {function.parameters[0]} %p{at}, align {_bytes(element)}\n"
        )
    lines += (
        f"  %a = insertelement {kind} zeroinitializer, {element} %x0, i64 0\n"
        f"  %r = insertelement {kind} %a, {element} %x1, i64 1\n"
    )
    return Body(_define(function, lines, "%r"), declares=_PLACES)


def _store(function: AirFunction) -> Body:
    kind = function.parameters[0]
    element = _element(kind)
    lines = "".join(_element_places(function, 1, element))
    for at in (0, 1):
        lines += (
            f"  %x{at} = extractelement {kind} %0, i64 {at}\n"
            f"  store {element} %x{at}, {function.parameters[1]} %p{at}, align {_bytes(element)}\n"
        )
    return Body(_define(function, lines), declares=_PLACES)


def _bytes(element: str) -> int:
    return 4 if element == "float" else 2


def _element_places(function: AirFunction, first: int, element: str) -> Iterator[str]:
    """Where a lane's two elements of a matrix are, from operand `first` on.

    Element (row, column) lies at `p + (origin[0] + column) * strides[0] + (origin[1] + row) *
    strides[1]`. AIR up to 2.7 has (elements per row, origin, transposed) in the place of
    (extents, strides, origin).
    """
    yield _ROW + _COLUMN
    pair = "<2 x i64>"
    if function.parameters[first + 1] == "i64":
        row, origin, turned = f"%{first + 1}", f"%{first + 2}", f"%{first + 3}"
        yield f"  %o0 = extractelement {pair} {origin}, i64 0\n"
        yield f"  %o1 = extractelement {pair} {origin}, i64 1\n"
        yield f"  %down = mul i64 %o1, {row}\n  %begin = add i64 %down, %o0\n"
        yield f"  %s0 = select i1 {turned}, i64 {row}, i64 1\n"
        yield f"  %s1 = select i1 {turned}, i64 1, i64 {row}\n"
    else:
        strides, origin = f"%{first + 2}", f"%{first + 3}"
        for at in (0, 1):
            yield f"  %s{at} = extractelement {pair} {strides}, i64 {at}\n"
            yield f"  %o{at} = extractelement {pair} {origin}, i64 {at}\n"
            yield f"  %b{at} = mul i64 %o{at}, %s{at}\n"
        yield "  %begin = add i64 %b0, %b1\n"
    yield "  %across = mul i64 %column, %s0\n  %along = mul i64 %row, %s1\n"
    yield "  %own = add i64 %across, %along\n  %at0 = add i64 %begin, %own\n"
    yield "  %at1 = add i64 %at0, %s0\n"
    for at in (0, 1):
        start = f"{function.parameters[first]} %{first}"
        yield f"  %p{at} = getelementptr {element}, {start}, i64 %at{at}\n"


_MATRICES: dict[str, Callable[[AirFunction], Body]] = {
    "init_filled": _filled,
    "init_diag": _diagonal,
    "multiply_accumulate": _product,
    "load": _load,
    "store": _store,
}
