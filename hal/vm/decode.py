"""Decoding and checking one function's bytecode into instructions, block by block.

Registers come out as indices into one list: value registers first, then ref registers.
A 64-bit value lives whole in the first register of its pair.
Everything an instruction names (registers, blocks, functions, types, globals) is checked here,
so that running it needs no further checks of that kind.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from ..status import StatusError
from .archive import Function, ModuleDefinition
from .isa import OPERATIONS, PREFIXES, Operation
from .isa_table import BLOCK_MARKER

REF_BIT: Final = 0x8000
MOVE_BIT: Final = 0x4000
REF_MASK: Final = 0x3FFF
IMPORT_BIT: Final = 0x80000000

CONSTANTS: Final = {"#i32": "<i", "#i64": "<q", "#f32": "<f", "#f64": "<d"}
"""How inline constants are packed."""
_PREFIXES = {prefix[0]: name for name, prefix in PREFIXES.items() if prefix}
_GLOBAL_SIZES = {"i32": 4, "i64": 8, "f32": 4, "f64": 8}


@dataclass(frozen=True, slots=True)
class RefOperand:
    """A ref register and whether the operation takes the reference out of it."""

    register: int
    move: bool


@dataclass(frozen=True, slots=True)
class RegisterList:
    """Registers of a call: where the values are, and whether the call takes a reference out."""

    registers: tuple[int, ...]
    moves: tuple[bool, ...]

    @property
    def moved(self) -> tuple[int, ...]:
        """The ref registers to empty afterwards."""
        pairs = zip(self.registers, self.moves, strict=True)
        return tuple(register for register, is_moved in pairs if is_moved)


@dataclass(frozen=True, slots=True)
class Branch:
    """A jump: the block's byte offset, and (source, destination, move) per block argument."""

    target: int
    moves: tuple[tuple[int, int, bool], ...]


@dataclass(frozen=True, slots=True)
class Instruction:
    """One decoded instruction; `position` is its byte offset in the function."""

    position: int
    operation: Operation
    operands: tuple[Any, ...]


def decode_function(module: ModuleDefinition, function: Function) -> dict[int, list[Instruction]]:
    """Blocks by byte offset, in order. Raises StatusError for bytecode that is not sound."""
    return _Decoder(module, function).decode()


class _Decoder:
    def __init__(self, module: ModuleDefinition, function: Function) -> None:
        self.module = module
        self.function = function
        self.values = function.value_registers
        self.refs = function.ref_registers
        self.code = module.bytecode[function.offset : function.offset + function.length]
        self.position = 0
        self.targets: set[int] = set()

    def decode(self) -> dict[int, list[Instruction]]:
        blocks: dict[int, list[Instruction]] = {}
        block: list[Instruction] | None = None
        while self.position < len(self.code):
            start = self.position
            opcode = self.read("<B")
            if opcode == BLOCK_MARKER:
                block = blocks[start] = []
                continue
            if block is None or (block and block[-1].operation.ends_block):
                if self._is_padding(start):
                    break
                raise self.unsound("an instruction outside a block", start)
            block.append(self.instruction(start, opcode))
        if not blocks or 0 not in blocks:
            raise self.unsound("no entry block", 0)
        for target in self.targets - blocks.keys():
            raise self.unsound(f"a branch to byte {target}, which is not a block", target)
        return blocks

    def _is_padding(self, start: int) -> bool:
        return not any(self.code[start:]) and len(self.code) - start < 16

    def unsound(self, detail: str, position: int | None = None) -> StatusError:
        where = self.position if position is None else position
        name = self.module.function_names.get(
            self.function.ordinal, f"function {self.function.ordinal}"
        )
        return StatusError(
            "INVALID_ARGUMENT",
            f"bytecode verification failed in {self.module.name}.{name} at byte {where}: {detail}",
        )

    def read(self, layout: str) -> Any:
        try:
            value = struct.unpack_from(layout, self.code, self.position)[0]
        except struct.error as error:
            raise self.unsound("the bytecode is cut off") from error
        self.position += struct.calcsize(layout)
        return value

    def instruction(self, start: int, opcode: int) -> Instruction:
        opcode_set = _PREFIXES.get(opcode, "core")
        if opcode_set != "core":
            opcode = self.read("<B")
        operation = OPERATIONS[opcode_set].get(opcode)
        if operation is None:
            raise self.unsound(f"unknown opcode {opcode:#04x} ({opcode_set})", start)
        operands: list[Any] = []
        for kind in operation.fields:
            if kind == "remap":
                operands.append(Branch(operands.pop(), self.remap()))
            elif kind == "global":
                operands.append(self.global_(operation))
            elif kind == "cases":
                operands.append(self.cases(operands.pop()))
            else:
                operands.append(self.field(kind))
        return Instruction(start, operation, tuple(operands))

    def field(self, kind: str) -> Any:
        if kind in CONSTANTS:
            return self.read(CONSTANTS[kind])
        if kind.startswith("list:") or kind == "results":
            return self.register_list()
        kind = kind.lstrip(">")
        if kind in _GLOBAL_SIZES:
            return self.value_register(_GLOBAL_SIZES[kind] // 4)
        readers: dict[str, Callable[[], Any]] = {
            "ref": self.ref_register,
            "target": self.target,
            "segments": lambda: self.u16_list(1),
            "count": lambda: self.read("<H"),
            "string": self.string,
            "type": lambda: self.ordinal("type", self.module.types),
            "rodata": lambda: self.ordinal("read-only data", self.module.rodata),
            "function": self.function_ordinal,
        }
        return readers[kind]()

    def value_register(self, width: int) -> int:
        register = int(self.read("<H"))
        if register + width > self.values:
            raise self.unsound(f"value register {register} of {self.values}")
        return register

    def ref_register(self) -> RefOperand:
        encoded = self.read("<H")
        register = encoded & REF_MASK
        if not encoded & REF_BIT or register >= self.refs:
            raise self.unsound(f"ref register {encoded:#06x} of {self.refs}")
        return RefOperand(self.values + register, bool(encoded & MOVE_BIT))

    def any_register(self, encoded: int) -> int:
        if encoded & REF_BIT:
            register = encoded & REF_MASK
            if register >= self.refs:
                raise self.unsound(f"ref register {register} of {self.refs}")
            return self.values + register
        if encoded >= self.values:
            raise self.unsound(f"value register {encoded} of {self.values}")
        return encoded

    def u16_list(self, per_item: int) -> tuple[int, ...]:
        self.position += self.position & 1
        count = self.read("<H") * per_item
        try:
            items = struct.unpack_from(f"<{count}H", self.code, self.position)
        except struct.error as error:
            raise self.unsound(f"a list of {count} registers runs past the end") from error
        self.position += 2 * count
        return items

    def register_list(self) -> RegisterList:
        encoded = self.u16_list(1)
        registers = tuple(map(self.any_register, encoded))
        moves = tuple(bool(item & REF_BIT and item & MOVE_BIT) for item in encoded)
        return RegisterList(registers, moves)

    def remap(self) -> tuple[tuple[int, int, bool], ...]:
        encoded = self.u16_list(2)
        moves = []
        for source, destination in zip(encoded[::2], encoded[1::2], strict=True):
            if (source ^ destination) & REF_BIT:
                raise self.unsound("a block argument mixes ref and value registers")
            move = bool(source & REF_BIT and source & MOVE_BIT)
            moves.append((self.any_register(source), self.any_register(destination), move))
        return tuple(moves)

    def cases(self, count: int) -> tuple[Branch, ...]:
        return tuple(Branch(self.target(), self.remap()) for _ in range(count))

    def target(self) -> int:
        target = int(self.read("<I"))
        self.targets.add(target)
        return target

    def string(self) -> str:
        length = self.read("<H")
        if self.position + length > len(self.code):
            raise self.unsound("a string runs past the end")
        text = bytes(self.code[self.position : self.position + length])
        self.position += length
        return text.decode("utf-8", "replace")

    def ordinal(self, what: str, table: tuple[Any, ...]) -> int:
        ordinal = int(self.read("<I"))
        if ordinal >= len(table):
            raise self.unsound(f"{what} {ordinal} of {len(table)}")
        return ordinal

    def function_ordinal(self) -> int:
        ordinal = int(self.read("<I"))
        is_import = bool(ordinal & IMPORT_BIT)
        table = self.module.imports if is_import else self.module.functions
        if ordinal & ~IMPORT_BIT >= len(table):
            kind = "import" if is_import else "function"
            raise self.unsound(f"{kind} {ordinal & ~IMPORT_BIT} of {len(table)}")
        return ordinal

    def global_(self, operation: Operation) -> int:
        place = int(self.read("<I"))
        if operation.mnemonic.endswith("ref"):
            if place >= self.module.global_refs:
                raise self.unsound(f"global ref {place} of {self.module.global_refs}")
            return place
        if place + _GLOBAL_SIZES[operation.mnemonic[-3:]] > self.module.global_bytes:
            raise self.unsound(f"global byte {place} of {self.module.global_bytes}")
        return place
