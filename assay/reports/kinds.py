"""Kinds of findings: their stable names, what they mean, and what to do about them.

Tools that show findings by rule take their texts from here, and so does the documentation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

CHECKS = {
    "race": "Two threads or commands, or the host and a command, touch the same memory, one of "
    "them writes, and nothing orders the two.",
    "init": "A value that was never written decides something.",
    "bounds": "An access outside of the memory it belongs to, a kernel that does not end, or a "
    "constant that an operation has no result for.",
    "barrier": "Threads of a threadgroup do not all meet at the same barrier.",
    "budget": "More threadgroup memory, registers or threads than a GPU has.",
    "shuffle": "A simdgroup function reads from a lane that takes no part.",
    "uniform": "An argument that must be the same for all threads is not.",
    "lanes": "Threads of one simdgroup race, which only lock step hides.",
    "nan": "A calculation makes NaN or infinity out of numbers.",
    "overflow": "The arithmetic of an index leaves its type.",
    "unread": "A program for the NPU writes bytes that nobody reads.",
}
"""What each check looks for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of finding: its check, what it is, and what helps."""

    check: str
    title: str
    help: str


def _kind(check: str, title: str, help: str) -> Kind:
    return Kind(check=check, title=title, help=help)


KERNEL_KINDS: dict[str, Kind] = {
    "race-read-write": _kind(
        "race",
        "A read and a write without order between them",
        "Put a threadgroup_barrier between the two, or give every thread elements of its own. "
        "Threads of different threadgroups cannot be ordered within one dispatch.",
    ),
    "race-write-write": _kind(
        "race",
        "Two different writes without order between them",
        "Let one thread write, put a threadgroup_barrier between the writes, or use an atomic.",
    ),
    "weak-memory-flags": _kind(
        "race",
        "A barrier whose flags leave this memory out",
        "Give the barrier mem_flags::mem_device for device memory, mem_flags::mem_threadgroup for "
        "threadgroup memory, or both.",
    ),
    "order-dependent-result": _kind(
        "race",
        "Results that depend on which thread comes first",
        "Let no result depend on the order of threads. Sums of floats by atomic additions do: "
        "reduce within the threadgroup first, or suppress the finding with that reason.",
    ),
    "unordered-dispatches": _kind(
        "race",
        "Two dispatches of a concurrent encoder that touch the same memory",
        "Call memoryBarrierWithScope_(MTLBarrierScopeBuffers) between the two dispatches, or "
        "memoryBarrierWithResources_count_ with that very resource, or use a serial encoder.",
    ),
    "unordered-passes": _kind(
        "race",
        "Two encoders that touch the same untracked memory",
        "Call updateFence_ of the first encoder and waitForFence_ of the second with one MTLFence, "
        "or make the resource or heap with MTLHazardTrackingModeTracked. What is reached through "
        "an address is tracked only if useResource_usage_ or useHeap_ names it.",
    ),
    "unordered-queues": _kind(
        "race",
        "Command buffers of two queues that touch the same memory",
        "Signal an MTLEvent on the first queue and wait for it on the second, or use one queue: "
        "hazard tracking does not say which of two queues comes first.",
    ),
    "host-read-early": _kind(
        "race",
        "The host reads what a command buffer in flight writes",
        "Call waitUntilCompleted() of that command buffer first, or read in its completed handler.",
    ),
    "host-write-in-flight": _kind(
        "race",
        "The host writes what a command buffer in flight uses",
        "Write before commit or after waitUntilCompleted() of that command buffer, or take another "
        "buffer for the next turn.",
    ),
    "aliased-use": _kind(
        "race",
        "A command that uses a resource after makeAliasable",
        "Call makeAliasable after the last command that uses the resource was encoded.",
    ),
    "uninitialised-read": _kind(
        "init",
        "Memory that was never written decides something",
        "Write the memory before it is read; mind threads that a guard keeps from writing.",
    ),
    "out-of-bounds-read": _kind(
        "bounds",
        "A read outside of its memory",
        "Compare the index with the number of elements first, or bind a larger buffer.",
    ),
    "out-of-bounds-write": _kind(
        "bounds",
        "A write outside of its memory",
        "Compare the index with the number of elements first, or bind a larger buffer.",
    ),
    "null-read": _kind(
        "bounds", "A read where nothing is bound", "Bind a buffer before the dispatch."
    ),
    "null-write": _kind(
        "bounds", "A write where nothing is bound", "Bind a buffer before the dispatch."
    ),
    "misaligned": _kind(
        "bounds",
        "An address that the type may not have",
        "Make the address a multiple of the type's alignment, or use a packed type.",
    ),
    "use-after-free": _kind(
        "bounds",
        "An access to a buffer that is gone",
        "Keep the buffer alive until the command buffer has completed.",
    ),
    "not-resident": _kind(
        "bounds",
        "An access to a buffer that was not made resident",
        "Call useResource_usage_ for buffers that are reached through an argument buffer.",
    ),
    "wrong-address-space": _kind(
        "bounds",
        "A device pointer that holds the address of other memory",
        "Keep pointers to threadgroup memory in threadgroup pointers.",
    ),
    "read-only-write": _kind(
        "bounds",
        "A write through a binding that is for reading",
        "Make the resource writable, or write to another buffer.",
    ),
    "runaway": _kind(
        "bounds",
        "A kernel that does not end",
        "Make sure that every loop ends for every thread, or allow more with ASSAY_FUEL.",
    ),
    "constant-index": _kind(
        "bounds",
        "A constant index outside of its array",
        "Compare the index with the number of elements.",
    ),
    "shift-count": _kind(
        "bounds",
        "A shift by a constant that is not less than the number of bits",
        "Shift by less than the number of bits; Metal counts modulo that number.",
    ),
    "division-by-zero": _kind(
        "bounds",
        "A division of integers by a constant zero",
        "Compare the divisor with 0 first; Metal leaves the result open.",
    ),
    "barrier-divergence": _kind(
        "barrier",
        "Threads wait at a barrier that others never reach",
        "Move the barrier out of the branch, so that every thread of the threadgroup reaches it.",
    ),
    "threadgroup-memory": _kind(
        "budget",
        "More threadgroup memory than allowed",
        "Use smaller tiles, or reuse the same threadgroup memory for what is not needed at once.",
    ),
    "registers": _kind(
        "budget",
        "More registers than allowed",
        "Keep fewer values alive at once: smaller tiles per thread, or shorter unrolled loops.",
    ),
    "grid-limits": _kind(
        "budget", "A grid or threadgroup beyond the limits", "Split the work into several grids."
    ),
    "inactive-lane-read": _kind(
        "shuffle",
        "A value read from a lane that takes no part",
        "Call simdgroup functions where all lanes that are read from take part, outside of "
        "branches that some lanes skip.",
    ),
    "non-uniform-argument": _kind(
        "uniform",
        "An argument that must be uniform differs between threads",
        "Compute the argument from what is the same for all threads of the simdgroup.",
    ),
    "lane-race": _kind(
        "lanes",
        "Threads of one simdgroup race",
        "Put a simdgroup_barrier between the two: lock step is no promise of the language.",
    ),
    "nan-born": _kind(
        "nan", "NaN out of numbers", "Guard the operation: 0/0, inf-inf, sqrt or log of negatives."
    ),
    "infinity-born": _kind(
        "nan", "Infinity out of finite numbers", "Scale the numbers, or compute in a wider type."
    ),
    "index-overflow": _kind(
        "overflow",
        "An index that left its type",
        "Compute the index in a wider type: multiply as ulong, not as uint.",
    ),
}
"""Kinds of findings in kernels and host programs, by their stable names."""

if TYPE_CHECKING:
    KINDS: Mapping[str, Kind]
    """All kinds, those of the NPU too."""


@cache
def _all_kinds() -> Mapping[str, Kind]:
    from assay.hw.torq.check.kinds import NPU_KINDS  # only reports about the NPU need it

    others = {
        name: _kind(kind.check, kind.title, f"{kind.hint[0].upper()}{kind.hint[1:]}.")
        for name, kind in NPU_KINDS.items()
    }
    return {**KERNEL_KINDS, **others}


def __getattr__(name: str) -> Any:
    if name == "KINDS":
        return _all_kinds()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def kind_of(name: str, check: str) -> Kind:
    """What is known of a kind; for one without an entry, what its check looks for."""
    known = KERNEL_KINDS.get(name) or _all_kinds().get(name)
    if known is not None:
        return known
    return _kind(check, name.replace("-", " ").capitalize(), CHECKS.get(check, ""))
