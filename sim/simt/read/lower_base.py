"""What lowering any instruction needs: operands as scalars, emitting, integers and addresses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ...site import Site
from ..ir.faults import UnsupportedKernel
from ..ir.llvm_types import (
    Array,
    Pointer,
    Scalar,
    Struct,
    Type,
    Vector,
    bits,
    field_offset,
    leaves,
    size_of,
)
from ..ir.nodes import AddressRoot, Block, Constant, Instruction, Root, Value, integer
from ..ir.operations.conversions import SEXT, TRUNC, ZEXT
from ..ir.operations.integers import ADD, MUL
from ..ir.operations.memory import ADDRESS
from ..ir.operations.operation import Operation
from .constant_data import constant_leaf
from .llvm_records import FunctionText, ModuleText, Operand
from .roots import Parameter, RootFinder
from .sites import SiteTable


@dataclass(frozen=True, slots=True)
class Address:
    """A lowered pointer: bytes `offset` from the start of `root`."""

    root: Root
    offset: Value


Lowered: TypeAlias = Value | Address


class LoweringBase:
    """The state of one function's lowering."""

    def __init__(
        self, module: ModuleText, text: FunctionText, parameters: Sequence[Parameter], name: str
    ) -> None:
        self.module = module
        self.text = text
        self.name = name
        self.memory = RootFinder(module, text, parameters, name)
        self.roots = self.memory.roots
        self.sites = SiteTable(module.metadata)
        self.values: dict[str, list[Lowered]] = {
            name: [Address(self.roots[name], integer("i64", 0))] for name, _ in text.parameters
        }
        self.blocks: dict[str, Block] = {}
        self.ends: dict[str, Block] = {}  # where a label's code ends
        self.block = Block("")
        self.site = Site()

    def fail(
        self, reason: str, kind: type[UnsupportedKernel] = UnsupportedKernel
    ) -> UnsupportedKernel:
        """The exception for the record being lowered."""
        return kind(reason, self.site, self.name)

    def operand(self, operand: Operand) -> list[Lowered]:
        """The scalars and addresses of an operand, in the order of its leaves."""
        if operand.text.startswith("%"):
            return self.values[operand.text]
        kinds = leaves(operand.type)
        if operand.text == "aggregate":
            return [leaf for part in operand.parts for leaf in self.operand(part)]
        if isinstance(operand.type, Pointer):
            return [self._constant_pointer(operand)]
        if operand.text == "ptrtoint" and operand.parts:
            address = self.full_address(self.pointer(operand.parts[0]))
            assert isinstance(operand.type, Scalar)
            return [self.convert_integer(address, operand.type.name, signed=False)]
        if operand.parts:
            raise self.fail(f"a constant is computed by '{operand.text}', which is not supported")
        return [
            self._null(kind) if isinstance(kind, Pointer) else constant_leaf(kind, operand.text)
            for kind in kinds
        ]

    def _null(self, kind: Pointer) -> Address:
        return Address(AddressRoot(integer("i64", 0), kind.space, "null"), integer("i64", 0))

    def _constant_pointer(self, operand: Operand) -> Address:
        if operand.text == "getelementptr":
            assert operand.source is not None
            base = self.pointer(operand.parts[0])
            return self.step(base, operand.source, list(operand.parts[1:]))
        if operand.text in ("addrspacecast", "bitcast"):
            return self.pointer(operand.parts[0])
        if operand.text == "inttoptr":
            return self.from_integer(self.scalar(operand.parts[0]), operand.type)
        if operand.text.startswith("@"):
            root = self.roots.get(operand.text)
            if root is None:
                raise self.fail(
                    f"'{operand.text[1:]}' is not a variable that kernels can have: use "
                    "'constant' or 'threadgroup' variables; function pointers are not supported"
                )
            return Address(root, integer("i64", 0))
        assert isinstance(operand.type, Pointer)
        return self._null(operand.type)

    def scalars(self, operand: Operand) -> list[Value]:
        """An operand's leaves as values; addresses become `i64` GPU addresses."""
        return [
            self.full_address(leaf) if isinstance(leaf, Address) else leaf
            for leaf in self.operand(operand)
        ]

    def scalar(self, operand: Operand) -> Value:
        """An operand of one scalar."""
        (value,) = self.scalars(operand)
        return value

    def pointer(self, operand: Operand) -> Address:
        """An operand that is one pointer."""
        (value,) = self.operand(operand)
        if isinstance(value, Address):
            return value
        return self.from_integer(value, operand.type)

    def emit(self, operation: Operation, type: str, *operands: Value) -> Instruction:
        """Append an instruction to the current block."""
        instruction = Instruction(operation, type, list(operands), self.site)
        instruction.block = self.block
        self.block.body.append(instruction)
        return instruction

    def full_address(self, address: Address) -> Value:
        """The 64-bit GPU address of a lowered pointer."""
        if isinstance(address.root, AddressRoot):
            base: Value = address.root.address
        else:
            base = self.emit(ADDRESS, "i64")
            assert isinstance(base, Instruction)
            base.root = address.root
        return self.add(base, address.offset)

    def add(self, left: Value, right: Value) -> Value:
        """`left + right` in i64, folded where constant."""
        a, b = (v.number if isinstance(v, Constant) else None for v in (left, right))
        if a is not None and b is not None:
            return integer("i64", a + b)
        if a == 0:
            return right
        if b == 0:
            return left
        return self.emit(ADD, "i64", left, right)

    def multiply(self, value: Value, factor: int) -> Value:
        """`value * factor` in i64, folded where constant."""
        if isinstance(value, Constant):
            assert value.number is not None
            return integer("i64", value.number * factor)
        return value if factor == 1 else self.emit(MUL, "i64", value, integer("i64", factor))

    def from_integer(self, value: Value, kind: Type) -> Address:
        """A pointer to a GPU address that the kernel computed or loaded."""
        space = kind.space if isinstance(kind, Pointer) else 0
        return Address(AddressRoot(value, space), integer("i64", 0))

    def convert_integer(self, value: Value, type: str, *, signed: bool) -> Value:
        """Resize an integer."""
        have, want = bits(value.type), bits(type)
        if have == want:
            return value
        if isinstance(value, Constant):
            assert value.number is not None
            number = value.number
            if signed and number >> (have - 1):
                number -= 1 << have
            return integer(type, number)
        return self.emit(TRUNC if want < have else SEXT if signed else ZEXT, type, value)

    def step(self, base: Address, kind: Type, indices: list[Operand]) -> Address:
        """A pointer moved as getelementptr moves it."""
        offset = base.offset
        for number, operand in enumerate(indices):
            if number > 0 and isinstance(kind, Struct):
                index = int(operand.text)
                offset = self.add(offset, integer("i64", field_offset(kind, index)))
                kind = kind.fields[index]
                continue
            if number > 0:
                assert isinstance(kind, Array | Vector)
                kind = kind.element
            index_value = self.convert_integer(self.scalar(operand), "i64", signed=True)
            offset = self.add(offset, self.multiply(index_value, size_of(kind)))
        return Address(base.root, offset)
