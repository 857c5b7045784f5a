"""What the definitions of AIR's functions in LLVM IR are made of."""

from __future__ import annotations

from dataclasses import dataclass

from .names import AirFunction, vector_parts

ATTRIBUTES = (
    "attributes #990 = { convergent nounwind willreturn memory(none) }\n"
    "attributes #991 = { nounwind willreturn memory(none) }\n"
    'attributes #992 = { alwaysinline nounwind "no-builtins" }\n'
    'attributes #993 = { alwaysinline convergent nounwind "no-builtins" }\n'
)


@dataclass(frozen=True, slots=True)
class Body:
    """The definition of a function, with the functions that it calls.

    Attributes:
        text: LLVM IR.
        calls: other functions of AIR, on scalars.
        declares: lines that declare what the engine has, or `shims` define.
        shims: C++ of functions that it calls.
    """

    text: str
    calls: tuple[AirFunction, ...] = ()
    declares: tuple[str, ...] = ()
    shims: tuple[str, ...] = ()


def define(function: AirFunction, lines: str, result: str = "", *, convergent: bool = False) -> str:
    """A function's text: `lines` compute `result` of its parameters `%0`, `%1` and so on."""
    end = f"  ret {function.result} {result}" if result else "  ret void"
    mark = "#993" if convergent else "#992"
    taking = ", ".join(f"{kind} %{number}" for number, kind in enumerate(function.parameters))
    head = f"define internal {function.result} @{function.name}({taking}) {mark}"
    return f"{head} {{\n{lines}{end}\n}}\n"


def element_of(kind: str) -> str:
    """The type of a vector's elements; that of a scalar is its own."""
    parts = vector_parts(kind)
    return parts[1] if parts else kind
