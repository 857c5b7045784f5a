"""Functions of AIR as LLVM IR: those that our headers have no function of scalars for."""

from __future__ import annotations

from collections.abc import Callable

from .async_copies import async_copy, wait_for_copies
from .body import Body, define
from .conversions import conversion
from .matrices import MATRICES
from .names import UNKNOWN, AirFunction
from .textures.functions import is_of_textures, texture_body
from .vectors import by_parts, dot, vote
from .visible import table_body

_MATRIX = "simdgroup_matrix_8x8_"
_COHERENT = "system_coherent"
# By operation, with how many parameters each has.
_OWN: dict[str, tuple[int, Callable[[AirFunction], Body | None]]] = {
    "any": (1, vote),
    "all": (1, vote),
    "dot": (2, dot),
    "simdgroup_async_copy_1d": (5, async_copy),
    "simdgroup_async_copy_2d": (12, async_copy),
    "wait_simdgroup_events": (2, wait_for_copies),
    **{_MATRIX + name: known for name, known in MATRICES.items()},
}


def body_of(function: AirFunction) -> Body | None:
    """A function as IR; None if it works on scalars, or is not known."""
    if UNKNOWN in (function.result, *function.parameters):
        return None
    count, make = _maker(function)
    return make(function) if len(function.parameters) == count else None


def _maker(function: AirFunction) -> tuple[int, Callable[[AirFunction], Body | None]]:
    if function.words[0] == "convert":  # and both types, with a letter before each
        return 1, conversion
    if function.name.endswith("_visible_function_table"):
        return len(function.parameters), table_body
    if function.words[1:2] == (_COHERENT,):
        return 1 + (function.words[0] == "store"), _coherent_access
    if is_of_textures(function):
        return len(function.parameters), texture_body
    return _OWN.get(function.operation, (len(function.parameters), by_parts))


def _coherent_access(function: AirFunction) -> Body | None:
    """An access of memory that the host sees at once, as it sees all memory here."""
    name = ".".join(function.words[:3])
    if name == f"load.{_COHERENT}.volatile" and _is_pointer(function.parameters[0]):
        lines = f"  %was = load volatile {function.result}, {function.parameters[0]} %0\n"
        return Body(define(function, lines, "%was"))
    if name == f"store.{_COHERENT}.volatile" and _is_pointer(function.parameters[1]):
        value, place = function.parameters
        return Body(define(function, f"  store volatile {value} %0, {place} %1\n"))
    return None


def _is_pointer(kind: str) -> bool:
    return kind == "ptr addrspace(1)"
