"""Writing one function: registers as they are needed, constants, calls, blocks and branches.

A register is written wherever an instruction names it, so a value that changes from block to block
keeps its register. Numbers of 64 bits take a pair of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ..archive import Import
from ..convention import Convention
from ..decode import IMPORT_BIT, REF_BIT, Branch, Instruction, RefOperand, RegisterList
from ..isa import BY_MNEMONIC
from .assemble import assemble

NOT_A_SPAN: Final = 0xFFFF
"""What stands for an argument that is no span where the sizes of spans do."""
YIELDS: Final = 4
UNWINDS: Final = 8
"""FunctionBits of the schema: what a function asks of the VM."""
_WIDE = "IF"
Register = int
"""A value register's number, or REF_BIT and a ref register's."""


@dataclass(frozen=True, slots=True)
class Written:
    """A function's bytecode, and what its descriptor says."""

    convention: Convention
    bytecode: bytes
    requirements: int
    blocks: int
    value_registers: int
    ref_registers: int


class FunctionWriter:
    """Writes instructions into the block that `at` chose last; the entry block at first.

    Args:
        convention: what the function takes and gives.
        imported: gives the number of an imported function, and what it is, by its name.
    """

    def __init__(self, convention: Convention, imported: Callable[[str], tuple[int, Import]]):
        self._convention = convention
        self._imported = imported
        self._values = 0
        self._refs = 0
        self._constants: dict[tuple[str, int], Register] = {}
        self._entry: list[Instruction] = []
        """Constants, before everything else."""
        self._blocks: dict[int, list[Instruction]] = {0: []}
        self._current = self._blocks[0]
        self._requirements = UNWINDS
        self.arguments = [self.new(letter) for letter in convention.arguments]
        """The registers that arguments are in."""

    def new(self, letter: str) -> Register:
        """A register for a value of a convention's letter."""
        if letter == "r":
            self._refs += 1
            return REF_BIT | self._refs - 1
        wide = letter in _WIDE
        self._values += self._values & 1 if wide else 0
        register = self._values
        self._values += 2 if wide else 1
        return register

    def i32(self, value: int) -> Register:
        """A register with a number."""
        return self._constant("i", "const.i32", value)

    def i64(self, value: int) -> Register:
        """A register with a number."""
        return self._constant("I", "const.i64", value)

    def null(self) -> Register:
        """A register with no reference."""
        return self._constant("r", "const.ref.zero", 0)

    def data(self, ordinal: int) -> Register:
        """A register with read-only data."""
        return self._constant("r", "const.ref.rodata", ordinal)

    def _constant(self, letter: str, mnemonic: str, value: int) -> Register:
        key = mnemonic, value
        if key not in self._constants:
            register = self._constants[key] = self.new(letter)
            is_zero = mnemonic == "const.ref.zero"
            operands = (_operand(letter, register),)
            self._entry.append(
                _instruction(mnemonic, *(operands if is_zero else (value, *operands)))
            )
        return self._constants[key]

    def block(self) -> int:
        """A new block, to be filled later."""
        number = len(self._blocks)
        self._blocks[number] = []
        return number

    def at(self, block: int) -> None:
        """Go on in a block."""
        self._current = self._blocks[block]

    def do(self, mnemonic: str, *operands: Any) -> None:
        """An instruction with its operands as the table of operations has them.

        Ref registers may be plain, and targets block numbers.
        """
        kinds = [kind for kind in BY_MNEMONIC[mnemonic].fields if kind != "remap"]
        branches = "remap" in BY_MNEMONIC[mnemonic].fields
        made: list[Any] = []
        for kind, operand in zip(kinds, operands, strict=True):
            if kind in ("ref", ">ref"):
                made.append(RefOperand(operand, False))
            elif kind == "target" and branches:
                made.append(Branch(operand, ()))
            elif kind.startswith("list:") or kind == "results":
                made.append(_list(operand))
            else:
                made.append(operand)
        self._current.append(_instruction(mnemonic, *made))

    def get(self, letter: str, mnemonic: str, *operands: Any) -> Register:
        """An instruction whose result is its last operand, in a new register."""
        register = self.new(letter)
        self.do(mnemonic, *operands, register)
        return register

    def call(self, name: str, *arguments: Any) -> list[Register]:
        """Calls an imported function; an argument that is a span is a list of tuples."""
        ordinal, wanted = self._imported(name)
        registers, sizes = _flat(wanted.convention, arguments)
        results = [self.new(letter) for letter in wanted.convention.results]
        if wanted.convention.variadic:
            self.do("call.variadic", IMPORT_BIT | ordinal, sizes, registers, results)
        else:
            self.do("call", IMPORT_BIT | ordinal, registers, results)
        return results

    def wait(self, name: str, *arguments: Any) -> list[Register]:
        """Calls an imported function that may wait, and goes on in a new block."""
        ordinal, wanted = self._imported(name)
        registers, sizes = _flat(wanted.convention, arguments)
        results = [self.new(letter) for letter in wanted.convention.results]
        resumed = self.block()
        self._requirements |= YIELDS
        called = IMPORT_BIT | ordinal
        self.do("call.variadic.yieldable", called, sizes, registers, resumed, results)
        self.at(resumed)
        return results

    def finish(self) -> Written:
        """The function."""
        blocks = {**self._blocks, 0: self._entry + self._blocks[0]}
        return Written(
            convention=self._convention,
            # Registers are numbered as they are encoded.
            bytecode=assemble(blocks, REF_BIT),
            requirements=self._requirements,
            blocks=len(blocks),
            value_registers=self._values,
            ref_registers=self._refs,
        )


def _flat(
    convention: Convention, arguments: Sequence[Any]
) -> tuple[list[Register], tuple[int, ...]]:
    """All registers of a call, and the size of each span."""
    registers: list[Register] = []
    sizes = []
    for is_span, argument in zip(convention.spans, arguments, strict=True):
        if is_span:
            sizes.append(len(argument))
            registers += [register for item in argument for register in item]
        else:
            sizes.append(NOT_A_SPAN)
            registers.append(argument)
    return registers, tuple(sizes)


def _list(registers: Sequence[Register]) -> RegisterList:
    return RegisterList(tuple(registers), (False,) * len(registers))


def _operand(letter: str, register: Register) -> Any:
    return RefOperand(register, False) if letter == "r" else register


def _instruction(mnemonic: str, *operands: Any) -> Instruction:
    return Instruction(0, BY_MNEMONIC[mnemonic], operands)
