"""Whether the contents of buffers can change what a kernel executes or which memory it touches.

A kernel of which neither is true does the same in every dispatch of one grid with equal constants,
whatever its buffers hold: what was taped of one such dispatch holds for all.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from ..ir.nodes import (
    PRIVATE_ROOTS,
    THREADGROUP_ROOTS,
    AddressRoot,
    BufferRoot,
    ConstantRoot,
    Function,
    Instruction,
    Root,
    ShadowRoot,
    Value,
)
from ..ir.operations.memory import ADDRESS, LOAD


@dataclass(frozen=True, slots=True, kw_only=True)
class DataDependence:
    """`control`: some branch depends on data; `addresses`: some address does."""

    control: bool
    addresses: bool

    def __bool__(self) -> bool:
        return self.control or self.addresses


def data_dependence(function: Function, known: Collection[int]) -> DataDependence:
    """What of a kernel depends on data; `known` are parameters whose contents do not count as such.

    Pointers that are loaded from a known parameter do not count as data either: only where they
    lead is unknown.
    """
    found = _Taint(function, frozenset(known))
    control = any(b.condition is not None and b.condition in found.values for b in function.blocks)
    addresses = any(found.is_address_tainted(i) for i in function.instructions())
    return DataDependence(control=control, addresses=addresses)


class _Taint:
    """Values that depend on data, and whether threadgroup and private memory hold such."""

    def __init__(self, function: Function, known: frozenset[int]) -> None:
        self.values: set[Value] = set()
        self._known = known
        self._memories: set[str] = set()
        instructions = list(function.instructions())
        changed = True
        while changed:
            before = len(self.values), len(self._memories)
            for instruction in instructions:
                self._visit(instruction)
            changed = (len(self.values), len(self._memories)) != before

    def is_address_tainted(self, instruction: Instruction) -> bool:
        """Whether an access goes to a place that depends on data."""
        root = instruction.root
        if root is None or instruction.operation is ADDRESS:
            return False
        if isinstance(root, AddressRoot) and root.address in self.values:
            return True
        return bool(instruction.operands) and instruction.operands[0] in self.values

    def _visit(self, instruction: Instruction) -> None:
        tainted = any(operand in self.values for operand in instruction.operands)
        root = instruction.root
        if root is not None and instruction.operation is not ADDRESS:
            memory = _memory_of(root)
            if memory and tainted and _writes(instruction):
                self._memories.add(memory)
            tainted = tainted or self._holds_data(root, memory)
        if tainted and instruction.type != "void":
            self.values.add(instruction)

    def _holds_data(self, root: Root, memory: str) -> bool:
        if memory:
            return memory in self._memories
        if isinstance(root, BufferRoot):
            return root.parameter not in self._known
        return not isinstance(root, ConstantRoot)


def _writes(instruction: Instruction) -> bool:
    """Anything that is no plain load may store what it is given."""
    return instruction.operation is not LOAD


def _memory_of(root: Root) -> str:
    """The memory of a threadgroup or thread, each taken as a whole; empty for all other memory."""
    inner = root.of if isinstance(root, ShadowRoot) else root
    if isinstance(inner, THREADGROUP_ROOTS):
        return "threadgroup"
    return "private" if isinstance(inner, PRIVATE_ROOTS) else ""
