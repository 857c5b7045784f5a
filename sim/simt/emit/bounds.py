"""What a watched kernel's accesses are checked for beyond lying in their memory: alignment, and
whether what they write may be written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...check import layout
from ..analysis.linear_form import Form
from ..ir import context as c
from ..ir.nodes import PRIVATE_ROOTS, AddressRoot, BufferRoot, ConstantRoot, Instruction, ShadowRoot
from .access import Access, Memory
from .text import vector_of

if TYPE_CHECKING:
    from .vectorise import Vectoriser

_UNCHECKED = (*PRIVATE_ROOTS, ConstantRoot, ShadowRoot)


class Bounds(Access):
    """Emits the checks."""

    def __init__(self, vectoriser: Vectoriser) -> None:
        super().__init__(vectoriser)
        self._facts = vectoriser.linear.facts

    def access(self, instruction: Instruction, *, write: bool) -> None:
        """Check an access of the current lanes, which is about to happen."""
        root = instruction.root
        if "bounds" not in self.v.observers or isinstance(root, _UNCHECKED):
            return
        need = instruction.demand
        if isinstance(root, AddressRoot) and self.v.varying(root.address):
            if need > 1 or write:
                self._report(instruction, None, need, write)
            return
        memory = self.memory(instruction)
        bad = self._misaligned(instruction, memory, need)
        if write and isinstance(root, BufferRoot) and root.is_constant:
            self._report(instruction, memory, need, write)
            return
        if write and isinstance(root, AddressRoot):
            bad.append(self._is_read_only(self.v.scalar(root.address)))
        if not bad:
            return
        some = bad[0]
        for other in bad[1:]:
            some = self.text.let(f"or i1 {some}, {other}")
        some = self.text.let(f"freeze i1 {some}")
        self.when(
            some,
            lambda: self._report(instruction, memory, need, write),
            lambda: None,
            unlikely=True,
        )

    def _misaligned(self, instruction: Instruction, memory: Memory, need: int) -> list[str]:
        """Conditions of which one holds if a lane's address is no multiple of `need`."""
        text = self.text
        if need == 1:
            return []
        found = []
        root = instruction.root
        promised = root.alignment if isinstance(root, BufferRoot) else 1
        if isinstance(root, BufferRoot | AddressRoot) and promised < need:
            rest = text.let(f"and i64 {memory.address}, {need - 1}")
            found.append(text.let(f"icmp ne i64 {rest}, 0"))
        offset = instruction.operands[0]
        if self._facts.multiple(offset) % need == 0:
            return found
        form = self.v.form(offset)
        if form is not None and not form.guards and _only_base_counts(form, need):
            rest = text.let(f"and i64 {self.v.scalar(form.base)}, {need - 1}")
            return [*found, text.let(f"icmp ne i64 {rest}, 0")]
        if not self.v.varying(offset):
            rest = text.let(f"and i64 {self.v.scalar(offset)}, {need - 1}")
            return [*found, text.let(f"icmp ne i64 {rest}, 0")]
        kind = vector_of("i64")
        rest = text.let(f"and {kind} {self.v.vector(offset)}, splat (i64 {need - 1})")
        odd = text.let(f"icmp ne {kind} {rest}, zeroinitializer")
        return [*found, text.any(text.let(f"and {vector_of('i1')} {odd}, {self.v.mask}"))]

    def _is_read_only(self, address: str) -> str:
        text = self.text
        handle = text.let(f"lshr i64 {address}, {c.HANDLE_SHIFT}")
        table = self.v.field("ptr", c.READ_ONLY)
        entry = text.let(f"getelementptr i8, ptr {table}, i64 {handle}")
        flag = text.let(f"load i8, ptr {entry}, align 1")
        return text.let(f"icmp ne i8 {flag}, 0")

    def _report(
        self, instruction: Instruction, memory: Memory | None, need: int, write: bool
    ) -> None:
        """Let the helper look at the lanes one by one."""
        if memory is None:
            self.put_varying_addresses(instruction)
        else:
            self.put_lanes(instruction.operands[0], memory.address)
        root = instruction.root
        constant = isinstance(root, BufferRoot) and root.is_constant
        how = (layout.HOW_WRITE if write else 0) | (layout.HOW_CONSTANT if constant else 0)
        self.text.call(
            "void",
            "assay_watch_place",
            ("ptr", "%ctx"),
            ("i32", str(how)),
            ("i32", str(self.v.watch.site(instruction))),
            ("i32", self.text.mask_bits(self.v.mask)),
            ("i64", str(need)),
        )


def _only_base_counts(form: Form, need: int) -> bool:
    """Whether all that lanes add to the base is a multiple of `need`."""
    numbers = (*form.lanes, *(number for _, pattern in form.terms for number in pattern))
    return all(number % need == 0 for number in numbers)
