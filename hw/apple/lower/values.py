"""What is known of a kernel's values before instructions are chosen for them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from assay.sim.simt.analysis.divergence import Divergence, analyse_divergence
from assay.sim.simt.ir.cfg import Cfg, Loop, analyse
from assay.sim.simt.ir.nodes import (
    AddressRoot,
    Block,
    BufferRoot,
    Constant,
    ConstantRoot,
    Function,
    Instruction,
    Value,
    clone,
)
from assay.sim.simt.ir.operations.control import PHI
from assay.sim.simt.ir.operations.conversions import SEXT, TRUNC, ZEXT
from assay.sim.simt.ir.operations.functions import FUNCTIONS
from assay.sim.simt.ir.operations.integers import ADD, AND, LSHR, OR, SUB, XOR
from assay.sim.simt.ir.operations.lanes import SIMD_BALLOT
from assay.sim.simt.ir.operations.memory import LOAD
from assay.sim.simt.ir.operations.operation import Origin
from assay.sim.simt.ir.operations.positions import (
    DISPATCH_SIMDGROUPS_PER_THREADGROUP,
    DISPATCH_THREADS_PER_THREADGROUP,
    SIMDGROUPS_PER_THREADGROUP,
    THREADGROUPS_PER_GRID,
    THREADS_PER_GRID,
    THREADS_PER_THREADGROUP,
)

from .copies import copied_accesses
from .lanes import LaneNumbers, lane_numbers

# What the driver tells a whole dispatch.
_DISPATCH_WIDE = frozenset(
    {
        THREADS_PER_GRID,
        THREADGROUPS_PER_GRID,
        THREADS_PER_THREADGROUP,
        SIMDGROUPS_PER_THREADGROUP,
        DISPATCH_THREADS_PER_THREADGROUP,
        DISPATCH_SIMDGROUPS_PER_THREADGROUP,
    }
)
_FUNCTIONS = frozenset(FUNCTIONS)
_STEPS = frozenset({ADD, SUB})
_STEPPED = frozenset({ADD, SUB, OR, ZEXT, SEXT, TRUNC})
_EITHER = frozenset({OR, XOR})
_UNIFORM_HALVES = 256  # registers of 16 bits that a dispatch's threads share; dougallj/applegpu


class Values:
    """A copy of the kernel with its analyses.

    Attributes:
        function: the copy; blocks are in the original's order.
        copied: accesses of asynchronous copies, which need nothing of their simdgroup.
        live: what has an effect or is needed by what has.
        branches: blocks whose branch decides about something that is live.
        users: the live instructions that use a value; a block stands for its branch.
        early: what the machine computes once per dispatch, before threads start: it is in shared
            registers and costs nothing.
    """

    def __init__(self, function: Function) -> None:
        self.function = clone(function)
        self.blocks = list(self.function.blocks)
        self.cfg: Cfg = analyse(self.function)
        assert len(self.function.blocks) == len(self.blocks), "the kernel was not prepared"
        self.divergence: Divergence = analyse_divergence(self.function, self.cfg)
        self.ordinals = {
            access: ordinal
            for block in self.blocks
            for ordinal, access in enumerate(i for i in block.body if i.operation.accesses_memory)
        }
        self.copied = copied_accesses(self.function.instructions())
        self.branches: set[Block] = set()
        self.live = self._find_live()
        self.users = self._find_users()
        self.early: set[Value] = set()
        self._preloaded = 0  # halves of registers
        self._find_early()
        self.lane_only = self._find_lane_only()

    @property
    def early_registers(self) -> int:
        """Registers of 32 bits that hold what is computed early and used late."""
        kept = (v for v in self.early if any(u not in self.early for u in self.users_of(v)))
        return -(-sum(halves_of(value.type) for value in kept) // 2)

    @cached_property
    def is_fast(self) -> bool:
        """Whether divisions may be inexact.

        That is how kernels are compiled if nothing else is asked for; what is compiled otherwise
        licenses no contraction (what clang fused is fused already) and marks its functions.
        """
        found = list(self.function.instructions())
        precise = any(i.precise for i in found)
        return not precise or any(i.contract for i in found)

    # -- who needs what --------------------------------------------------------------------------

    def operands(self, instruction: Instruction) -> Iterator[Value]:
        """What the machine reads for an instruction."""
        if instruction in self.copied:
            return
        first = 1 if instruction.operation in _FUNCTIONS else 0
        yield from instruction.operands[first:]
        if isinstance(instruction.root, AddressRoot):
            yield instruction.root.address

    def _find_live(self) -> set[Value]:
        """What has an effect, and what that needs; branches are needed by what they choose."""
        live: set[Value] = set()
        work: list[Value] = [i for block in self.blocks for i in block.body if _has_effect(i)]
        work += self.copied
        branches = {block: self.chosen(block) for block in self.blocks if len(block.targets) == 2}
        while True:
            while work:
                value = work.pop()
                if isinstance(value, Instruction) and value not in live:
                    live.add(value)
                    work.extend(self.operands(value))
            for block, chosen in list(branches.items()):
                if self._matters(block, chosen, live):
                    assert block.condition is not None
                    self.branches.add(block)
                    del branches[block]
                    work.append(block.condition)
                    break
            else:
                return live

    def chosen(self, block: Block) -> set[Block]:
        """The blocks that run or not, depending on a branch."""
        meeting = self.cfg.postdominator[block]
        found: set[Block] = set()
        work = [target for target in block.targets if target is not meeting]
        while work:
            reached = work.pop()
            if reached not in found:
                found.add(reached)
                work.extend(target for target in reached.targets if target is not meeting)
        return found

    def _matters(self, block: Block, chosen: set[Block], live: set[Value]) -> bool:
        if any(other in self.branches for other in chosen):
            return True
        meeting = self.cfg.postdominator[block]
        if meeting is not None and any(phi in live for phi in meeting.phis):
            return True
        return any(self._is_work(i, live) for other in chosen for i in other.instructions())

    def _is_work(self, i: Instruction, live: set[Value]) -> bool:
        """Whether the simdgroup itself does it."""
        return i in live and i not in self.copied

    def is_free(self, loop: Loop) -> bool:
        """Whether a loop is the emulation of a copy."""
        found = [i for block in loop.blocks for i in block.instructions()]
        return not self.copied.isdisjoint(found) and not any(
            self._is_work(i, self.live) for i in found
        )

    def _find_users(self) -> dict[Value, list[Instruction | Block]]:
        users: dict[Value, list[Instruction | Block]] = {}
        for block in self.blocks:
            for instruction in block.instructions():
                if instruction in self.live:
                    for operand in self.operands(instruction):
                        users.setdefault(operand, []).append(instruction)
            if block in self.branches:
                assert block.condition is not None
                users.setdefault(block.condition, []).append(block)
        return users

    def users_of(self, value: Value) -> list[Instruction | Block]:
        """The live instructions that use a value, and the blocks that branch on it."""
        return self.users.get(value, [])

    def only_user(self, value: Value) -> Instruction | None:
        """The one instruction that uses a value in its own block."""
        users = self.users_of(value)
        user = users[0] if len(users) == 1 else None
        if not isinstance(user, Instruction) or not isinstance(value, Instruction):
            return None
        return user if user.block is value.block and user.operation is not PHI else None

    # -- when it is known ------------------------------------------------------------------------

    def _find_early(self) -> None:
        for block in self.cfg.order:
            for instruction in block.body:
                if instruction in self.live and self._is_early(instruction):
                    self.early.add(instruction)
                    if instruction.operation is LOAD:
                        self._preloaded += instruction.components * halves_of(instruction.type)

    def _is_early(self, instruction: Instruction) -> bool:
        operation = instruction.operation
        if operation is PHI or instruction.type == "void" or instruction in self.copied:
            return False
        if operation.origin is Origin.MACHINE:
            return operation in _DISPATCH_WIDE
        if operation is LOAD and not self._is_preloaded(instruction):
            return False
        return all(self.is_early(operand) for operand in self.operands(instruction))

    def _is_preloaded(self, load: Instruction) -> bool:
        root = load.root
        constant = isinstance(root, ConstantRoot) or (
            isinstance(root, BufferRoot) and root.is_constant
        )
        size = load.components * halves_of(load.type)
        if not constant or self._preloaded + size > _UNIFORM_HALVES:
            return False
        # Loads at offsets that are not literal would be made before it is known that they may be.
        return isinstance(load.operands[0], Constant)

    def is_early(self, value: Value) -> bool:
        """Whether a value is known before threads start."""
        return isinstance(value, Constant) or value in self.early

    def _find_lane_only(self) -> dict[Value, LaneNumbers]:
        """What depends on a thread's lane alone, and what that is in each lane."""
        found: dict[Value, LaneNumbers] = {}
        for block in self.cfg.order:
            for instruction in block.body:
                numbers = lane_numbers(instruction, found)
                if numbers is not None:
                    found[instruction] = numbers
        return found

    def is_zero(self, value: Value) -> bool:
        """Whether a value is 0 in every lane."""
        numbers = self.lane_only.get(value)
        return numbers is not None and not any(numbers)

    # -- loops -----------------------------------------------------------------------------------

    def depth(self, value: Value) -> int:
        """How many loops are around the definition of a value."""
        if not isinstance(value, Instruction) or value.block is None or self.is_early(value):
            return 0
        return len(self.cfg.loops_of(value.block))

    def is_invariant(self, value: Value, loop: Loop) -> bool:
        """Whether a value stays the same while a loop runs."""
        if self.is_early(value) or not isinstance(value, Instruction):
            return True
        return value.block not in loop.blocks

    def is_counter(self, value: Value, loop: Loop, depth: int = 0) -> bool:
        """Whether a value goes up by equal steps from round to round of a loop."""
        if not isinstance(value, Instruction) or depth > 8:
            return False
        if value.operation is PHI:
            return value.block is loop.header and any(
                isinstance(step, Instruction)
                and step.operation in _STEPS
                and value in step.operands
                and any(self.is_invariant(o, loop) for o in step.operands)
                for step in value.operands
            )
        if value.operation in _STEPPED:
            varying = [o for o in value.operands if not self.is_invariant(o, loop)]
            return len(varying) == 1 and self.is_counter(varying[0], loop, depth + 1)
        return False


def halves_of(type: str) -> int:
    """Halves of a 32-bit register that a value takes."""
    if type in ("i1", "i8", "i16", "half", "bfloat"):
        return 1
    return 4 if type in ("i64", "double", "ptr") else 2


def is_narrow(type: str) -> bool:
    """Whether the machine computes with 16 bits."""
    return type in ("i8", "i16", "half")


def is_short(value: Value, depth: int = 0) -> bool:
    """Whether a 64-bit integer is known to have nothing in its upper half."""
    if isinstance(value, Constant):
        return value.number is not None and value.number >> 32 == 0
    if not isinstance(value, Instruction) or depth > 8:
        return False
    if value.operation is ZEXT or value.operation is SIMD_BALLOT:
        return True
    operands = value.operands
    if value.operation is LSHR:
        amount = operands[1]
        far = isinstance(amount, Constant) and (amount.number or 0) >= 32
        return far or is_short(operands[0], depth + 1)
    if value.operation is AND:
        return any(is_short(operand, depth + 1) for operand in operands)
    if value.operation in _EITHER:
        return all(is_short(operand, depth + 1) for operand in operands)
    return False


def _has_effect(instruction: Instruction) -> bool:
    operation = instruction.operation
    return operation.writes_memory or operation.is_atomic or operation.orders_memory
