"""From instructions to bytecode: the mirror of `decode`, by the same table of operations."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..decode import (
    CONSTANTS,
    MOVE_BIT,
    REF_BIT,
    Branch,
    Instruction,
    RefOperand,
    RegisterList,
)
from ..isa_table import BLOCK_MARKER


def assemble(blocks: Mapping[int, Sequence[Instruction]], values: int) -> bytes:
    """The bytecode of one function.

    Args:
        blocks: blocks in order by the numbers that branches name them by, the entry first. Decoded
            functions have the byte offsets of their blocks, others any numbers.
        values: the number of value registers; instructions count ref registers from there on.
    """
    return _Assembler(values).assemble(blocks)


class _Assembler:
    def __init__(self, values: int) -> None:
        self.values = values
        self.code = bytearray()
        self.targets: list[tuple[int, int]] = []
        """(where a target is written, the block's number)."""

    def assemble(self, blocks: Mapping[int, Sequence[Instruction]]) -> bytes:
        offsets: dict[int, int] = {}
        for number, block in blocks.items():
            offsets[number] = len(self.code)
            self.code.append(BLOCK_MARKER)
            for instruction in block:
                self.instruction(instruction)
        for place, number in self.targets:
            struct.pack_into("<I", self.code, place, offsets[number])
        return bytes(self.code)

    def instruction(self, instruction: Instruction) -> None:
        operation = instruction.operation
        self.code += operation.encoding
        # A branch's target and its moves are one operand, as are the count and cases of a table.
        kinds = [kind for kind in operation.fields if kind not in ("remap", "cases")]
        for kind, operand in zip(kinds, instruction.operands, strict=True):
            self.field(kind, operand)

    def field(self, kind: str, operand: Any) -> None:
        if kind in CONSTANTS:
            self.write(CONSTANTS[kind], operand)
        elif kind.startswith("list:") or kind == "results":
            self.register_list(operand)
        else:
            writers: dict[str, Callable[[Any], None]] = {
                "ref": self.ref_register,
                "target": self.target,
                "segments": lambda items: self.u16_list(items, len(items)),
                "count": self.cases,
                "string": self.string,
            }
            kind = kind.lstrip(">")
            is_ordinal = kind in ("type", "rodata", "function", "global")
            writers.get(kind, lambda number: self.write("<I" if is_ordinal else "<H", number))(
                operand
            )

    def write(self, layout: str, value: int | float) -> None:
        self.code += struct.pack(layout, value)

    def register(self, register: int, move: bool = False) -> int:
        if register < self.values:
            return register
        return register - self.values | REF_BIT | (MOVE_BIT if move else 0)

    def ref_register(self, operand: RefOperand) -> None:
        self.write("<H", self.register(operand.register, operand.move))

    def register_list(self, operand: RegisterList) -> None:
        pairs = zip(operand.registers, operand.moves, strict=True)
        items = [self.register(register, move) for register, move in pairs]
        self.u16_list(items, len(items))

    def u16_list(self, items: Sequence[int], count: int) -> None:
        self.code += bytes(len(self.code) & 1)
        self.code += struct.pack(f"<H{len(items)}H", count, *items)

    def target(self, operand: int | Branch) -> None:
        block = operand.target if isinstance(operand, Branch) else operand
        self.targets.append((len(self.code), block))
        self.write("<I", 0)
        if isinstance(operand, Branch):
            moves = [
                self.register(register, move)
                for source, target, move in operand.moves
                for register, move in ((source, move), (target, False))
            ]
            self.u16_list(moves, len(operand.moves))

    def cases(self, operand: Sequence[Branch]) -> None:
        self.write("<H", len(operand))
        for branch in operand:
            self.target(branch)

    def string(self, operand: str) -> None:
        data = operand.encode()
        self.write("<H", len(data))
        self.code += data
