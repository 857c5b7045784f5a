"""What a watched kernel tells its observers: accesses, barriers, and who leaves when."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....check import layout
from ...analysis.linear_form import Form
from ...analysis.windows import Group, plan
from ...ir import context as c
from ...ir.llvm_types import Scalar, size_of
from ...ir.nodes import (
    PRIVATE_ROOTS,
    THREADGROUP_ROOTS,
    AddressRoot,
    BufferRoot,
    Constant,
    ConstantRoot,
    Instruction,
    ShadowRoot,
)
from ...ir.operations.atomics import ATOMIC_STORE
from ...ir.operations.handlers import Handlers
from ...ir.operations.marks import (
    OBSERVE_INDEX_OVERFLOW,
    OBSERVE_INFINITY_BORN,
    OBSERVE_NAN_BORN,
    OBSERVE_NON_UNIFORM,
    OBSERVE_OTHER_SIMDGROUPS,
    OBSERVE_OUTSIDE,
    OBSERVE_PARTIAL_SIMDGROUP,
    OBSERVE_ROW_OVERRUN,
    OBSERVE_TOGETHER,
    OBSERVE_UNINITIALISED,
)
from ...ir.operations.operation import Effect
from ...ir.shape import LANES
from ...watch.needs import RACE_CHECKS, find_watch_needs
from ..access import Memory
from ..text import vector_of
from ..values import ALL
from .ranges import WatchedRanges

if TYPE_CHECKING:
    from ..vectorise import Vectoriser

_UNWATCHED = (*PRIVATE_ROOTS, ConstantRoot, ShadowRoot)
EVENTS: Handlers[int] = Handlers(
    "the reports of observations", lambda operation: bool(operation.effect & Effect.REPORTS)
)
EVENTS.put((OBSERVE_UNINITIALISED,), layout.UNINITIALISED)
EVENTS.put((OBSERVE_NON_UNIFORM,), layout.NON_UNIFORM)
EVENTS.put((OBSERVE_NAN_BORN,), layout.NAN_BORN)
EVENTS.put((OBSERVE_INFINITY_BORN,), layout.INFINITY_BORN)
EVENTS.put((OBSERVE_INDEX_OVERFLOW,), layout.OVERFLOW)
EVENTS.put((OBSERVE_PARTIAL_SIMDGROUP,), layout.PARTIAL_SIMDGROUP)
EVENTS.put((OBSERVE_ROW_OVERRUN,), layout.ROW_OVERRUN)
EVENTS.put((OBSERVE_OTHER_SIMDGROUPS,), layout.OTHER_SIMDGROUPS)
EVENTS.put((OBSERVE_OUTSIDE,), layout.OUTSIDE)
EVENTS.put((OBSERVE_TOGETHER,), layout.SOME_SIMDGROUPS)


class Watch(WatchedRanges):
    """Emits the calls that report a kernel's accesses and barriers."""

    def __init__(self, vectoriser: Vectoriser) -> None:
        super().__init__(vectoriser)
        self.needs = find_watch_needs(vectoriser.function)

    # -- accesses -------------------------------------------------------------------------------

    def access(self, instruction: Instruction, *, write: bool, atomic: bool = False) -> None:
        """Report an access of the current lanes, which is about to happen."""
        root = instruction.root
        if "banks" in self.v.observers and isinstance(root, (*THREADGROUP_ROOTS, AddressRoot)):
            self._banks(instruction)
        if not self.v.observers & RACE_CHECKS or isinstance(root, _UNWATCHED):
            return
        how = self.site(instruction) << layout.HOW_SITE
        how |= (layout.HOW_WRITE if write else 0) | (_how_atomic(instruction) if atomic else 0)
        if self.v.has_varying_address(instruction):
            self._lanes(instruction, how, None)
            return
        memory = self.memory(instruction)
        if isinstance(root, THREADGROUP_ROOTS) and self.is_together(instruction, memory):
            return
        if isinstance(root, BufferRoot) and root.parameter not in self.needs.written:
            # Nobody writes to it, unless it is bound a second time under another name.
            watched = self.v.argument_watched(root.parameter)
            self.when(
                watched, lambda: self._access(instruction, how, memory), lambda: None, unlikely=True
            )
        else:
            self._access(instruction, how, memory)

    def _banks(self, instruction: Instruction) -> None:
        if self.v.has_varying_address(instruction):
            self.put_varying_addresses(instruction)
        elif self.v.varying(instruction.operands[0]):
            self.put_addresses(self.addresses(instruction, self.memory(instruction)))
        else:
            return  # all lanes access the same words
        self.text.call(
            "void",
            "assay_watch_banks",
            ("ptr", "%ctx"),
            ("i32", str(self.site(instruction))),
            ("i32", self.text.mask_bits(self.v.mask)),
            ("i32", str(size_of(Scalar(instruction.element)) * instruction.components)),
        )

    def _access(self, instruction: Instruction, how: int, memory: Memory) -> None:
        offset = instruction.operands[0]
        size = size_of(Scalar(instruction.element))
        if how & layout.HOW_ATOMIC:
            self._lanes(instruction, how, memory)
            return
        if not self.v.varying(offset):
            if any(self.v.varying(value) for value in instruction.operands[1:]):
                self._lanes(instruction, how, memory)
            else:
                self._uniform(instruction, how, memory, size * instruction.components)
            return
        form = self.v.form(offset)
        groups = plan(form, size, instruction.components, writing=True) if form else None
        if groups is None and form is not None and not how & layout.HOW_WRITE:
            shared = plan(form, size, instruction.components, writing=False)
            if shared is not None and all(_is_dense(g, instruction.components) for g in shared):
                groups = shared
        if form is not None and groups is not None:
            self._windows(instruction, how, memory, form, groups, size)
        else:
            self._lanes(instruction, how, memory)

    def _uniform(self, instruction: Instruction, how: int, memory: Memory, bytes_: int) -> None:
        offset = self.text.let(f"freeze i64 {self.v.scalar(instruction.operands[0])}")
        bad = self.range_is_bad(how, memory, offset, bytes_, self.first_lane(), 0)
        self.unlikely(bad, lambda: self._lanes(instruction, how, memory))

    def _windows(
        self,
        instruction: Instruction,
        how: int,
        memory: Memory,
        form: Form,
        groups: list[Group],
        size: int,
    ) -> None:
        text = self.text
        # The helper sees for itself what lies outside.
        is_plain = self.v.mask == ALL and not form.guards
        if is_plain and self.is_brief(instruction):
            offsets, inside = [self.window(form, group)[0] for group in groups], "true"
        else:
            offsets, inside = self.window_offsets(form, groups, memory, size)

        def ranges() -> None:
            if size == 1 << self.needs.arena_shift and _are_two_reads(instruction, how, groups):
                bad = self._two_reads(how, memory, groups, offsets)
            else:
                bad = self._ranges(how, memory, groups, offsets, size)
            self.unlikely(bad, lambda: self._lanes(instruction, how, memory))

        if inside == "true":
            ranges()
            return
        if self.v.mask == ALL:
            self.when(inside, ranges, lambda: self._lanes(instruction, how, memory))
            return
        mask = text.mask_bits(self.v.mask)
        step = _lane_step(groups[0])
        if step and len(groups[0].lanes) == LANES:  # then there is no other group
            self._prefix(instruction, how, memory, offsets[0], step * size, inside)
            return
        full = text.let(f"icmp eq i32 {mask}, -1")
        full = text.let(f"and i1 {full}, {inside}")
        self.when(full, ranges, lambda: self._lanes(instruction, how, memory))

    def _prefix(
        self,
        instruction: Instruction,
        how: int,
        memory: Memory,
        offset: str,
        step: int,
        regular: str,
    ) -> None:
        """Lanes from the first one on, each with its own bytes right behind the one before."""
        text = self.text
        mask = text.mask_bits(self.v.mask)
        above = text.let(f"add i32 {mask}, 1")
        inside = text.let(f"and i32 {mask}, {above}")
        prefix = text.let(f"icmp eq i32 {inside}, 0")
        prefix = text.let(f"and i1 {prefix}, {regular}")

        def some() -> None:
            count = text.call("i32", "llvm.ctpop.i32", ("i32", mask))
            wide = text.let(f"zext i32 {count} to i64")
            bytes_ = text.let(f"mul i64 {wide}, {step}")
            bad = self.range_is_bad(how, memory, offset, bytes_, "0", step)
            self.unlikely(bad, lambda: self._lanes(instruction, how, memory))

        self.when(prefix, some, lambda: self._lanes(instruction, how, memory))

    def _ranges(
        self, how: int, memory: Memory, groups: list[Group], offsets: list[str], size: int
    ) -> str:
        bad = "false"
        for group, offset in zip(groups, offsets, strict=True):
            step = _lane_step(group)
            found = self.range_is_bad(
                how, memory, offset, group.elements * size, str(group.lanes[0]), step * size
            )
            bad = found if bad == "false" else self.text.let(f"or i1 {bad}, {found}")
        return bad

    def _two_reads(self, how: int, memory: Memory, groups: list[Group], offsets: list[str]) -> str:
        """The two windows of `_are_two_reads` in one call."""
        addresses = [self.text.let(f"add i64 {memory.address}, {offset}") for offset in offsets]
        bad = self.text.call(
            "i32",
            "assay_watch_two_reads",
            ("ptr", "%ctx"),
            ("i32", str(how)),
            *(("i64", address) for address in addresses),
            *(("i32", str(group.lanes[0])) for group in groups),
        )
        return self.text.let(f"icmp ne i32 {bad}, 0")

    def _lanes(self, instruction: Instruction, how: int, memory: Memory | None) -> None:
        if memory is None:
            self.put_varying_addresses(instruction)
        else:
            self.put_lanes(instruction.operands[0], memory.address)
        if how & layout.HOW_WRITE and not how & layout.HOW_ATOMIC:
            self.give_values(instruction, size_of(Scalar(instruction.element)))
        self.report_lanes(instruction, how)

    def observe(self, instruction: Instruction) -> None:
        """Report lanes for which a condition holds, or whose origin or number is not 0."""
        text, (flag,) = self.text, instruction.operands
        kind = EVENTS[instruction.operation]
        if self.v.varying(flag):
            type = vector_of(flag.type)
            bad = text.let(f"icmp ne {type} {self.v.vector(flag)}, zeroinitializer")
            mask = text.mask_bits(text.let(f"and {vector_of('i1')} {bad}, {self.v.mask}"))
            some = text.let(f"icmp ne i32 {mask}, 0")
        else:
            some = text.let(f"icmp ne {flag.type} {self.v.scalar(flag)}, 0")
            mask = text.mask_bits(self.v.mask)

        def report() -> None:
            kind32 = vector_of("i32")
            details = text.splat("i32", str(self._cause(instruction)))
            if flag.type == "i32":
                details = self.v.vector(flag)
            elif flag.type == "i16":
                details = text.let(f"zext {vector_of('i16')} {self.v.vector(flag)} to {kind32}")
                if not self.v.varying(flag):
                    far = text.splat("i32", str(layout.ORIGIN_FAR))
                    details = text.let(f"or {kind32} {details}, {far}")
            text.do(f"store {kind32} {details}, ptr {self.exchange(c.SCRATCH_VALUES)}, align 4")
            self._event(kind, instruction, mask)

        self.unlikely(some, report)

    def read_origin(self, instruction: Instruction, *, vector: bool) -> str:
        """Numbers of the current lanes' reads of what was not written; usually there are none."""
        text, (shadow, _) = self.text, instruction.operands
        kind = vector_of("i16") if vector else "i16"
        if self.v.varying(shadow):
            type = vector_of(shadow.type)
            bad = text.let(f"icmp ne {type} {self.v.vector(shadow)}, zeroinitializer")
            mask = text.mask_bits(text.let(f"and {vector_of('i1')} {bad}, {self.v.mask}"))
            some = text.let(f"icmp ne i32 {mask}, 0")
        else:
            some = text.let(f"icmp ne {shadow.type} {self.v.scalar(shadow)}, 0")
            mask = text.mask_bits(self.v.mask)

        def numbers() -> list[str]:
            first = self._number_reads(instruction, mask)
            if not vector:
                return [text.let(f"trunc i32 {first} to i16")]
            return [text.let(f"load {kind}, ptr {self.exchange(c.SCRATCH_VALUES)}, align 2")]

        nothing = "zeroinitializer" if vector else "0"
        return self.either(some, numbers, lambda: [nothing], [kind], unlikely=True)[0]

    def _number_reads(self, instruction: Instruction, mask: str) -> str:
        """Have the reads of some lanes numbered; returns the number of the first one."""
        offset = instruction.operands[1]
        if self.v.has_varying_address(instruction):
            assert isinstance(instruction.root, AddressRoot)
            base, starts = "0", self.v.vector(instruction.root.address)
            offsets = self.v.vector(offset)
            self.put_addresses(self.text.let(f"add {vector_of('i64')} {starts}, {offsets}"))
        else:
            base = self.memory(instruction).address
            self.put_lanes(offset, base)
        return self.text.call(
            "i32",
            "assay_watch_unwritten",
            ("ptr", "%ctx"),
            ("i32", str(self.site(instruction))),
            ("i32", mask),
            ("i64", base),
            ("i32", str(int(not self.v.divergence.is_varying(instruction)))),
        )

    def _cause(self, observation: Instruction) -> int:
        """The number of the place that led to what is observed; 0 if that has none."""
        if observation.operation is OBSERVE_TOGETHER:
            return self.parting(self.v.block)
        if observation.operation is not OBSERVE_PARTIAL_SIMDGROUP or self.v.mask == ALL:
            return 0
        return self.parting(self.v.block)

    def _event(self, kind: int, instruction: Instruction, mask: str) -> None:
        self.text.call(
            "void",
            "assay_watch_event",
            ("ptr", "%ctx"),
            ("i32", str(kind)),
            ("i32", str(self.site(instruction))),
            ("i32", mask),
        )

    def access_kind(self, instruction: Instruction) -> None:
        """Report what the accesses that follow are; what the first lane says counts for all."""
        (kind,) = instruction.operands
        if self.v.varying(kind):
            lanes = f"{vector_of('i32')} {self.v.vector(kind)}"
            said = self.text.let(f"extractelement {lanes}, i32 {self.first_lane()}")
        else:
            said = self.v.scalar(kind)
        self.text.call(
            "void",
            "assay_watch_kind",
            ("ptr", "%ctx"),
            ("i32", said),
            ("i32", self.text.mask_bits(self.v.mask)),
        )

    def fence(self, instruction: Instruction) -> None:
        """Report a fence that publishes or acquires."""
        flags, order, *_ = instruction.operands
        if isinstance(order, Constant) and order.number == 0:  # relaxed
            return
        self.text.call("void", "assay_watch_fence", ("ptr", "%ctx"), ("i32", self.v.scalar(flags)))


def _how_atomic(instruction: Instruction) -> int:
    """What an atomic access does. Programs also load by updates that change nothing."""
    if instruction.operation is ATOMIC_STORE:
        return layout.HOW_ATOMIC | layout.HOW_STORE
    operand = instruction.operands[-1]
    changes = not (isinstance(operand, Constant) and operand.number == 0)
    if instruction.operation.commutes and changes:
        return layout.HOW_ATOMIC | layout.HOW_UPDATE
    return layout.HOW_ATOMIC


def _are_two_reads(instruction: Instruction, how: int, groups: list[Group]) -> bool:
    """Whether two windows of one element each are read in threadgroup memory, as rows are."""
    return (
        isinstance(instruction.root, THREADGROUP_ROOTS)
        and not how & layout.HOW_WRITE
        and len(groups) == 2
        and all(group.elements == 1 for group in groups)
    )


def _is_dense(group: Group, components: int) -> bool:
    """Whether every element of a window belongs to some lane."""
    return len({at + n for at in group.at for n in range(components)}) == group.elements


def _lane_step(group: Group) -> int:
    """Elements from one lane's to the next one's, if lanes lie in their order; else 0."""
    if len(group.lanes) < 2 or group.at[0] != 0:
        return 0
    step = group.at[1]
    regular = all(
        lane == group.lanes[0] + n and at == n * step
        for n, (lane, at) in enumerate(zip(group.lanes, group.at, strict=True))
    )
    return step if regular else 0
