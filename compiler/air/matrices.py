"""Functions of AIR on matrices of a simdgroup, as LLVM IR."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from .body import Body, define, element_of
from .names import AirFunction

# What a lane holds of a matrix are its first two elements; the others have no meaning.
_ROW = "  %row32 = call i32 @__assay_matrix_row()\n  %row = zext i32 %row32 to i64\n"
_COLUMN = "  %column32 = call i32 @__assay_matrix_column()\n  %column = zext i32 %column32 to i64\n"
_MMA = "declare float @__assay_mma_f32(i32, float, float, float, float, float, float) #990"
_PLACES = ("declare i32 @__assay_matrix_row() #991", "declare i32 @__assay_matrix_column() #991")


def _filled(function: AirFunction) -> Body:
    """Both of a lane's elements are the value."""
    kind, given = function.result, function.parameters[0]
    lines = (
        f"  %a = insertelement {kind} zeroinitializer, {given} %0, i64 0\n"
        f"  %r = insertelement {kind} %a, {given} %0, i64 1\n"
    )
    return Body(define(function, lines, "%r"))


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
    return Body(define(function, lines, "%r"), declares=_PLACES)


def _product(function: AirFunction) -> Body:
    """Sums in float, rounded once: the engine's operation, as for MSL."""
    lines, wide = [], []
    for number, kind in enumerate(function.parameters):
        for at in (0, 1):
            name = f"%e{number}.{at}"
            lines.append(f"  {name} = extractelement {kind} %{number}, i64 {at}\n")
            if element_of(kind) != "float":
                lines.append(f"  {name}w = fpext {element_of(kind)} {name} to float\n")
                name += "w"
            wide.append(f"float {name}")
    kind = function.result
    result = "zeroinitializer"
    for at in (0, 1):
        lines.append(f"  %m{at} = call float @__assay_mma_f32(i32 {at}, {', '.join(wide)})\n")
        value = f"%m{at}"
        if element_of(kind) != "float":
            lines.append(f"  {value}n = fptrunc float {value} to {element_of(kind)}\n")
            value += "n"
        lines.append(
            f"  %r{at} = insertelement {kind} {result}, {element_of(kind)} {value}, i64 {at}\n"
        )
        result = f"%r{at}"
    text = define(function, "".join(lines), result, convergent=True)
    return Body(text, declares=(_MMA,))


def _load(function: AirFunction) -> Body:
    kind, element = function.result, element_of(function.result)
    lines = "".join(_element_places(function, 0, element))
    for at in (0, 1):
        lines += (
            f"  %x{at} = load {element}, {function.parameters[0]} %p{at}, align {_bytes(element)}\n"
        )
    lines += (
        f"  %a = insertelement {kind} zeroinitializer, {element} %x0, i64 0\n"
        f"  %r = insertelement {kind} %a, {element} %x1, i64 1\n"
    )
    return Body(define(function, lines, "%r"), declares=_PLACES)


def _store(function: AirFunction) -> Body:
    kind = function.parameters[0]
    element = element_of(kind)
    lines = "".join(_element_places(function, 1, element))
    for at in (0, 1):
        lines += (
            f"  %x{at} = extractelement {kind} %0, i64 {at}\n"
            f"  store {element} %x{at}, {function.parameters[1]} %p{at}, align {_bytes(element)}\n"
        )
    return Body(define(function, lines), declares=_PLACES)


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


MATRICES: dict[str, tuple[int, Callable[[AirFunction], Body]]] = {
    "init_filled": (1, _filled),
    "init_diag": (1, _diagonal),
    "multiply_accumulate": (3, _product),
    "load": (4, _load),
    "store": (5, _store),
}
"""By the end of the operation, with how many parameters each has."""
