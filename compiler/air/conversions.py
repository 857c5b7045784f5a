"""Functions of AIR that change the type of numbers, as LLVM IR."""

from __future__ import annotations

from assay.sim.simt.ir.llvm_types import mangled

from .body import Body, define, element_of
from .names import AirFunction, vector_parts

_SMALL = ("half", "bfloat")


def conversion(function: AirFunction) -> Body | None:
    """`air.convert.<d>.<T>.<s>.<U>`: numbers that do not fit become the nearest that does."""
    if len(function.words) != 5:
        return None  # with a way of rounding of its own
    _, to, _, of, _ = function.words
    given, wanted = function.parameters[0], function.result
    if to == "f" and of == "f":
        return Body(define(function, *_resized(given, wanted)))
    if of == "f" and element_of(wanted) == "i1":
        zero = f"  %r = fcmp une {given} %0, zeroinitializer\n"
        return Body(define(function, zero, "%r"))
    if of == "f":
        name = f"llvm.fpto{to}i.sat.{mangled(wanted)}.{mangled(given)}"
        call = f"  %r = call {wanted} @{name}({given} %0)\n"
        return Body(define(function, call, "%r"), declares=(f"declare {wanted} @{name}({given})",))
    if to == "f":
        op = "sitofp" if of == "s" else "uitofp"
        return Body(define(function, f"  %r = {op} {given} %0 to {wanted}\n", "%r"))
    bits = [int(element_of(kind)[1:]) for kind in (given, wanted)]
    if bits[0] == bits[1]:
        return Body(define(function, "", "%0"))
    if element_of(wanted) == "i1":
        return Body(define(function, f"  %r = icmp ne {given} %0, zeroinitializer\n", "%r"))
    op = "trunc" if bits[1] < bits[0] else "sext" if of == "s" else "zext"
    return Body(define(function, f"  %r = {op} {given} %0 to {wanted}\n", "%r"))


def _resized(given: str, wanted: str) -> tuple[str, str]:
    """Lines that change the width of floats, and where the result is."""
    kinds = element_of(given), element_of(wanted)
    if kinds[0] == kinds[1]:
        return "", "%0"
    if all(kind in _SMALL for kind in kinds):
        wide = _like(given, "float")
        lines = f"  %w = fpext {given} %0 to {wide}\n  %r = fptrunc {wide} %w to {wanted}\n"
        return lines, "%r"
    op = "fpext" if kinds[1] == "float" else "fptrunc"
    return f"  %r = {op} {given} %0 to {wanted}\n", "%r"


def _like(kind: str, element: str) -> str:
    parts = vector_parts(kind)
    return f"<{parts[0]} x {element}>" if parts else element
