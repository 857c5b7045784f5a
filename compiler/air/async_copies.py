"""A simdgroup's asynchronous copies, by what MSL's headers do for them.

Operands as declared by programs that name these functions in their source, such as
metal-flash-attention: a tile is (columns, rows); an event is a pointer.
"""

from __future__ import annotations

import re

from .body import Body
from .flat import flattened
from .names import AirFunction

_SPANS = {"p3i8.p1i8": ("ptr addrspace(3)", "ptr addrspace(1)")}
_SPANS |= {"p1i8.p3i8": (_SPANS["p3i8.p1i8"][1], _SPANS["p3i8.p1i8"][0])}
_PAIR = "<2 x i64>"
_NAME = re.compile(r"air\.simdgroup_async_copy_(?P<rank>[12])d\.(?P<span>p[13]i8\.p[13]i8)")
_EVENTS = ("ptr", "ptr addrspace(3)", "ptr addrspace(1)")


def async_copy(function: AirFunction) -> Body | None:
    """A copy between device and threadgroup memory; None if its operands are not as known."""
    found = _NAME.fullmatch(function.name)
    if found is None or found["span"] not in _SPANS or function.result not in _EVENTS:
        return None
    to, of = _SPANS[found["span"]]
    if found["rank"] == "1":
        taken: tuple[str, ...] = ("i64", "i64", to, of, "i64")
        call = "__copy_line(p0, p1, p2, p3, p4)"
    else:
        taken = ("i64", "i64", to, "i64", "i64", _PAIR, of, "i64", "i64", _PAIR, _PAIR, "i32")
        call = (
            "__copy_tile(p0, p1, p2, p3, ulong2(p5_0, p5_1), p6, p7, ulong2(p9_0, p9_1), "
            "long2(p10_0, p10_1), p11)"
        )
    if function.parameters != taken:
        return None
    space = "" if function.result == "ptr" else "(ulong)"
    kind = {"ptr": "void*", "ptr addrspace(3)": "__ASSAY_THREADGROUP void*"}
    cast = f"({kind.get(function.result, '__ASSAY_DEVICE void*')}){space}"
    return flattened(function, f"return {cast}{call};", convergent=True)


def wait_for_copies(function: AirFunction) -> Body | None:
    """Wait for the copies of so many events."""
    if function.result != "void" or function.parameters != ("i32", "ptr"):
        return None
    code = "__wait_for_copies((int)p0, (void**)p1);"
    return flattened(function, code, convergent=True)
