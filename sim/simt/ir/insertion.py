"""Rewrites a function's blocks instruction by instruction, with others put in between."""

from __future__ import annotations

from collections.abc import Callable

from .cfg import reverse_postorder
from .nodes import Block, Function, Instruction, Value
from .operations.number import Number
from .operations.operation import Operation

Numbering = Callable[[Instruction | Block], int]


class Inserter:
    """Visits every instruction once, definitions before uses but for phis.

    A subclass says in `before` and `after` what else to emit around an instruction, and in `ends`
    at the end of a block. `at` is what is being visited, whose place emitted instructions take.
    """

    def __init__(self, function: Function, number: Numbering) -> None:
        self.function = function
        self.number = number
        self.block = function.blocks[0]
        self.body: list[Instruction] = []
        self.at: Instruction | Block = self.block

    def visit(self) -> None:
        """Go through the function."""
        for block in reverse_postorder(self.function.blocks[0]):
            self.block = block
            visited, self.body = block.body, []
            for instruction in visited:
                self.at = instruction
                self.before(instruction)
                self.body.append(instruction)
                self.after(instruction)
            self.at = block
            self.ends(block)
            block.body = self.body

    def before(self, instruction: Instruction) -> None:
        """What comes before an instruction."""

    def after(self, instruction: Instruction) -> None:
        """What comes after an instruction."""

    def ends(self, block: Block) -> None:
        """What comes at the end of a block."""

    def emit(
        self,
        operation: Operation,
        type: str,
        *operands: Value,
        number: Number | None = None,
        predicate: str = "",
    ) -> Instruction:
        """Append an instruction."""
        made = Instruction(operation, type, list(operands), self.at.site, number)
        made.predicate, made.block = predicate, self.block
        self.body.append(made)
        return made

    def observe(self, observation: Operation, condition: Value) -> None:
        """Report lanes for which a condition (`i1`) holds, or an origin (`i16`) is not 0."""
        self.emit(observation, "void", condition)
