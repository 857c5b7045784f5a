"""Functions of AIR on vectors, as LLVM IR."""

from __future__ import annotations

from .body import Body, define, element_of
from .names import AirFunction, spelled, vector_parts


def by_parts(function: AirFunction) -> Body | None:
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
        result=element_of(function.result),
        parameters=tuple(element_of(kind) for kind in function.parameters),
    )
    lines, result = [], "poison"
    for at in range(count):
        passed = []
        for number, kind in enumerate(function.parameters):
            if vector_parts(kind) is None:
                passed.append(f"{kind} %{number}")
                continue
            lines.append(f"  %e{at}.{number} = extractelement {kind} %{number}, i64 {at}\n")
            passed.append(f"{element_of(kind)} %e{at}.{number}")
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
    return Body(define(function, "".join(lines), given, convergent=over_lanes), calls=(scalar,))


def _without_count(word: str, count: int) -> str:
    return word.removeprefix(f"v{count}") if spelled(word).startswith("<") else word


def vote(function: AirFunction) -> Body | None:
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
    return Body(define(function, lines, "%r"))


def dot(function: AirFunction) -> Body | None:
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
    return Body(define(function, "".join(lines), "%r"))
