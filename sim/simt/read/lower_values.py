"""Lowering of values: casts, vectors and aggregates split into scalars, pointers into offsets."""

from __future__ import annotations

from ..ir.llvm_types import Pointer, Scalar, bits, leaf_range, leaves
from ..ir.nodes import (
    AddressRoot,
    Constant,
    PrivateArenaRoot,
    PrivateRoot,
    Root,
    ThreadgroupArenaRoot,
    ThreadgroupParameterRoot,
    Value,
    integer,
)
from ..ir.operations.control import SELECT
from ..ir.operations.conversions import BITCAST
from ..ir.operations.integers import AND, ICMP, LSHR, OR, SHL
from ..ir.operations.memory import ADDRESS
from ..ir.operations.operation import Operation
from .llvm_records import Record
from .lower_base import Address, Lowered
from .lower_memory import MemoryLowering


class ValueLowering(MemoryLowering):
    """Lowers what computes values."""

    def _elementwise(self, record: Record, operation: Operation) -> None:
        columns = [self.scalars(operand) for operand in record.operands]
        kinds = leaves(record.type)
        results: list[Lowered] = []
        for kind, *operands in zip(kinds, *columns, strict=True):
            name = kind.name if isinstance(kind, Scalar) else "i64"
            instruction = self.emit(operation, name, *operands)
            instruction.predicate = record.predicate
            instruction.flags = record.flags
            instruction.contract = "contract" in record.flags or "fast" in record.flags
            results.append(instruction)
        self.values[record.name] = results

    def _op_alloca(self, record: Record) -> None:
        self.values[record.name] = [Address(self.roots[record.name], integer("i64", 0))]

    def _op_freeze(self, record: Record) -> None:
        self.values[record.name] = self.operand(record.operands[0])

    def _op_addrspacecast(self, record: Record) -> None:
        address = self.pointer(record.operands[0])
        root = address.root
        if isinstance(root, AddressRoot) and root.space == 0 and isinstance(record.type, Pointer):
            address = Address(AddressRoot(root.address, record.type.space), address.offset)
        self.values[record.name] = [address]

    def _op_ptrtoint(self, record: Record) -> None:
        address = self.full_address(self.pointer(record.operands[0]))
        assert isinstance(record.type, Scalar)
        self.values[record.name] = [self.convert_integer(address, record.type.name, signed=False)]

    _op_ptrtoaddr = _op_ptrtoint

    def _op_inttoptr(self, record: Record) -> None:
        value = self.convert_integer(self.scalar(record.operands[0]), "i64", signed=False)
        self.values[record.name] = [self.from_integer(value, record.type)]

    def _op_bitcast(self, record: Record) -> None:
        if isinstance(record.type, Pointer):
            self.values[record.name] = self.operand(record.operands[0])
            return
        values = self.scalars(record.operands[0])
        kinds = [k.name if isinstance(k, Scalar) else "i64" for k in leaves(record.type)]
        self.values[record.name] = list(self.reinterpret(values, kinds))

    def reinterpret(self, values: list[Value], kinds: list[str]) -> list[Value]:
        """The same bits as scalars of other types."""
        have, want = bits(values[0].type), bits(kinds[0])
        if have == want:
            return [self._same_bits(v, k) for v, k in zip(values, kinds, strict=True)]
        ints = [self._same_bits(v, f"i{have}") for v in values]
        if have > want:
            parts: list[Value] = []
            for value in ints:
                for shift in range(0, have, want):
                    moved = (
                        self.emit(LSHR, value.type, value, integer(value.type, shift))
                        if shift
                        else value
                    )
                    parts.append(self.convert_integer(moved, f"i{want}", signed=False))
            ints = parts
        else:
            ints = [
                self._pack(ints[i : i + want // have], f"i{want}", have)
                for i in range(0, len(ints), want // have)
            ]
        return [self._same_bits(v, k) for v, k in zip(ints, kinds, strict=True)]

    def _pack(self, parts: list[Value], type: str, step: int) -> Value:
        packed = self.convert_integer(parts[0], type, signed=False)
        for number, part in enumerate(parts[1:], 1):
            wide = self.convert_integer(part, type, signed=False)
            moved = self.emit(SHL, type, wide, integer(type, number * step))
            packed = self.emit(OR, type, packed, moved)
        return packed

    def _same_bits(self, value: Value, type: str) -> Value:
        return value if value.type == type else self.emit(BITCAST, type, value)

    def _op_getelementptr(self, record: Record) -> None:
        if not isinstance(record.operands[0].type, Pointer):
            raise self.fail("a vector of pointers is not supported")
        assert record.source is not None
        base = self.pointer(record.operands[0])
        self.values[record.name] = [self.step(base, record.source, record.operands[1:])]

    def _op_select(self, record: Record) -> None:
        conditions = self.scalars(record.operands[0])
        first, second = (self.operand(o) for o in record.operands[1:])
        conditions = conditions * (len(first) // len(conditions))
        root = self.roots.get(record.name)
        results: list[Lowered] = []
        for condition, a, b in zip(conditions, first, second, strict=True):
            if isinstance(a, Address) and isinstance(b, Address):
                left, right = self._in_root(a, root), self._in_root(b, root)
                chosen = self.emit(SELECT, "i64", condition, left, right)
                results.append(self._pointer_result(record, chosen))
            else:
                assert not isinstance(a, Address) and not isinstance(b, Address)
                results.append(self.emit(SELECT, a.type, condition, a, b))
        self.values[record.name] = results

    def _in_root(self, address: Address, root: Root | None) -> Value:
        """What stands for a pointer in a phi or select whose common root is `root`."""
        if root is None:
            return self.full_address(address)
        start = getattr(address.root, "start", 0)
        if isinstance(root, ThreadgroupArenaRoot) and not isinstance(
            address.root, ThreadgroupArenaRoot
        ):
            if isinstance(address.root, ThreadgroupParameterRoot):
                base = self.emit(ADDRESS, "i64")
                base.root = address.root
                mask = integer("i64", (1 << 48) - 1)
                return self.add(self.emit(AND, "i64", base, mask), address.offset)
            return self.add(address.offset, integer("i64", start))
        if isinstance(root, PrivateArenaRoot) and isinstance(address.root, PrivateRoot):
            return self.add(address.offset, integer("i64", start))
        return address.offset

    def _pointer_result(self, record: Record, value: Value) -> Address:
        root = self.roots.get(record.name)
        if root is not None:
            return Address(root, value)
        assert isinstance(record.type, Pointer)
        return Address(AddressRoot(value, record.type.space), integer("i64", 0))

    def _op_extractvalue(self, record: Record) -> None:
        leaves_ = self.operand(record.operands[0])
        start, kind = leaf_range(record.operands[0].type, record.indices)
        self.values[record.name] = leaves_[start : start + len(leaves(kind))]

    def _op_insertvalue(self, record: Record) -> None:
        result = list(self.operand(record.operands[0]))
        inserted = self.operand(record.operands[1])
        start, _ = leaf_range(record.operands[0].type, record.indices)
        result[start : start + len(inserted)] = inserted
        self.values[record.name] = result

    def _op_extractelement(self, record: Record) -> None:
        elements = self.operand(record.operands[0])
        index = self.scalar(record.operands[1])
        if isinstance(index, Constant) and index.number is not None:
            number = index.number if index.number < len(elements) else 0
            self.values[record.name] = [elements[number]]
            return
        values = self.scalars(record.operands[0])
        chosen = values[0]
        for number, value in enumerate(values[1:], 1):
            chosen = self.emit(SELECT, value.type, self._equals(index, number), value, chosen)
        self.values[record.name] = [chosen]

    def _equals(self, index: Value, number: int) -> Value:
        test = self.emit(ICMP, "i1", index, integer(index.type, number))
        test.predicate = "eq"
        return test

    def _op_insertelement(self, record: Record) -> None:
        elements = list(self.operand(record.operands[0]))
        (value,) = self.operand(record.operands[1])
        index = self.scalar(record.operands[2])
        if isinstance(index, Constant) and index.number is not None:
            if index.number < len(elements):
                elements[index.number] = value
        else:
            assert not isinstance(value, Address)
            old = self.scalars(record.operands[0])
            elements = [
                self.emit(SELECT, value.type, self._equals(index, number), value, element)
                for number, element in enumerate(old)
            ]
        self.values[record.name] = elements

    def _op_shufflevector(self, record: Record) -> None:
        first, second, mask = record.operands
        pool = self.operand(first) + self.operand(second)
        chosen = []
        for entry in self.scalars(mask):
            assert isinstance(entry, Constant)
            chosen.append(pool[entry.number or 0])
        self.values[record.name] = chosen
