"""A kernel's fault as a finding."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .finding import Finding, Party

if TYPE_CHECKING:
    from ..simt.ir.faults import KernelFault

# Kinds that do not tell reads from writes.
_WHOLE = ("misaligned", "use-after-free", "not-resident", "wrong-address-space")
_HINTS = {
    "out-of-bounds": "compare the index with the number of elements first, or bind a larger buffer",
    "null": "bind a buffer to the argument before the dispatch",
    "misaligned": "give the access an address that is a multiple of its type's alignment",
    "use-after-free": "keep the buffer alive until the command buffer has completed",
    "wrong-address-space": "keep pointers to threadgroup memory in threadgroup pointers",
    "read-only": "declare the argument writable, or write to another buffer",
    "runaway": "make sure that every loop ends for every thread, or allow more with ASSAY_FUEL",
}


_HINT_BEFORE = "the index is less than 0: make sure before that it is not"


def fault_finding(fault: KernelFault) -> Finding:
    """What `fault`, which stopped a kernel, is among findings: of check `bounds`."""
    kind = fault.kind.replace(" ", "-")
    kind = next((whole for whole in _WHOLE if kind.startswith(whole)), kind)
    place = fault.place
    party = Party(
        what=_action(fault),
        site=fault.site,
        threadgroup=place.threadgroup_position_in_grid,
        thread=place.thread_position_in_threadgroup,
        simdgroup=place.simdgroup,
        lane=place.lane,
    )
    hint = next((text for start, text in _HINTS.items() if kind.startswith(start)), "")
    return Finding(
        check="bounds",
        kind=kind,
        kernel=fault.kernel,
        message=fault.what,
        parties=(party,),
        memory=fault.buffer,
        offset=fault.offset if fault.buffer and fault.length >= 0 else -1,
        hint=_HINT_BEFORE if fault.is_before else hint,
        at_any_size=fault.at_any_size,
    )


def _action(fault: KernelFault) -> str:
    if fault.kind == "runaway":
        return "still running"
    verb = "write" if "write" in fault.kind else "read" if "read" in fault.kind else "access"
    return f"{verb} of {fault.size} byte{'s' if fault.size != 1 else ''}"
