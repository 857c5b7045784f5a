"""Lowering of loads, stores and copies: one access per run of equal scalars."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ..ir.llvm_types import (
    Array,
    Pointer,
    Scalar,
    Struct,
    Type,
    Vector,
    bits,
    field_offset,
    is_float,
    size_of,
)
from ..ir.nodes import PRIVATE_ROOTS, Constant, ConstantRoot, Value, integer, zero
from ..ir.operations.integers import LSHR, MUL, OR, SHL
from ..ir.operations.memory import COMPONENT, LOAD, STORE
from .llvm_records import Record
from .lower_base import Address, Lowered, LoweringBase

MAX_UNROLLED_COPY = 1024  # bytes
_LARGEST_ALIGNMENT = 16  # bytes; no type of MSL is aligned to more


class MemoryLowering(LoweringBase):
    """Lowers what accesses memory."""

    def _op_load(self, record: Record) -> None:
        address = self.pointer(record.operands[0])
        self.values[record.name] = self.load(address, record.type, record.align)

    def load(self, address: Address, kind: Type, align: int, demand: int = 0) -> list[Lowered]:
        """Load a value of any type as one access per run of equal scalars.

        `demand` is what the address must be a multiple of; 0 if `align` says it.
        """
        results: list[Lowered] = []
        for offset, run in _runs(kind):
            element = run[0].name if isinstance(run[0], Scalar) else "i64"
            if _is_odd(run[0]):
                place = Address(address.root, self.add(address.offset, integer("i64", offset)))
                results.append(self._load_odd(place, element, align))
                continue
            stored = _stored(element)
            load = self.emit(LOAD, stored, self.add(address.offset, integer("i64", offset)))
            load.root, load.components, load.element, load.align = (
                address.root,
                len(run),
                stored,
                align or size_of(run[0]),
            )
            load.demand = 1 if offset else _demand(demand or align)
            parts: list[Value] = [load]
            for number in range(1, len(run)):
                part = self.emit(COMPONENT, stored, load)
                part.index = number
                parts.append(part)
            for leaf, value in zip(run, parts, strict=True):
                if isinstance(leaf, Pointer):
                    results.append(self.from_integer(value, leaf))
                else:
                    results.append(self._narrowed(value, element, stored))
        return results

    def _load_odd(self, address: Address, element: str, align: int) -> Value:
        """An integer whose bytes are no power of two, from pieces that are."""
        stored = _stored(element)
        whole: Value = integer(stored, 0)
        for at, piece in _pieces(element):
            place = Address(address.root, self.add(address.offset, integer("i64", at)))
            (part,) = self.load(place, Scalar(piece), math.gcd(align or 1, at))
            assert isinstance(part, Value)
            wide = self.convert_integer(part, stored, signed=False)
            if at:
                wide = self.emit(SHL, stored, wide, integer(stored, 8 * at))
            whole = self.emit(OR, stored, whole, wide) if at else wide
        return self._narrowed(whole, element, stored)

    def _narrowed(self, value: Value, element: str, stored: str) -> Value:
        if stored == element:
            return value
        return self.convert_integer(value, element, signed=False)

    def outside(self, access: str, thing: str, at: Value, count: int, size: int) -> None:
        """An access of `count` bytes beyond a variable or table of `size` that is gone by now."""
        root = self.memory.root_of_lost(thing, size)
        unit = next(unit for unit in (8, 4, 2, 1) if count % unit == 0)
        kind = Array(count // unit, Scalar(f"i{8 * unit}"))
        if access == "load":
            self.load(Address(root, at), kind, unit)
        else:
            nothing: list[Value] = [zero(f"i{8 * unit}")] * (count // unit)
            self.store(Address(root, at), kind, nothing, unit)

    def _op_store(self, record: Record) -> None:
        address = self.pointer(record.operands[1])
        values = self.scalars(record.operands[0])
        self.store(address, record.operands[0].type, values, record.align)

    def store(
        self, address: Address, kind: Type, values: list[Value], align: int, demand: int = 0
    ) -> None:
        """Store a value of any type as one access per run of equal scalars."""
        if isinstance(address.root, ConstantRoot):
            raise self.fail(f"writes to the constant '{address.root.name}'")
        at = 0
        for offset, run in _runs(kind):
            element = run[0].name if isinstance(run[0], Scalar) else "i64"
            stored = _stored(element)
            parts = values[at : at + len(run)]
            at += len(run)
            if _is_odd(run[0]):
                place = Address(address.root, self.add(address.offset, integer("i64", offset)))
                self._store_odd(place, element, parts[0], align)
                continue
            if stored != element:
                parts = [self.convert_integer(p, stored, signed=False) for p in parts]
            store = self.emit(
                STORE, "void", self.add(address.offset, integer("i64", offset)), *parts
            )
            store.root, store.components, store.element, store.align = (
                address.root,
                len(run),
                stored,
                align or size_of(run[0]),
            )
            store.demand = 1 if offset else _demand(demand or align)

    def _store_odd(self, address: Address, element: str, value: Value, align: int) -> None:
        stored = _stored(element)
        whole = self.convert_integer(value, stored, signed=False)
        for at, piece in _pieces(element):
            place = Address(address.root, self.add(address.offset, integer("i64", at)))
            part = self.emit(LSHR, stored, whole, integer(stored, 8 * at)) if at else whole
            narrow = self.convert_integer(part, piece, signed=False)
            self.store(place, Scalar(piece), [narrow], math.gcd(align or 1, at))

    def copy(self, target: Address, source: Address, size: int, aligns: tuple[int, ...]) -> None:
        """memcpy or memmove of a constant size: all loads, then all stores.

        `aligns` are those of target and source; the first piece of each stands for all.
        """
        align = min(aligns)
        if size > MAX_UNROLLED_COPY:
            raise self.fail(
                f"copies {size} bytes at once; at most {MAX_UNROLLED_COPY} are supported"
            )
        unit = _unit(align, target, source)
        pieces = [(at, f"i{8 * unit}") for at in range(0, size - size % unit, unit)]
        pieces += [(at, "i8") for at in range(size - size % unit, size)]
        to, of = aligns
        loaded = [
            self._piece(source, at, Scalar(kind), unit, align, 1 if at else of)
            for at, kind in pieces
        ]
        for (at, kind), value in zip(pieces, loaded, strict=True):
            self._put_piece(target, at, Scalar(kind), value, unit, align, 1 if at else to)

    def fill(self, target: Address, value: Value, size: int, align: int) -> None:
        """memset of a constant size."""
        if size > MAX_UNROLLED_COPY:
            raise self.fail(
                f"fills {size} bytes at once; at most {MAX_UNROLLED_COPY} are supported"
            )
        unit = _unit(align, target)
        kind, ones = f"i{8 * unit}", int.from_bytes(b"\1" * unit, "little")
        wide = self.convert_integer(value, kind, signed=False)
        if isinstance(wide, Constant):
            wide = integer(kind, (wide.number or 0) * ones)
        elif unit > 1:
            wide = self.emit(MUL, kind, wide, integer(kind, ones))
        for at in range(0, size - size % unit, unit):
            self._put_piece(target, at, Scalar(kind), wide, unit, align, 1 if at else align)
        for at in range(size - size % unit, size):
            self._put_piece(target, at, Scalar("i8"), value, unit, align, 1)

    def _piece(
        self, source: Address, at: int, kind: Scalar, unit: int, align: int, demand: int
    ) -> Value:
        place = Address(source.root, self.add(source.offset, integer("i64", at)))
        (value,) = self.load(place, kind, _declared(source, unit, align), demand)
        assert isinstance(value, Value)
        return value

    def _put_piece(
        self,
        target: Address,
        at: int,
        kind: Scalar,
        value: Value,
        unit: int,
        align: int,
        demand: int,
    ) -> None:
        place = Address(target.root, self.add(target.offset, integer("i64", at)))
        self.store(place, kind, [value], _declared(target, unit, align), demand)


def _unit(align: int, *places: Address) -> int:
    """Bytes to move at once: four, if private memory allows it, which is in rows of four."""
    unit = 4
    for place in places:
        if isinstance(place.root, PRIVATE_ROOTS):
            offset = place.offset
            known = offset.number if isinstance(offset, Constant) else None
            unit = min(unit, max(align, 1 if known is None else math.gcd(known, unit)))
    return unit


def _declared(place: Address, unit: int, align: int) -> int:
    """The alignment to state for pieces."""
    return unit if isinstance(place.root, PRIVATE_ROOTS) else align or 1


def _is_odd(kind: Scalar | Pointer) -> bool:
    """Whether it is an integer like i24 or i48: it has fewer bytes than its room in memory."""
    if isinstance(kind, Pointer) or is_float(kind.name):
        return False
    return (bits(kind.name) + 7) // 8 < size_of(kind)


def _pieces(element: str) -> Iterator[tuple[int, str]]:
    """An odd integer's bytes as (byte offset, integer of a power of two of bytes)."""
    at, end = 0, (bits(element) + 7) // 8
    while at < end:
        size = 1 << ((end - at).bit_length() - 1)
        yield at, f"i{8 * size}"
        at += size


def _stored(element: str) -> str:
    """How a scalar lies in memory, or its room there if it is odd."""
    if is_float(element):
        return element
    return f"i{8 * size_of(Scalar(element))}"


def _runs(kind: Type, base: int = 0) -> list[tuple[int, list[Scalar | Pointer]]]:
    """A type's scalars in memory as (byte offset, consecutive equal scalars)."""
    match kind:
        case Scalar() | Pointer():
            return [(base, [kind])]
        case Vector(count, element) | Array(count, element) if isinstance(
            element, Scalar | Pointer
        ) and not _is_odd(element):
            return [(base, [element] * count)]
        case Vector(count, element) | Array(count, element):
            step = size_of(element)
            return [run for i in range(count) for run in _runs(element, base + i * step)]
        case Struct(fields):
            return [
                run
                for i, each in enumerate(fields)
                for run in _runs(each, base + field_offset(kind, i))
            ]
    return []


def _demand(align: int) -> int:
    """What an address must be a multiple of, where its type promises `align`."""
    return max(1, min(align, _LARGEST_ALIGNMENT))
