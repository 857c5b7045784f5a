"""Verifies that a function is what passes take for granted.

That is: instructions fit their operations' rows; every value is defined before it is used, on every
way; blocks know each other and end as they should; accesses go to memory that they may go to.
"""

from __future__ import annotations

from collections.abc import Iterator

from .cfg import dominators, reverse_postorder
from .llvm_types import bits
from .nodes import (
    PRIVATE_ROOTS,
    THREADGROUP_ROOTS,
    AddressRoot,
    Block,
    Constant,
    ConstantRoot,
    Function,
    Instruction,
    Root,
    ShadowRoot,
    Value,
)
from .operations.control import PHI
from .operations.memory import COMPONENT, LOAD, STORE
from .operations.operation import Spaces, Width
from .operations.table import OPERATIONS


class InvalidFunction(Exception):
    """A pass left something that is no valid IR; says what, in which block and instruction."""


def verify(function: Function, after: str = "") -> None:
    """Check a function.

    Args:
        function: stays unchanged.
        after: the pass to blame.

    Raises:
        InvalidFunction: for the first thing that is wrong.
    """
    _Verifier(function, f" after {after}" if after else "").run()


class _Verifier:
    def __init__(self, function: Function, after: str) -> None:
        self.function = function
        self.after = after
        self.blocks = set(function.blocks)
        self.block = function.blocks[0]
        self.instruction: Instruction | None = None

    def run(self) -> None:
        for block in self.function.blocks:
            self.block = block
            self._block_ends()
        for block in self.function.blocks:
            self.block = block
            self._instructions()
        self._definitions()

    def _fail(self, problem: str) -> InvalidFunction:
        where = f"kernel '{self.function.name}', block '{self.block.name}'"
        if self.instruction is not None:
            site = f" ({self.instruction.site})" if self.instruction.site.file else ""
            where += f", '{self.instruction.spelling}'{site}"
        return InvalidFunction(f"{where}{self.after}: {problem}")

    # -- blocks ----------------------------------------------------------------------------------

    def _block_ends(self) -> None:
        block, self.instruction = self.block, None
        if block is self.function.blocks[0] and block.predecessors:
            raise self._fail("the entry has predecessors")
        if (block.condition is not None) != (len(block.targets) == 2):
            raise self._fail(f"{len(block.targets)} targets and condition {block.condition!r}")
        if block.condition is not None and block.condition.type != "i1":
            raise self._fail(f"its condition is of type {block.condition.type}")
        for target in block.targets:
            if target not in self.blocks:
                raise self._fail(f"goes to '{target.name}', which is not in the function")
            if target.predecessors.count(block) != block.targets.count(target):
                raise self._fail(f"'{target.name}' does not have it among its predecessors")
        for predecessor in block.predecessors:
            if predecessor not in self.blocks or block not in predecessor.targets:
                raise self._fail(f"its predecessor '{predecessor.name}' does not go to it")

    # -- instructions ----------------------------------------------------------------------------

    def _instructions(self) -> None:
        for place, instruction in enumerate(self.block.instructions()):
            self.instruction = instruction
            if instruction.block is not self.block:
                raise self._fail("it is said to be in another block")
            if (instruction.operation is PHI) != (place < len(self.block.phis)):
                raise self._fail("phis come first, and nothing else does")
            self._types(instruction)
            self._memory(instruction)
        self.instruction = None

    def _types(self, i: Instruction) -> None:
        operation, number = i.operation, i.number
        if OPERATIONS.get(operation.name) is not operation:
            raise self._fail("the table has no such operation")
        if (number in operation.numbers) != bool(operation.numbers):
            raise self._fail(f"does not exist for {number}")
        operands = [(operand.type, isinstance(operand, Constant)) for operand in i.operands]
        problem = operation.signature.problem(operands, i.type, number.type if number else None)
        if problem:
            raise self._fail(problem)
        if operation is PHI and len(i.operands) != len(self.block.predecessors):
            raise self._fail(f"{len(i.operands)} operands, {len(self.block.predecessors)} ways")
        if operation.width is not None:
            self._width(operation.width, bits(i.operands[0].type), bits(i.type))

    def _width(self, width: Width, source: int, result: int) -> None:
        right = {
            Width.SAME: source == result,
            Width.LESS: result < source,
            Width.MORE: result > source,
        }
        if not right[width]:
            raise self._fail(f"gives {result} bits from {source}: it should give {width.value}")

    def _memory(self, i: Instruction) -> None:
        operation = i.operation
        if (i.root is not None) != operation.has_root:
            raise self._fail("has a root" if i.root is not None else "has no root")
        if operation.accesses_memory and not _space(i.root) & operation.spaces:
            assert i.root is not None
            raise self._fail(f"accesses {i.root.name}, which it may not")
        if operation is LOAD and i.element != i.type:
            raise self._fail(f"loads {i.element} as {i.type}")
        if operation is STORE:
            moved = [operand.type for operand in i.operands[1:]]
            if moved != [i.element] * i.components:
                raise self._fail(f"stores {', '.join(moved)} as {i.components} {i.element}")
        if operation is COMPONENT:
            self._component(i)

    def _component(self, i: Instruction) -> None:
        source = i.operands[0]
        if not isinstance(source, Instruction) or source.operation is not LOAD:
            raise self._fail("is of no load")
        if not 0 < i.index < source.components:
            raise self._fail(f"is number {i.index} of {source.components}")

    # -- definitions before uses -----------------------------------------------------------------

    def _definitions(self) -> None:
        order = reverse_postorder(self.function.blocks[0])
        dominator = dominators(order)
        if len(order) != len(self.function.blocks):
            lost = next(block for block in self.function.blocks if block not in set(order))
            self.block = lost
            raise self._fail("nothing leads to it")
        known: dict[Block, set[Value]] = {}
        for block in order:
            self.block = block
            above = dominator[block]
            defined = set(known[above]) if above is not None else set()
            defined.update(block.phis)
            for instruction in block.body:
                self.instruction = instruction
                self._uses(_read(instruction), defined)
                defined.add(instruction)
            self.instruction = None
            if block.condition is not None:
                self._uses([block.condition], defined)
            known[block] = defined
        for block in order:
            self.block = block
            for phi in block.phis:
                self.instruction = phi
                for operand, predecessor in zip(phi.operands, block.predecessors, strict=True):
                    self._uses([operand], known[predecessor])
            self.instruction = None

    def _uses(self, values: Iterator[Value] | list[Value], defined: set[Value]) -> None:
        for value in values:
            if isinstance(value, Instruction) and value not in defined:
                where = f" of block '{value.block.name}'" if value.block is not None else ""
                raise self._fail(f"uses '{value.spelling}'{where} before it is there")


def _read(i: Instruction) -> Iterator[Value]:
    yield from i.operands
    root = i.root.of if isinstance(i.root, ShadowRoot) else i.root
    if isinstance(root, AddressRoot):
        yield root.address


def _space(root: Root | None) -> Spaces:
    if isinstance(root, ShadowRoot):
        return _space(root.of)
    if isinstance(root, THREADGROUP_ROOTS):
        return Spaces.THREADGROUP
    if isinstance(root, PRIVATE_ROOTS):
        return Spaces.PRIVATE
    return Spaces.CONSTANT if isinstance(root, ConstantRoot) else Spaces.DEVICE
