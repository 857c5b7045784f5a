"""What kernels are checked for: each check, and each kind of finding, declared once.

The command line, the documentation's texts, the reports of watched kernels and the header of their
C code are made of these rows.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One check.

    Attributes:
        what: what it looks for.
        usual: whether it belongs to `all`; else it is made only when it is named.
        watches: whether it looks at kernels while they run, in code generated for it.
    """

    what: str
    usual: bool = True
    watches: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What watched code reports of one access or value, without another side.

    Attributes:
        number: what generated code and C call it: REPORT_ and the kind's name. `layout` has
            those of other reports, all below 32.
        message: the finding's, with `{detail}` where the largest number reported stands, or
            `{lanes}` where the lanes that it names are counted.
        action: what the reported thread does.
        hint: what to do about it.
        severity: the finding's.
        by_line: whether all of one line of the source is one finding.
    """

    number: int
    message: str
    action: str
    hint: str
    severity: str = "error"
    by_line: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of finding: its check, what it is, what helps, and how watched code reports it."""

    check: str
    title: str
    help: str
    report: Report | None = None


def _kind(check: str, title: str, help: str, report: Report | None = None) -> Kind:
    return Kind(check=check, title=title, help=help, report=report)


CHECKS: dict[str, Check] = {
    "race": Check(
        what="Two threads or commands, or the host and a command, touch the same memory, one of "
        "them writes, and nothing orders the two.",
    ),
    "init": Check(what="A value that was never written decides something."),
    "bounds": Check(
        what="An access outside of the memory it belongs to, a kernel that does not end, or a "
        "constant that an operation has no result for.",
    ),
    "barrier": Check(what="Threads of a threadgroup do not all meet at the same barrier."),
    "budget": Check(
        what="More threadgroup memory, registers or threads than a GPU has.", watches=False
    ),
    "shuffle": Check(
        what="A simdgroup function reads from a lane that takes no part, or is not called by all "
        "lanes that it needs.",
    ),
    "uniform": Check(what="An argument that must be the same for all threads is not."),
    "lanes": Check(what="Threads of one simdgroup race, which only lock step hides.", usual=False),
    "nan": Check(what="A calculation makes NaN or infinity out of numbers.", usual=False),
    "overflow": Check(what="The arithmetic of an index leaves its type.", usual=False),
    "rows": Check(
        what="An index leaves its row of a two-dimensional array, and meets the next one.",
        usual=False,
    ),
    "banks": Check(
        what="Lanes of a simdgroup wait for each other at a bank of threadgroup memory.",
        usual=False,
    ),
}
"""The checks of kernels by name."""

DEFAULT_CHECKS = tuple(name for name, check in CHECKS.items() if check.usual)
OPTIONAL_CHECKS = tuple(name for name, check in CHECKS.items() if not check.usual)
WATCHING_CHECKS = frozenset(name for name, check in CHECKS.items() if check.watches)

KINDS: dict[str, Kind] = {
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
    "copy-not-waited": _kind(
        "race",
        "An access to what an asynchronous copy reads or writes",
        "Wait for the event of the copy before its target is used or its source is written.",
    ),
    "texture-not-fenced": _kind(
        "race",
        "A read of a texel that the same thread wrote, without a fence",
        "Call fence() of the texture between the write and the read; what a thread has written to "
        "a texture of access::read_write it may not see itself without.",
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
    "missing-wait": _kind(
        "race",
        "Work of a module on two devices that touches the same memory without a wait",
        "Let the one device signal a semaphore behind its work, and the other one, or the host's "
        "copy between them, wait for that.",
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
    "lane-out-of-range": _kind(
        "shuffle",
        "A value read from a lane that the group has not",
        "Name lanes from 0 to 31 of a simdgroup, or 0 to 3 of a quadgroup. What comes from beyond "
        "is undefined; simd_shuffle_down and simd_shuffle_up leave a lane its own value there.",
    ),
    "partial-simdgroup": _kind(
        "shuffle",
        "A function of a whole simdgroup that not all lanes call",
        "Call simdgroup_load, simdgroup_store and simdgroup_multiply_accumulate, and asynchronous "
        "copies, where all 32 lanes of the simdgroup are, with threadgroups of a multiple of 32 "
        "threads.",
        Report(
            number=33,
            message="only {lanes} of 32 lanes call a function that all lanes of the simdgroup "
            "must call together",
            action="calls the function without the other lanes",
            hint="call it outside of branches that some lanes skip, with threadgroups of a "
            "multiple of 32 threads",
        ),
    ),
    "tensor-scope": _kind(
        "shuffle",
        "An operation on tensors in a threadgroup of another size than its scope",
        "Launch the kernel with as many simdgroups as execution_simdgroups<N> says: 32 * N threads "
        "in each threadgroup.",
        Report(
            number=35,
            message="an operation on tensors of execution_simdgroups<{detail}> runs in a "
            "threadgroup that has another number of simdgroups",
            action="takes part in the operation",
            hint="launch threadgroups of 32 threads for each simdgroup of the scope; a part of the "
            "result is computed by nobody, or by several",
        ),
    ),
    "partial-tensor-scope": _kind(
        "shuffle",
        "An operation on tensors that not all simdgroups of its scope call",
        "Call operations of execution_simdgroups<N> where all N simdgroups of the threadgroup are, "
        "and as often by each.",
        Report(
            number=36,
            message="of the simdgroups of a threadgroup only {lanes} call an operation on tensors, "
            "which all simdgroups of its scope must call together",
            action="calls the operation without the other simdgroups",
            hint="call it outside of branches and loops that some simdgroups leave out; a part of "
            "the result is computed by nobody",
        ),
    ),
    "outside-tensor": _kind(
        "bounds",
        "An index outside of a tensor's extents",
        "Compare indices with get_extent() of their dimensions, of which 0 is the innermost.",
        Report(
            number=37,
            message="an index of a tensor is negative, or not less than its dimension's extent",
            action="names an element outside of the tensor",
            hint="compare it with get_extent() first; dimension 0 is the innermost: columns",
            by_line=True,
        ),
    ),
    "non-uniform-argument": _kind(
        "uniform",
        "An argument that must be uniform differs between threads",
        "Compute the argument from what is the same for all threads of the simdgroup.",
        Report(
            number=12,
            message="an argument that must be the same in all lanes of a simdgroup differs",
            action="calls with another value than the first lane",
            hint="use simd_shuffle if every lane is to choose, or make the argument uniform",
        ),
    ),
    "lane-race": _kind(
        "lanes",
        "Threads of one simdgroup race",
        "Put a simdgroup_barrier between the two: lock step is no promise of the language.",
    ),
    "nan-born": _kind(
        "nan",
        "NaN out of numbers",
        "Guard the operation: 0/0, inf-inf, sqrt or log of negatives.",
        Report(
            number=13,
            message="a result is NaN, though nothing it is computed from is",
            action="computes NaN",
            hint="look for 0/0, infinity minus infinity, or a root or logarithm of a negative "
            "number",
        ),
    ),
    "infinity-born": _kind(
        "nan",
        "Infinity out of finite numbers",
        "Scale the numbers, or compute in a wider type.",
        Report(
            number=14,
            message="a result is infinite, though nothing it is computed from is",
            action="computes an infinity",
            hint="look for a division by 0, or for a number too large for its type",
        ),
    ),
    "index-overflow": _kind(
        "overflow",
        "An index that left its type",
        "Compute the index in a wider type: multiply as ulong, not as uint.",
        Report(
            number=15,
            message="the arithmetic of an index does not fit its type",
            action="has an index that wrapped around",
            hint="compute the index in a wider type: ulong for uint, uint for ushort",
        ),
    ),
    "row-overrun": _kind(
        "rows",
        "An index beyond the row of an array of arrays",
        "Compare the index with the length of the row, or make the row longer by the elements at "
        "its edges.",
        Report(
            number=34,
            message="an index leaves its row of an array of arrays, and meets another row",
            action="accesses another row",
            hint="compare the index with the length of the row first, or make rows longer; where "
            "all rows are meant, point to the first element and count from there",
        ),
    ),
    "bank-conflict": _kind(
        "banks",
        "Lanes that wait for one bank of threadgroup memory",
        "Pad each row of the array by one element, so that the elements of a column lie in "
        "different banks, or let neighbouring lanes access neighbouring elements.",
        Report(
            number=32,
            message="{detail} lanes of a simdgroup fall into one bank of threadgroup memory",
            action="accesses one bank with others",
            hint="pad the row by one element, or let neighbouring lanes access neighbouring ones",
            severity="warning",
            by_line=True,
        ),
    ),
}
"""All kinds by their stable names."""

REPORTED: dict[int, tuple[str, Kind, Report]] = {
    kind.report.number: (name, kind, kind.report) for name, kind in KINDS.items() if kind.report
}
"""Kinds that watched code reports by themselves, by number."""


def number_of(name: str) -> int:
    """The number by which watched code reports the kind `name`. Raises StopIteration."""
    return next(number for number, (known, _, _) in REPORTED.items() if known == name)


def c_constants() -> dict[str, int]:
    """The numbers of these reports, as C calls them: REPORT_BANK_CONFLICT."""
    return {
        f"REPORT_{name.upper().replace('-', '_')}": number
        for number, (name, _, _) in REPORTED.items()
    }
