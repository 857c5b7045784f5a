"""The compiled loop over threadgroups and simdgroups around a generated kernel, as LLVM IR.

It is code of its own, which gets the kernel as a pointer: most kernels share a few such loops.
"""

from __future__ import annotations

from ..ir import context as c
from ..ir.shape import LANES
from .helpers import field_text
from .text import WIDE

_METADATA = """
!0 = !{!"branch_weights", i32 2000, i32 1}
!1 = !{!"branch_weights", i32 1, i32 2000}
!2 = !{i32 1}
"""
# LLVM aligns what it spills to 64 bytes only if the frame is aligned before it allocates registers.
# Else each vector lies across two lines of the cache or does not, by where the process's stack is.
# Aligning it takes a register, so only the loop does, and kernels find the stack aligned already.
_ALIGNING = f"\nattributes #0 = {{ {WIDE} alignstack=64 }}\n{_METADATA}"
# What the functions of kernels refer to.
ENDING = f"""
attributes #0 = {{ {WIDE} }}
{_METADATA}!llvm.module.flags = !{{!3}}
!3 = !{{i32 1, !"override-stack-alignment", i32 64}}
"""

# Streaming stores are visible to other threads only after a fence.
_DRAIN = "  fence seq_cst\n"


def driver(
    simdgroups: int,
    *,
    has_barriers: bool,
    private_memory: int,
    streams: bool,
    observed: bool = False,
    shadowed: bool = False,
    taped: bool = False,
    packs: int = 1,
    compares_calls: bool = False,
) -> str:
    """`@run(ctx, first, count, code)`: runs threadgroups of the context's box by a kernel's code.

    It gives not 0 after a fault. An observed kernel runs threadgroups and simdgroups in the order
    that the context says, and finds memory that nobody has written filled with the context's byte.
    A `shadowed` one has shadows of private and threadgroup memory, which say what was not written
    yet. A `taped` one tells which simdgroup's events follow. Of a kernel that runs `packs`
    threadgroups at once the box counts these in x. Of one that `compares_calls` it is told when all
    simdgroups have ended, though it has no barriers.
    """
    fill = _Fill(observed, shadowed, taped, compares_calls)
    private_bytes = private_memory * LANES
    make = _with_barriers if has_barriers else _straight
    body = make(simdgroups, private_bytes, fill)
    return f"""
define i32 @run(ptr %ctx, i64 %first, i64 %count, ptr %code) #0 {{
entry:
{field_text("stop", "ptr", c.STOP)}{field_text("arena", "ptr", c.ARENA)}
{field_text("arena.size", "i64", c.ARENA_SIZE)}{field_text("private", "ptr", c.PRIVATE_ALL)}
{field_text("states", "ptr", c.STATES)}{field_text("stride", "i64", c.STATE_STRIDE)}
{field_text("ox", "i32", c.ORIGIN)}{field_text("oy", "i32", c.ORIGIN + 4)}
{field_text("oz", "i32", c.ORIGIN + 8)}
{field_text("bx", "i32", c.BOX)}{field_text("by", "i32", c.BOX + 4)}
{fill.start()}
  %position.x = getelementptr i8, ptr %ctx, i64 {c.POSITION}
  %position.y = getelementptr i8, ptr %ctx, i64 {c.POSITION + 4}
  %position.z = getelementptr i8, ptr %ctx, i64 {c.POSITION + 8}
  %simdgroup.p = getelementptr i8, ptr %ctx, i64 {c.SIMDGROUP}
  %private.p2 = getelementptr i8, ptr %ctx, i64 {c.PRIVATE}
  %bx.wide = zext i32 %bx to i64
  %by.wide = zext i32 %by to i64
  %has.arena = icmp ne i64 %arena.size, 0
  %end = add i64 %first, %count
  %any = icmp ult i64 %first, %end
  br i1 %any, label %group, label %done
group:
  %t = phi i64 [ %first, %entry ], [ %t.next, %group.end ]
  %stopped = load atomic i32, ptr %stop monotonic, align 4
  %go = icmp eq i32 %stopped, 0
  br i1 %go, label %start, label %done
start:
{fill.permute()}
  %x.wide = urem i64 %t.run, %bx.wide
  %rest = udiv i64 %t.run, %bx.wide
  %y.wide = urem i64 %rest, %by.wide
  %z.wide = udiv i64 %rest, %by.wide
  %x.box = trunc i64 %x.wide to i32
  %y.box = trunc i64 %y.wide to i32
  %z.box = trunc i64 %z.wide to i32
  %x.first = mul i32 %x.box, {packs}
  %gx = add i32 %x.first, %ox
  %gy = add i32 %y.box, %oy
  %gz = add i32 %z.box, %oz
  store i32 %gx, ptr %position.x
  store i32 %gy, ptr %position.y
  store i32 %gz, ptr %position.z
  br i1 %has.arena, label %clear, label %begin
clear:
  call void @llvm.memset.p0.i64(ptr %arena, i8 {fill.byte}, i64 %arena.size, i1 false)
{fill.arena_shadow()}
  br label %begin
begin:
{fill.group()}
{body}
group.end:
  %t.next = add i64 %t, 1
  %more = icmp ult i64 %t.next, %end
  br i1 %more, label %group, label %done
done:
{_DRAIN if streams else ""}{fill.end()}  ret i32 0
fault:
{fill.end()}  ret i32 -1
}}
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
{fill.declarations()}
{_ALIGNING}"""


class _Fill:
    """What differs in the loop around an observed kernel."""

    def __init__(self, observed: bool, shadowed: bool, taped: bool, compares_calls: bool) -> None:
        self.observed = observed
        self.compares_calls = compares_calls
        self.taped = taped
        self.shadowed = shadowed
        self.byte = "%fill" if observed else "0"

    def _only(self, text: str) -> str:
        return text if self.observed else ""

    def start(self) -> str:
        return self._only(
            f"""{field_text("fill.wide", "i32", c.FILL)}  %fill = trunc i32 %fill.wide to i8
{field_text("order", "ptr", c.ORDER)}  call void @assay_watch_begin(ptr %ctx)"""
        )

    def end(self) -> str:
        return self._only("  call void @assay_watch_end(ptr %ctx)\n")

    def permute(self) -> str:
        if self.observed:
            return "  %t.run = call i64 @assay_watch_permuted(ptr %ctx, i64 %t)"
        return "  %t.run = add i64 %t, 0"

    def group(self) -> str:
        if self.taped:
            return "  call void @assay_tape_group(ptr %ctx)"
        return self._only("  call void @assay_watch_group(ptr %ctx)")

    def simdgroup(self, number: str) -> str:
        """Defines `%s` from the place in the order."""
        if not self.observed:
            return f"  %s = add i32 {number}, 0"
        return f"  %s.at = getelementptr i32, ptr %order, i32 {number}\n  %s = load i32, ptr %s.at"

    def round(self, simdgroups: int) -> str:
        return self._only(f"  call void @assay_watch_round(ptr %ctx, i32 {simdgroups})")

    def all_ended(self, simdgroups: int) -> str:
        return self.round(simdgroups) if self.compares_calls else ""

    def resume(self) -> str:
        if not self.taped:
            return ""
        return "  call void @assay_tape_resume(ptr %ctx, i32 %s)"

    def clear(self, pointer: str, size: int) -> str:
        if size == 0:
            return ""
        text = (
            f"  call void @llvm.memset.p0.i64(ptr {pointer}, i8 {self.byte}, i64 {size}, i1 false)"
        )
        if self.shadowed:
            shadow = f"{pointer}.shadow"
            text += (
                f"\n  {shadow} = getelementptr i8, ptr {pointer}, i64 {size}\n"
                f"  call void @llvm.memset.p0.i64(ptr {shadow}, i8 -1, i64 {size}, i1 false)"
            )
        return text

    def arena_shadow(self) -> str:
        if not self.shadowed:
            return ""
        return (
            f"{field_text('arena.shadow', 'ptr', c.ARENA_SHADOW)}"
            "  call void @llvm.memset.p0.i64(ptr %arena.shadow, i8 -1, i64 %arena.size, i1 false)"
        )

    def declarations(self) -> str:
        if self.taped:
            return "declare void @assay_tape_group(ptr)\ndeclare void @assay_tape_resume(ptr, i32)"
        return self._only(
            """declare void @assay_watch_begin(ptr)
declare void @assay_watch_end(ptr)
declare i64 @assay_watch_permuted(ptr, i64)
declare void @assay_watch_group(ptr)
declare void @assay_watch_round(ptr, i32)"""
        )


def _straight(simdgroups: int, private_bytes: int, fill: _Fill) -> str:
    """Simdgroups one after the other, each to its end."""
    return f"""
  br label %simdgroup
simdgroup:
  %n = phi i32 [ 0, %begin ], [ %n.next, %simdgroup.end ]
{fill.simdgroup("%n")}
  store i32 %s, ptr %simdgroup.p
{fill.clear("%private", private_bytes)}
{fill.resume()}
  %r = call i32 %code(ptr %ctx, i32 %gx, i32 %gy, i32 %gz, i32 %s, ptr %states)
  %ok = icmp eq i32 %r, 0
  br i1 %ok, label %simdgroup.end, label %fault
simdgroup.end:
  %n.next = add i32 %n, 1
  %n.more = icmp ult i32 %n.next, {simdgroups}
  br i1 %n.more, label %simdgroup, label %all.ended
all.ended:
{fill.all_ended(simdgroups)}
  br label %group.end
"""


def _with_barriers(simdgroups: int, private_bytes: int, fill: _Fill) -> str:
    """Rounds: each simdgroup runs to its next barrier or its end, until all have ended."""
    return f"""
{fill.clear("%private", private_bytes * simdgroups)}
  br label %reset
reset:
  %i = phi i64 [ 0, %begin ], [ %i.next, %reset ]
  %reset.at = mul i64 %i, %stride
  %reset.p = getelementptr i8, ptr %states, i64 %reset.at
  store i32 0, ptr %reset.p
  %i.next = add i64 %i, 1
  %i.more = icmp ult i64 %i.next, {simdgroups}
  br i1 %i.more, label %reset, label %round
round:
  br label %simdgroup
simdgroup:
  %n = phi i32 [ 0, %round ], [ %n.next, %simdgroup.end ]
  %running = phi i32 [ 0, %round ], [ %running.next, %simdgroup.end ]
{fill.simdgroup("%n")}
  %s.wide = zext i32 %s to i64
  %state.at = mul i64 %s.wide, %stride
  %state = getelementptr i8, ptr %states, i64 %state.at
  %pc = load i32, ptr %state
  %ended = icmp eq i32 %pc, -1
  br i1 %ended, label %simdgroup.end, label %resume
resume:
  store i32 %s, ptr %simdgroup.p
  %private.at = mul i64 %s.wide, {private_bytes}
  %private.s = getelementptr i8, ptr %private, i64 %private.at
  store ptr %private.s, ptr %private.p2
{fill.resume()}
  %r = call i32 %code(ptr %ctx, i32 %gx, i32 %gy, i32 %gz, i32 %s, ptr %state)
  %bad = icmp slt i32 %r, 0
  br i1 %bad, label %fault, label %returned
returned:
  %finished = icmp eq i32 %r, 0
  br i1 %finished, label %finish, label %waits
finish:
  store i32 -1, ptr %state
  br label %simdgroup.end
waits:
  br label %simdgroup.end
simdgroup.end:
  %running.next = phi i32 [ %running, %simdgroup ], [ %running, %finish ], [ 1, %waits ]
  %n.next = add i32 %n, 1
  %n.more = icmp ult i32 %n.next, {simdgroups}
  br i1 %n.more, label %simdgroup, label %round.end
round.end:
{fill.round(simdgroups)}
  %again = icmp ne i32 %running.next, 0
  br i1 %again, label %round, label %group.end
"""
