"""Helpers that generated code calls when a plain vector access will not do.

They work byte by byte through the GPU address, so they are exact in every case: they find the
lane that is out of bounds, and they serve lanes whose neighbours are. Atomics are here too.
Written as LLVM IR and compiled once per machine: an atomic operation when a kernel first calls it,
since all of them together take longer than most kernels.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping

from ..ir import context as c
from ..ir.operations.atomics import (
    ATOMIC_ADD,
    ATOMIC_AND,
    ATOMIC_CMPXCHG,
    ATOMIC_LOAD,
    ATOMIC_MAX,
    ATOMIC_MIN,
    ATOMIC_OR,
    ATOMIC_STORE,
    ATOMIC_SUB,
    ATOMIC_XCHG,
    ATOMIC_XOR,
)
from ..ir.operations.handlers import Handlers
from ..ir.operations.number import Number
from ..ir.operations.operation import Operation
from ..ir.operations.table import spelling
from ..ir.shape import LANES
from .text import WIDE


def helper_name(atomic: Operation, number: Number | None) -> str:
    """The helper that does an atomic operation on a kind of number."""
    return f"assay_{spelling(atomic, number)}"


@functools.cache
def _atomics() -> Mapping[str, tuple[Operation, Number]]:
    """All atomic operations, on all kinds of numbers that they exist for, by their helpers."""
    pairs = [(each, number) for each in ATOMIC_BODIES for number in each.numbers]
    return {helper_name(operation, number): (operation, number) for operation, number in pairs}


def helper_module() -> str:
    """LLVM IR of the helpers that any kernel may need."""
    return "\n".join(
        [_PUT, _BYTE, _FAULT_FUNCTION, _transfer("load"), _transfer("store"), _RUNAWAY]
    )


def helper_names() -> list[str]:
    """Symbols that are in `helper_module`."""
    puts = ["assay_put_at", "assay_put_along"]
    return [*puts, "assay_slow_load", "assay_slow_store", "assay_runaway"]


def atomic_module(name: str) -> str | None:
    """LLVM IR of the helper with this name, if it is one that does an atomic operation."""
    found = _atomics().get(name)
    return None if found is None else "\n".join([_BYTE, _FAULT_FUNCTION, _atomic(*found)])


def field_text(name: str, kind: str, offset: int) -> str:
    """Loads a field of the context into `%name`."""
    return (
        f"  %{name}.p = getelementptr i8, ptr %ctx, i64 {offset}\n"
        f"  %{name} = load {kind}, ptr %{name}.p\n"
    )


# Where lanes access: they are handed over in memory, as the sums of a start and an offset each.
_PUT = f"""
define void @assay_put_at(ptr %ctx, i64 %start, <{LANES} x i64> %offsets) {WIDE} {{
{field_text("scratch", "ptr", c.SCRATCH)}
  %one = insertelement <{LANES} x i64> poison, i64 %start, i64 0
  %all = shufflevector <{LANES} x i64> %one, <{LANES} x i64> poison, <{LANES} x i32> zeroinitializer
  %sums = add <{LANES} x i64> %all, %offsets
  store <{LANES} x i64> %sums, ptr %scratch, align 8
  ret void
}}
define void @assay_put_along(ptr %ctx, i64 %start, ptr %pattern) {WIDE} {{
  %offsets = load <{LANES} x i64>, ptr %pattern, align 8
  call void @assay_put_at(ptr %ctx, i64 %start, <{LANES} x i64> %offsets)
  ret void
}}
"""

# Host address of one byte of GPU memory as a lane sees it; null if it is not there.
_BYTE = f"""
define internal ptr @byte(ptr %ctx, i64 %address, i32 %lane) {{
entry:
  %handle = lshr i64 %address, {c.HANDLE_SHIFT}
  %offset = and i64 %address, {(1 << c.HANDLE_SHIFT) - 1}
{field_text("table", "ptr", c.TABLE)}
  switch i64 %handle, label %buffer [
    i64 {c.THREADGROUP_HANDLE}, label %arena
    i64 {c.PRIVATE_HANDLE}, label %private
    i64 {c.CONSTANT_HANDLE}, label %constant
  ]
buffer:
  %entry.at = shl i64 %handle, 4
  %entry.p = getelementptr i8, ptr %table, i64 %entry.at
  %buffer.base = load ptr, ptr %entry.p
  %size.p = getelementptr i8, ptr %entry.p, i64 8
  %buffer.size = load i64, ptr %size.p
  br label %check
arena:
{field_text("arena.base", "ptr", c.ARENA)}{field_text("arena.size", "i64", c.ARENA_SIZE)}
  br label %check
constant:
{field_text("constant.base", "ptr", c.CONSTANTS)}
{field_text("constant.size", "i64", c.CONSTANTS_SIZE)}
  br label %check
check:
  %base = phi ptr [ %buffer.base, %buffer ], [ %arena.base, %arena ], [ %constant.base, %constant ]
  %size = phi i64 [ %buffer.size, %buffer ], [ %arena.size, %arena ], [ %constant.size, %constant ]
  %inside = icmp ult i64 %offset, %size
  %p = getelementptr i8, ptr %base, i64 %offset
  %result = select i1 %inside, ptr %p, ptr null
  ret ptr %result
private:
{field_text("private.base", "ptr", c.PRIVATE)}{field_text("private.size", "i64", c.PRIVATE_SIZE)}
  %granule = lshr i64 %offset, 2
  %in.granule = and i64 %offset, 3
  %row = mul i64 %granule, {c.PRIVATE_GRANULE * LANES}
  %lane.wide = zext i32 %lane to i64
  %column = mul i64 %lane.wide, {c.PRIVATE_GRANULE}
  %at.row = add i64 %row, %column
  %at = add i64 %at.row, %in.granule
  %private.p = getelementptr i8, ptr %private.base, i64 %at
  %private.inside = icmp ult i64 %offset, %private.size
  %private.result = select i1 %private.inside, ptr %private.p, ptr null
  ret ptr %private.result
}}
"""

# The head of a loop over the lanes of a mask, up to the address that a lane accesses.
_EACH_LANE = """lane:
  %lane.n = phi i32 [ 0, %entry ], [ %lane.next, %next ]
  %lane.wide = zext i32 %lane.n to i64
  %bit = shl i32 1, %lane.n
  %masked = and i32 %mask, %bit
  %active = icmp ne i32 %masked, 0
  br i1 %active, label %check, label %next
check:
  %address.p = getelementptr i64, ptr %scratch, i64 %lane.wide
  %address = load i64, ptr %address.p
"""

_FAULT_FUNCTION = f"""
define internal void @fault(ptr %ctx, i32 %kind, i32 %site, i32 %lane, i64 %address) {{
{field_text("record", "ptr", c.FAULT)}{field_text("simdgroup", "i32", c.SIMDGROUP)}
{field_text("x", "i32", c.POSITION)}{field_text("y", "i32", c.POSITION + 4)}
{field_text("z", "i32", c.POSITION + 8)}
  store i32 %kind, ptr %record
  %r1 = getelementptr i32, ptr %record, i64 1
  store i32 %site, ptr %r1
  %r2 = getelementptr i32, ptr %record, i64 2
  store i32 %lane, ptr %r2
  %r3 = getelementptr i32, ptr %record, i64 3
  store i32 %simdgroup, ptr %r3
  %r4 = getelementptr i32, ptr %record, i64 4
  store i32 %x, ptr %r4
  %r5 = getelementptr i32, ptr %record, i64 5
  store i32 %y, ptr %r5
  %r6 = getelementptr i32, ptr %record, i64 6
  store i32 %z, ptr %r6
  %r8 = getelementptr i32, ptr %record, i64 8
  store i64 %address, ptr %r8
{field_text("stop", "ptr", c.STOP)}
  store atomic i32 1, ptr %stop monotonic, align 4
  ret void
}}
"""

_RUNAWAY = f"""
define void @assay_runaway(ptr %ctx, i32 %site, i32 %mask) {{
  %lane = call i32 @llvm.cttz.i32(i32 %mask, i1 false)
  call void @fault(ptr %ctx, i32 {c.FAULT_RUNAWAY}, i32 %site, i32 %lane, i64 0)
  ret void
}}
declare i32 @llvm.cttz.i32(i32, i1)
"""


def _transfer(kind: str) -> str:
    """Copies `count` bytes for every lane of the mask, or reports the first lane that cannot."""
    move = (
        "%value = load i8, ptr %memory\n  store i8 %value, ptr %exchanged"
        if kind == "load"
        else "%value = load i8, ptr %exchanged\n  store i8 %value, ptr %memory"
    )
    code = c.FAULT_READ if kind == "load" else c.FAULT_WRITE
    return f"""
define i1 @assay_slow_{kind}(
  ptr %ctx, i32 %site, i32 %mask, i64 %size, i64 %parts, i64 %low, i64 %high
) {{
entry:
{field_text("scratch", "ptr", c.SCRATCH)}
  %values = getelementptr i8, ptr %scratch, i64 {c.SCRATCH_VALUES}
  %count = mul i64 %size, %parts
  br label %lane
{_EACH_LANE}  %end = add i64 %address, %count
  %over = icmp ult i64 %end, %address
  %below = icmp ult i64 %address, %low
  %above = icmp ugt i64 %end, %high
  %bad.1 = or i1 %over, %below
  %bad = or i1 %bad.1, %above
  br i1 %bad, label %fail, label %byte
byte:
  %n = phi i64 [ 0, %check ], [ %n.next, %move ]
  %byte.address = add i64 %address, %n
  %memory = call ptr @byte(ptr %ctx, i64 %byte.address, i32 %lane.n)
  %missing = icmp eq ptr %memory, null
  br i1 %missing, label %fail, label %move
move:
  %part = udiv i64 %n, %size
  %in.part = urem i64 %n, %size
  %row = mul i64 %part, {LANES}
  %cell = add i64 %row, %lane.wide
  %at.cell = mul i64 %cell, %size
  %at = add i64 %at.cell, %in.part
  %exchanged = getelementptr i8, ptr %values, i64 %at
  {move}
  %n.next = add i64 %n, 1
  %more = icmp ult i64 %n.next, %count
  br i1 %more, label %byte, label %next
next:
  %lane.next = add i32 %lane.n, 1
  %again = icmp ult i32 %lane.next, {LANES}
  br i1 %again, label %lane, label %done
done:
  ret i1 true
fail:
  call void @fault(ptr %ctx, i32 {code}, i32 %site, i32 %lane.n, i64 %address)
  ret i1 false
}}
"""


def _atomic(operation: Operation, number: Number) -> str:
    kind = number.type
    size = 8 if kind == "i64" else 4
    return f"""
define i1 @{helper_name(operation, number)}(ptr %ctx, i32 %site, i32 %mask, i64 %low, i64 %high) {{
entry:
{field_text("scratch", "ptr", c.SCRATCH)}
  %values = getelementptr i8, ptr %scratch, i64 {c.SCRATCH_VALUES}
  %seconds = getelementptr i8, ptr %scratch, i64 {c.SCRATCH_SECOND}
  br label %lane
{_EACH_LANE}  %last = add i64 %address, {size - 1}
  %below = icmp ult i64 %address, %low
  %above = icmp uge i64 %last, %high
  %handle = lshr i64 %address, {c.HANDLE_SHIFT}
  %private = icmp eq i64 %handle, {c.PRIVATE_HANDLE}
  %p = call ptr @byte(ptr %ctx, i64 %address, i32 %lane.n)
  %q = call ptr @byte(ptr %ctx, i64 %last, i32 %lane.n)
  %p.missing = icmp eq ptr %p, null
  %q.missing = icmp eq ptr %q, null
  %bad.1 = or i1 %below, %above
  %bad.2 = or i1 %p.missing, %q.missing
  %bad.3 = or i1 %bad.1, %bad.2
  %bad = or i1 %bad.3, %private
  br i1 %bad, label %fail, label %aligned
aligned:
  %host = ptrtoint ptr %p to i64
  %low.bits = and i64 %host, {size - 1}
  %misaligned = icmp ne i64 %low.bits, 0
  br i1 %misaligned, label %fail, label %do
do:
  %value.p = getelementptr {kind}, ptr %values, i64 %lane.wide
  %second.p = getelementptr {kind}, ptr %seconds, i64 %lane.wide
{ATOMIC_BODIES[operation](number, size)}
  br label %next
next:
  %lane.next = add i32 %lane.n, 1
  %again = icmp ult i32 %lane.next, {LANES}
  br i1 %again, label %lane, label %done
done:
  ret i1 true
fail:
  %code = phi i32 [ {c.FAULT_WRITE}, %check ], [ {c.FAULT_MISALIGNED}, %aligned ]
  call void @fault(ptr %ctx, i32 %code, i32 %site, i32 %lane.n, i64 %address)
  ret i1 false
}}
"""


def _load(number: Number, size: int) -> str:
    bits = f"i{8 * size}"
    return (
        f"  %old = load atomic {bits}, ptr %p seq_cst, align {size}\n"
        f"  store {bits} %old, ptr %value.p"
    )


def _store(number: Number, size: int) -> str:
    bits = f"i{8 * size}"
    return (
        f"  %value = load {bits}, ptr %value.p\n"
        f"  store atomic {bits} %value, ptr %p seq_cst, align {size}"
    )


def _compare_and_exchange(number: Number, size: int) -> str:
    bits = f"i{8 * size}"
    return (
        f"  %expected = load {bits}, ptr %value.p\n"
        f"  %desired = load {bits}, ptr %second.p\n"
        f"  %pair = cmpxchg ptr %p, {bits} %expected, {bits} %desired seq_cst seq_cst\n"
        f"  %old = extractvalue {{ {bits}, i1 }} %pair, 0\n"
        f"  store {bits} %old, ptr %value.p"
    )


def _update(signed: str, unsigned: str = "", floating: str = "") -> Body:
    """LLVM's `atomicrmw`, whose name depends on what numbers are."""

    def body(number: Number, size: int) -> str:
        kind, integer = number.type, signed if number.is_signed else unsigned or signed
        return (
            f"  %value = load {kind}, ptr %value.p\n"
            f"  %old = atomicrmw {floating if number.is_float else integer} ptr %p, "
            f"{kind} %value seq_cst\n"
            f"  store {kind} %old, ptr %value.p"
        )

    return body


Body = Callable[[Number, int], str]
# What is done with one lane's place, between its checks and the next lane.
ATOMIC_BODIES: Handlers[Body] = Handlers("the atomic helpers", lambda each: each.is_atomic)
ATOMIC_BODIES.put((ATOMIC_LOAD,), _load)
ATOMIC_BODIES.put((ATOMIC_STORE,), _store)
ATOMIC_BODIES.put((ATOMIC_CMPXCHG,), _compare_and_exchange)
ATOMIC_BODIES.put((ATOMIC_XCHG,), _update("xchg", floating="xchg"))
ATOMIC_BODIES.put((ATOMIC_ADD,), _update("add", floating="fadd"))
ATOMIC_BODIES.put((ATOMIC_SUB,), _update("sub", floating="fsub"))
ATOMIC_BODIES.put((ATOMIC_MIN,), _update("min", "umin", "fmin"))
ATOMIC_BODIES.put((ATOMIC_MAX,), _update("max", "umax", "fmax"))
ATOMIC_BODIES.put((ATOMIC_AND,), _update("and"))
ATOMIC_BODIES.put((ATOMIC_OR,), _update("or"))
ATOMIC_BODIES.put((ATOMIC_XOR,), _update("xor"))
