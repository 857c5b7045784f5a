"""Functions of AIR as LLVM IR: those that our headers have no function of scalars for."""

from __future__ import annotations

from collections.abc import Callable

from .body import Body
from .conversions import conversion
from .matrices import MATRICES
from .names import UNKNOWN, AirFunction
from .vectors import by_parts, dot, vote

_MATRIX = "simdgroup_matrix_8x8_"
# By operation, with how many parameters each has.
_OWN: dict[str, tuple[int, Callable[[AirFunction], Body | None]]] = {
    "any": (1, vote),
    "all": (1, vote),
    "dot": (2, dot),
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
    return _OWN.get(function.operation, (len(function.parameters), by_parts))
