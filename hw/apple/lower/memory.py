"""Instructions that access memory: one moves up to four values, and 16 bytes, of a thread."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.sim.simt.ir.llvm_types import Scalar, size_of
from assay.sim.simt.ir.nodes import THREADGROUP_ROOTS, AddressRoot, Instruction, Root, is_private
from assay.sim.simt.ir.operations.atomics import (
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
from assay.sim.simt.ir.operations.handlers import Handlers
from assay.sim.simt.ir.operations.memory import COMPONENT, LOAD, STORE

from .code import ENGINE
from .instructions import Op, latest

if TYPE_CHECKING:
    from .select import Selector

# The end of an access's class, behind the memory that it goes to.
ACCESSES: Handlers[str] = Handlers("the classes of accesses", lambda each: each.accesses_memory)
ACCESSES.put((LOAD, ATOMIC_LOAD), "load")
ACCESSES.put((STORE, ATOMIC_STORE), "store")
ACCESSES.put(
    (
        ATOMIC_XCHG,
        ATOMIC_CMPXCHG,
        ATOMIC_ADD,
        ATOMIC_SUB,
        ATOMIC_MIN,
        ATOMIC_MAX,
        ATOMIC_AND,
        ATOMIC_OR,
        ATOMIC_XOR,
    ),
    "atomic",
)
_MOST_VALUES = 4
_WORD = 4


class MemoryInstructions:
    """Emits loads, stores and atomics."""

    def __init__(self, selector: Selector) -> None:
        self.selector = selector

    def access(self, i: Instruction) -> None:
        """One access of the IR, which may take several instructions."""
        s = self.selector
        ordinal = s.values.ordinals[i]
        if i in s.values.copied:
            kind = f"{ENGINE}{space_of(i.root)}_{ACCESSES[i.operation]}"
            self._put(kind, -1, (), i, ordinal, writes=i.operation.writes_memory)
            return
        address = s.addresses.of(i)
        if i.operation.is_atomic:
            self._atomic(i, address, ordinal)
            return
        count = instruction_count(i)
        kind = f"{space_of(i.root)}_{ACCESSES[i.operation]}"
        if i.operation is LOAD:
            size = _halves(i)
            registers = []
            for number in range(count):
                register = s.code.register(-(-size // count))
                registers.append(register)
                self._put(kind, register, address, i, -1 if number else ordinal)
            self._name_parts(i, registers)
            return
        values = i.operands[1:]
        share = -(-len(values) // count)
        for number in range(count):
            part = values[number * share : (number + 1) * share]
            sources = tuple(dict.fromkeys((*address, *s.read(*part))))
            self._put(kind, -1, sources, i, -1 if number else ordinal, writes=True)

    def _name_parts(self, load: Instruction, registers: list[int]) -> None:
        share = -(-load.components // len(registers))
        s = self.selector
        s.registers[load] = (registers[0],)
        for user in s.values.users_of(load):
            if isinstance(user, Instruction) and user.operation is COMPONENT:
                s.registers[user] = (registers[user.index // share],)

    def _atomic(self, i: Instruction, address: tuple[int, ...], ordinal: int) -> None:
        s = self.selector
        kind = f"{space_of(i.root)}_{ACCESSES[i.operation]}"
        used = i.type != "void" and bool(s.values.users_of(i))
        register = s.code.register(_halves(i)) if used else -1
        sources = tuple(dict.fromkeys((*address, *s.read(*i.operands[1:]))))
        self._put(kind, register, sources, i, ordinal, writes=True)
        if used:
            s.registers[i] = (register,)

    def _put(
        self,
        kind: str,
        register: int,
        sources: tuple[int, ...],
        i: Instruction,
        ordinal: int,
        *,
        writes: bool = False,
    ) -> None:
        root = i.root
        memory = "anywhere" if isinstance(root, AddressRoot) else root
        self.selector.code.ops[self.selector.block].append(
            Op(kind, register, latest(sources), i.site, 0, ordinal, memory, writes)
        )


def instruction_count(i: Instruction) -> int:
    """How many instructions an access takes."""
    size = size_of(Scalar(i.element))
    if size > _WORD:
        return -(-i.components * size // (_MOST_VALUES * _WORD))
    if size == 2:  # two halves travel as a word
        return -(-i.components // (2 * _MOST_VALUES)) if i.components > _MOST_VALUES else 1
    return -(-i.components // _MOST_VALUES)


def _halves(i: Instruction) -> int:
    size = size_of(Scalar(i.element))
    return i.components * (1 if size <= 2 else 2 if size == _WORD else 4)


def space_of(root: Root | None) -> str:
    """What memory a root is in, as classes name it."""
    if isinstance(root, THREADGROUP_ROOTS):
        return "threadgroup"
    return "private" if is_private(root) else "device"
