"""Puts a thread's arrays into registers where every access says which element it means.

LLVM does this itself for most; it leaves what is copied as a whole, a structure at a time.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..ir.llvm_types import Scalar, size_of
from ..ir.nodes import (
    AddressRoot,
    Block,
    Function,
    Instruction,
    PrivateArenaRoot,
    PrivateRoot,
    Value,
    is_private,
    zero,
)
from ..ir.operations.control import PHI
from ..ir.operations.conversions import BITCAST
from ..ir.operations.memory import COMPONENT, LOAD, STORE
from ..ir.passes import rewrites
from .linear_form import number_of

_MOST_ELEMENTS = 1024
_PLAIN = frozenset({LOAD, STORE})
Slot = tuple[PrivateRoot, int]  # and the byte at which an element begins


@rewrites
def promote(function: Function) -> None:
    """Replace accesses to such arrays by values, in place."""
    slots = _find_slots(function)
    if slots:
        _Promoter(function, slots).run()
    if not any(is_private(instruction.root) for instruction in function.instructions()):
        function.private_memory = 0


def _find_slots(function: Function) -> dict[Slot, str]:
    """The elements of all arrays that can be promoted, with the type that first names them."""
    found: dict[Slot, str] = {}
    refused: set[PrivateRoot] = set()
    for instruction in function.instructions():
        root = instruction.root
        if isinstance(root, PrivateArenaRoot):
            return {}
        if isinstance(root, PrivateRoot) and not _note(instruction, root, found):
            refused.add(root)
    for root in {root for root, _ in found}:
        refused |= {root} if _overlap(root, found) else set()
    return {slot: type for slot, type in found.items() if slot[0] not in refused}


def _note(access: Instruction, root: PrivateRoot, found: dict[Slot, str]) -> bool:
    """Take the elements of an access to those found; false if it is not known which they are."""
    if access.operation not in _PLAIN:
        return False
    start = number_of(access.operands[0])
    size = size_of(Scalar(access.element))
    if start is None or start < 0 or start + size * access.components > root.size:
        return False
    for number in range(access.components):
        slot = (root, start + number * size)
        if size_of(Scalar(found.setdefault(slot, access.element))) != size:
            return False
    return len(found) <= _MOST_ELEMENTS


def _overlap(root: PrivateRoot, found: dict[Slot, str]) -> bool:
    end = 0
    for start, type in sorted((at, type) for (owner, at), type in found.items() if owner == root):
        if start < end:
            return True
        end = start + size_of(Scalar(type))
    return False


@dataclass(frozen=True, slots=True)
class _Found:
    """A phi that was made and the predecessors whose values it still lacks."""

    phi: Instruction
    slot: Slot
    block: Block


class _Promoter:
    """Follows the elements' values through the blocks."""

    def __init__(self, function: Function, slots: dict[Slot, str]) -> None:
        self.function = function
        self.slots = slots
        self.ends: dict[tuple[Slot, Block], Value] = {}  # at the end of a block
        self.starts: dict[tuple[Slot, Block], Value] = {}
        self.replaced: dict[Value, Value] = {}
        self.made: set[Value] = set()  # conversions that stand for loads
        self.open: list[_Found] = []

    def run(self) -> None:
        """Replace all accesses."""
        loads = [self._local(block) for block in self.function.blocks]
        for block, waiting in zip(self.function.blocks, loads, strict=True):
            for load, slot in waiting:
                load.operands = [self._at_start(slot, block)]
        while self.open:
            made = self.open.pop()
            made.phi.operands = [self._at_end(made.slot, p) for p in made.block.predecessors]
        for block in self.function.blocks:
            block.body = [i for i in block.body if not self._is_idle(i)]
        for block in self.function.blocks:
            if block.condition is not None:
                block.condition = self._now(block.condition)
            for instruction in block.instructions():
                instruction.operands = [self._now(operand) for operand in instruction.operands]
                root = instruction.root
                if isinstance(root, AddressRoot) and root.address in self.replaced:
                    address = self._now(root.address)
                    instruction.root = AddressRoot(address, root.space, root.name)

    def _is_idle(self, instruction: Instruction) -> bool:
        """Whether a load has become nothing but the value."""
        if instruction not in self.made or instruction.type != instruction.operands[0].type:
            return False
        self.replaced[instruction] = instruction.operands[0]
        return True

    def _local(self, block: Block) -> list[tuple[Instruction, Slot]]:
        """Do what needs no other block; returns the loads that do, with their elements."""
        body: list[Instruction] = []
        waiting: list[tuple[Instruction, Slot]] = []
        current: dict[Slot, Value] = {}
        parts: dict[tuple[Value, int], Slot | Value] = {}
        for instruction in block.body:
            slots = self._slots_of(instruction)
            if instruction.operation is COMPONENT and (instruction.operands[0], 0) in parts:
                self._take(instruction, parts[instruction.operands[0], instruction.index], waiting)
                body.append(instruction)
            elif not slots:
                body.append(instruction)
            elif instruction.operation is STORE:
                for slot, value in zip(slots, instruction.operands[1:], strict=True):
                    current[slot] = self._as_element(slot, value, instruction, body)
            else:
                for number, slot in enumerate(slots):
                    parts[instruction, number] = current.get(slot, slot)
                self._take(instruction, parts[instruction, 0], waiting)
                body.append(instruction)
        block.body = body
        for slot, value in current.items():
            self.ends[slot, block] = value
        return waiting

    def _take(
        self, use: Instruction, found: Slot | Value, waiting: list[tuple[Instruction, Slot]]
    ) -> None:
        """Make a load, or a component of one, a conversion of the element's value."""
        use.operation, use.root, use.components, use.index = BITCAST, None, 1, 0
        self.made.add(use)
        if isinstance(found, Value):
            use.operands = [found]
        else:
            use.operands = []
            waiting.append((use, found))

    def _as_element(
        self, slot: Slot, value: Value, store: Instruction, body: list[Instruction]
    ) -> Value:
        """A stored value in the type that its element has everywhere."""
        type = self.slots[slot]
        if value.type == type:
            return value
        converted = Instruction(BITCAST, type, [value], store.site)
        converted.block = store.block
        body.append(converted)
        return converted

    def _slots_of(self, instruction: Instruction) -> list[Slot]:
        root = instruction.root
        if not isinstance(root, PrivateRoot) or instruction.operation not in _PLAIN:
            return []
        start = number_of(instruction.operands[0])
        if start is None or (root, start) not in self.slots:
            return []
        size = size_of(Scalar(instruction.element))
        return [(root, start + number * size) for number in range(instruction.components)]

    def _at_end(self, slot: Slot, block: Block) -> Value:
        found = self.ends.get((slot, block))
        return found if found is not None else self._at_start(slot, block)

    def _at_start(self, slot: Slot, block: Block) -> Value:
        """An element's value where a block begins; what nobody wrote is 0."""
        path: list[Block] = []
        found: Value | None = None
        while found is None:
            found = self.starts.get((slot, block))
            if found is not None:
                break
            path.append(block)
            if len(block.predecessors) == 1:
                block = block.predecessors[0]
                found = self.ends.get((slot, block))
            elif block.predecessors:
                found = self._phi(slot, block)
            else:
                found = zero(self.slots[slot])
        for passed in path:
            self.starts[slot, passed] = found
        return found

    def _phi(self, slot: Slot, block: Block) -> Instruction:
        phi = Instruction(PHI, self.slots[slot], [], block.site)
        phi.block = block
        block.phis.append(phi)
        self.starts[slot, block] = phi
        self.open.append(_Found(phi, slot, block))
        return phi

    def _now(self, value: Value) -> Value:
        while value in self.replaced:
            value = self.replaced[value]
        return value
