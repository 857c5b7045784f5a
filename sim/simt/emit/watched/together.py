"""Reads of threadgroup memory that are checked in one go: what a loop reads that was unrolled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ...analysis.linear_form import Form, Pattern, number_of
from ...analysis.windows import plan
from ...ir.llvm_types import Scalar, size_of
from ...ir.nodes import (
    PRIVATE_ROOTS,
    THREADGROUP_ROOTS,
    Block,
    BufferRoot,
    Instruction,
    ShadowRoot,
    Value,
    integer,
)
from ...ir.operations.calls import CALL
from ...ir.operations.integers import ADD
from ...ir.operations.marks import ACCESS_KIND
from ...ir.operations.memory import LOAD

_LEAST = 3  # reads; fewer are as soon checked one by one
_ZERO = integer("i64", 0)
_APART = (*PRIVATE_ROOTS, BufferRoot, ShadowRoot)  # never threadgroup memory


@dataclass(frozen=True, slots=True)
class Span:
    """Bytes that lie together: from `low` on, `size` of them, the first read by lane `lane`."""

    low: int
    size: int
    lane: int


@dataclass(slots=True)
class Together:
    """Reads by one line of the source, of one array, with no write or barrier between them.

    Attributes:
        base: what the offsets of all start from; None if they are known.
        pattern: what lanes add to it, of the first one.
        reads: the reads in order, each with bytes that are added besides.
        spans: what they read, in order; relative to `base`.
    """

    base: Value | None
    pattern: Pattern
    reads: list[tuple[Instruction, int]] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)


def reads_together(
    block: Block, form_of: Callable[[Value], Form | None]
) -> dict[Instruction, Together]:
    """By its first read, each set of a block's reads that one check can stand for.

    `form_of` gives the linear form of an offset in which lanes differ by constants alone; None if
    it has none.
    """
    found: list[Together] = []
    open_: dict[object, Together] = {}
    for instruction in block.body:
        if _ends(instruction):
            open_ = {}
        elif _may_join(instruction) and (form := form_of(instruction.operands[0])):
            base, shift = _split(form.base)
            shift += form.lanes[0]
            pattern = tuple(at - form.lanes[0] for at in form.lanes)
            key = (instruction.root, instruction.site, instruction.element, base, pattern)
            if key not in open_:
                open_[key] = Together(base, pattern)
                found.append(open_[key])
            open_[key].reads.append((instruction, shift))
    for together in found:
        together.spans = _spans(together)
    return {each.reads[0][0]: each for each in found if _pays(each)}


def _ends(instruction: Instruction) -> bool:
    """Whether what comes behind it may meet other writes than what comes before it."""
    operation = instruction.operation
    if operation is CALL or operation is ACCESS_KIND or operation.orders_memory:
        return True
    writes = operation.writes_memory or operation.is_atomic
    return writes and not isinstance(instruction.root, _APART)


def _may_join(instruction: Instruction) -> bool:
    return (
        instruction.operation is LOAD
        and isinstance(instruction.root, THREADGROUP_ROOTS)
        and instruction.components == 1
        and instruction.site is not None
    )


def _split(base: Value) -> tuple[Value | None, int]:
    """A value as another one and a number; None for another one that is nought."""
    total = 0
    while isinstance(base, Instruction) and base.operation is ADD:
        numbers = [number_of(operand) for operand in base.operands]
        if numbers[1] is None:
            break
        total += numbers[1]
        base = base.operands[0]
    known = number_of(base)
    return (base, total) if known is None else (None, total + known)


def _spans(together: Together) -> list[Span]:
    """What is read, in as few pieces as there are for each lane that stands for others."""
    size = size_of(Scalar(together.reads[0][0].element))
    groups = plan(Form(_ZERO, together.pattern), size, 1, writing=False)
    if groups is None or any(len(set(group.at)) != group.elements for group in groups):
        return []
    pieces = sorted(
        (group.lanes[0], shift + group.low, group.elements * size)
        for _, shift in together.reads
        for group in groups
    )
    spans: list[Span] = []
    for lane, low, length in pieces:
        last = spans[-1] if spans else None
        if last is not None and last.lane == lane and low <= last.low + last.size:
            end = max(last.low + last.size, low + length)
            spans[-1] = Span(last.low, end - last.low, lane)
        else:
            spans.append(Span(low, length, lane))
    return spans


def _pays(together: Together) -> bool:
    return len(together.reads) >= _LEAST and 0 < len(together.spans) <= len(together.reads) // 2
