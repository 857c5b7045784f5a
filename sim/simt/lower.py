"""From LLVM's IR as read to the engines' IR: scalars, roots and offsets, contracted arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from .constant_data import constant_leaf, initial_data
from .faults import UnsupportedKernel
from .intrinsics import lower_call
from .ir import (
    AddressRoot,
    Block,
    BufferRoot,
    Constant,
    ConstantRoot,
    Function,
    Instruction,
    PrivateArenaRoot,
    PrivateRoot,
    Root,
    Site,
    ThreadgroupArenaRoot,
    ThreadgroupParameterRoot,
    ThreadgroupRoot,
    Value,
    integer,
    link_predecessors,
)
from .llvm_text import FunctionText, ModuleText, Operand, Record
from .llvm_types import (
    Array,
    Pointer,
    Scalar,
    Struct,
    Type,
    Vector,
    align_of,
    bits,
    field_offset,
    is_float,
    leaf_range,
    leaves,
    size_of,
)
from .sites import SiteTable


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A kernel argument in the order of the entry function's IR parameters, all pointers."""

    name: str
    kind: Literal["buffer", "threadgroup"]
    index: int


@dataclass(frozen=True, slots=True)
class Address:
    """A lowered pointer: bytes `offset` from the start of `root`."""

    root: Root
    offset: Value


Lowered = Value | Address
_ARENA_ALIGNMENT = 16
MAX_UNROLLED_COPY = 1024
_POINTER_OPS = ("getelementptr", "addrspacecast", "select", "phi", "freeze", "bitcast")


def lower(module: ModuleText, entry: str, parameters: Sequence[Parameter], name: str) -> Function:
    """Lower the entry function, into which everything it calls has been inlined.

    Raises:
        UnsupportedKernel: for what the engines cannot execute, with the source line.
    """
    text = module.functions.get("@" + entry)
    if text is None:
        raise UnsupportedKernel(f"the compiled module has no function '{entry}'", kernel=name)
    if len(text.parameters) != len(parameters):
        raise UnsupportedKernel(
            f"the compiled function has {len(text.parameters)} parameters, its description "
            f"{len(parameters)}",
            kernel=name,
        )
    return Lowering(module, text, parameters, name).run()


class Lowering:
    """The state of one function's lowering."""

    def __init__(
        self, module: ModuleText, text: FunctionText, parameters: Sequence[Parameter], name: str
    ) -> None:
        self.module = module
        self.text = text
        self.parameters = parameters
        self.name = name
        self.sites = SiteTable(module.metadata)
        self.values: dict[str, list[Lowered]] = {}
        self.roots: dict[str, Root] = {}
        self.blocks: dict[str, Block] = {}
        self.ends: dict[str, Block] = {}
        self.block = Block("")
        self.site = Site()
        self.threadgroup_memory = 0
        self.private_memory = 0
        self.constants = bytearray()
        self.phis: list[tuple[Record, list[Instruction]]] = []
        self.extra: dict[str, list[Block]] = {}  # blocks a switch was split into, by its label
        self.homes: dict[Block, Block] = {}  # such a block -> the block that had the switch
        self.mixed: set[str] = set()  # pointers that no single root reaches
        self.derived = {
            record.name
            for records in text.blocks.values()
            for record in records
            if record.op in _POINTER_OPS
        }

    # -- the whole function -------------------------------------------------------------------

    def run(self) -> Function:
        self._place_globals()
        self._name_parameters()
        self._place_allocas()
        self._find_roots()
        for label in self.text.blocks:
            self.blocks[label] = Block(label.lstrip("%"))
        order = self._order()
        for label in order:
            self.block = self.blocks[label]
            for record in self.text.blocks[label]:
                self.site = self.sites.site(record.location)
                self._lower_record(record)
            self.ends[label] = self.block
        blocks = self._collect_blocks(order)
        link_predecessors(blocks)
        self._fill_phis(set(order))
        return Function(
            self.name, blocks, self.threadgroup_memory, self.private_memory, bytes(self.constants)
        )

    def fail(self, reason: str) -> UnsupportedKernel:
        """The exception for the record being lowered."""
        return UnsupportedKernel(reason, self.site, self.name)

    def _order(self) -> list[str]:
        """Reverse post-order of the labels, so that definitions come before uses."""
        labels = {label: records[-1].labels for label, records in self.text.blocks.items()}
        entry = next(iter(self.text.blocks))
        seen, order = {entry}, []
        stack = [(entry, iter(labels[entry]))]
        while stack:
            label, successors = stack[-1]
            for successor in successors:
                if successor not in seen:
                    seen.add(successor)
                    stack.append((successor, iter(labels[successor])))
                    break
            else:
                order.append(label)
                stack.pop()
        return order[::-1]

    def _collect_blocks(self, order: list[str]) -> list[Block]:
        blocks: list[Block] = []
        for label in order:
            blocks.append(self.blocks[label])
            blocks.extend(self.extra.get(label, []))
        return blocks

    # -- memory -------------------------------------------------------------------------------

    def _place_globals(self) -> None:
        for variable in self.module.globals.values():
            size = size_of(variable.type)
            align = max(align_of(variable.type), _ARENA_ALIGNMENT)
            label = variable.name.lstrip("@").strip('"')
            if variable.space == 3:
                start = -(-self.threadgroup_memory // align) * align
                self.threadgroup_memory = start + size
                self.roots[variable.name] = ThreadgroupRoot(start, size, _variable_name(label))
            elif variable.initialiser is not None and variable.constant:
                start = -(-len(self.constants) // align) * align
                self.constants.extend(bytes(start - len(self.constants)))
                self.constants.extend(initial_data(variable.type, variable.initialiser))
                self.constants.extend(bytes(start + size - len(self.constants)))
                self.roots[variable.name] = ConstantRoot(start, size, _variable_name(label))

    def _name_parameters(self) -> None:
        for number, ((name, kind), parameter) in enumerate(
            zip(self.text.parameters, self.parameters, strict=True)
        ):
            if not isinstance(kind, Pointer):
                raise self.fail(f"argument '{parameter.name}' is not a pointer")
            root: Root
            if parameter.kind == "threadgroup":
                root = ThreadgroupParameterRoot(number, parameter.name)
            else:
                root = BufferRoot(number, parameter.name)
            self.roots[name] = root
            self.values[name] = [Address(root, integer("i64", 0))]

    def _place_allocas(self) -> None:
        for records in self.text.blocks.values():
            for record in records:
                if record.op != "alloca":
                    continue
                assert record.source is not None
                size = max(size_of(record.source), 1)
                start = -(-self.private_memory // _ARENA_ALIGNMENT) * _ARENA_ALIGNMENT
                self.private_memory = start + size
                name = record.name.lstrip("%")
                label = "a private variable" if name.isdigit() else f"private variable '{name}'"
                self.roots[record.name] = PrivateRoot(start, size, label)
        self.private_memory = -(-self.private_memory // _ARENA_ALIGNMENT) * _ARENA_ALIGNMENT

    def _find_roots(self) -> None:
        """Find the root of every pointer that one root reaches; the rest get none."""
        pointers = [
            record
            for records in self.text.blocks.values()
            for record in records
            if record.op in _POINTER_OPS and isinstance(record.type, Pointer)
        ]
        changed = True
        while changed:
            changed = False
            for record in pointers:
                if record.name in self.mixed:
                    continue
                sources = record.operands[1:] if record.op == "select" else record.operands
                if record.op == "getelementptr":
                    sources = record.operands[:1]
                root = self._join(record, sources)
                if root is not None and root != self.roots.get(record.name):
                    self.roots[record.name] = root
                    changed = True
                elif root is None and record.name in self.mixed:
                    self.roots.pop(record.name, None)
                    changed = True

    def _join(self, record: Record, sources: list[Operand]) -> Root | None:
        joined: Root | None = None
        for source in sources:
            known = self._known_root(source)
            if known is None:
                if self._never_known(source):
                    self.mixed.add(record.name)
                    return None
                continue
            if joined is None or joined == known:
                joined = known
            elif all(_is_threadgroup(r) for r in (joined, known)):
                joined = ThreadgroupArenaRoot()
            elif all(isinstance(r, PrivateRoot | PrivateArenaRoot) for r in (joined, known)):
                joined = PrivateArenaRoot()
            else:
                self.mixed.add(record.name)
                return None
        return joined

    def _known_root(self, source: Operand) -> Root | None:
        if source.text in ("getelementptr", "addrspacecast", "bitcast") and source.parts:
            return self._known_root(source.parts[0])
        return self.roots.get(source.text)

    def _never_known(self, source: Operand) -> bool:
        """Whether a pointer comes from memory, a cast or a mixture, not from one named root."""
        if source.parts:
            return self._never_known(source.parts[0])
        return source.text in self.mixed or not self._is_derived(source.text)

    def _is_derived(self, name: str) -> bool:
        return name in self.derived or name in self.roots

    # -- operands -----------------------------------------------------------------------------

    def operand(self, operand: Operand) -> list[Lowered]:
        """The scalars and addresses of an operand, in the order of its leaves."""
        if operand.text.startswith("%"):
            return self.values[operand.text]
        kinds = leaves(operand.type)
        if operand.text == "aggregate":
            return [leaf for part in operand.parts for leaf in self.operand(part)]
        if isinstance(operand.type, Pointer):
            return [self._constant_pointer(operand)]
        if operand.text in ("ptrtoint",) and operand.parts:
            return [self.full_address(self.pointer(operand.parts[0]))]
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
            return self._step(base, operand.source, list(operand.parts[1:]))
        if operand.text in ("addrspacecast", "bitcast"):
            return self.pointer(operand.parts[0])
        if operand.text == "inttoptr":
            return self._from_integer(self.scalar(operand.parts[0]), operand.type)
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
        return self._from_integer(value, operand.type)

    def emit(self, op: str, type: str, *operands: Value) -> Instruction:
        """Append an instruction to the current block."""
        instruction = Instruction(op, type, list(operands), self.site)
        instruction.block = self.block
        self.block.body.append(instruction)
        return instruction

    def full_address(self, address: Address) -> Value:
        """The 64-bit GPU address of a lowered pointer."""
        if isinstance(address.root, AddressRoot):
            base: Value = address.root.address
        else:
            base = self.emit("address", "i64")
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
        return self.emit("add", "i64", left, right)

    def multiply(self, value: Value, factor: int) -> Value:
        """`value * factor` in i64, folded where constant."""
        if isinstance(value, Constant):
            assert value.number is not None
            return integer("i64", value.number * factor)
        return value if factor == 1 else self.emit("mul", "i64", value, integer("i64", factor))

    def _from_integer(self, value: Value, kind: Type) -> Address:
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
        op = "trunc" if want < have else "sext" if signed else "zext"
        return self.emit(op, type, value)

    # -- instructions -------------------------------------------------------------------------

    def _lower_record(self, record: Record) -> None:
        handler = getattr(self, f"_op_{record.op}", None)
        if handler is not None:
            handler(record)
        elif record.op in ("atomicrmw", "cmpxchg", "fence"):
            raise self.fail(f"'{record.op}' written with compiler builtins is not supported")
        else:
            self._elementwise(record)

    def _elementwise(self, record: Record) -> None:
        columns = [self.scalars(operand) for operand in record.operands]
        kinds = leaves(record.type)
        results: list[Lowered] = []
        for kind, *operands in zip(kinds, *columns, strict=True):
            name = kind.name if isinstance(kind, Scalar) else "i64"
            instruction = self.emit(record.op, name, *operands)
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
        self.values[record.name] = [self._from_integer(value, record.type)]

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
                        self.emit("lshr", value.type, value, integer(value.type, shift))
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
            moved = self.emit("shl", type, wide, integer(type, number * step))
            packed = self.emit("or", type, packed, moved)
        return packed

    def _same_bits(self, value: Value, type: str) -> Value:
        return value if value.type == type else self.emit("bitcast", type, value)

    def _op_getelementptr(self, record: Record) -> None:
        if not isinstance(record.operands[0].type, Pointer):
            raise self.fail("a vector of pointers is not supported")
        assert record.source is not None
        base = self.pointer(record.operands[0])
        self.values[record.name] = [self._step(base, record.source, record.operands[1:])]

    def _step(self, base: Address, kind: Type, indices: list[Operand]) -> Address:
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

    def _op_select(self, record: Record) -> None:
        conditions = self.scalars(record.operands[0])
        first, second = (self.operand(o) for o in record.operands[1:])
        conditions = conditions * (len(first) // len(conditions))
        root = self.roots.get(record.name)
        results: list[Lowered] = []
        for condition, a, b in zip(conditions, first, second, strict=True):
            if isinstance(a, Address) and isinstance(b, Address):
                left, right = self._in_root(a, root), self._in_root(b, root)
                chosen = self.emit("select", "i64", condition, left, right)
                results.append(self._pointer_result(record, chosen))
            else:
                assert not isinstance(a, Address) and not isinstance(b, Address)
                results.append(self.emit("select", a.type, condition, a, b))
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
                base = self.emit("address", "i64")
                base.root = address.root
                mask = integer("i64", (1 << 48) - 1)
                return self.add(self.emit("and", "i64", base, mask), address.offset)
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

    def _op_phi(self, record: Record) -> None:
        phis, results = [], list[Lowered]()
        for kind in leaves(record.type):
            name = kind.name if isinstance(kind, Scalar) else "i64"
            phi = Instruction("phi", name, [], self.site)
            phi.block = self.block
            self.block.phis.append(phi)
            phis.append(phi)
            if isinstance(kind, Pointer):
                if not isinstance(record.type, Pointer):
                    raise self.fail("a vector of pointers is not supported")
                results.append(self._pointer_result(record, phi))
            else:
                results.append(phi)
        self.phis.append((record, phis))
        self.values[record.name] = results

    def _fill_phis(self, reachable: set[str]) -> None:
        for record, phis in self.phis:
            assert phis[0].block is not None
            incoming: dict[Block, list[Lowered]] = {}
            for label, operand in zip(record.labels, record.operands, strict=True):
                if label in reachable:
                    self.block = self.ends[label]
                    incoming[self.ends[label]] = self.operand(operand)
            self._fill(record, phis, incoming)

    def _fill(
        self, record: Record, phis: list[Instruction], incoming: dict[Block, list[Lowered]]
    ) -> None:
        root = self.roots.get(record.name)
        for number, phi in enumerate(phis):
            assert phi.block is not None
            for predecessor in phi.block.predecessors:
                value = incoming[self.homes.get(predecessor, predecessor)][number]
                if isinstance(value, Address):
                    self.block = predecessor
                    value = self._in_root(value, root)
                phi.operands.append(value)

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
            chosen = self.emit("select", value.type, self._equals(index, number), value, chosen)
        self.values[record.name] = [chosen]

    def _equals(self, index: Value, number: int) -> Value:
        test = self.emit("icmp", "i1", index, integer(index.type, number))
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
                self.emit("select", value.type, self._equals(index, number), value, element)
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

    # -- memory accesses ----------------------------------------------------------------------

    def _op_load(self, record: Record) -> None:
        address = self.pointer(record.operands[0])
        self.values[record.name] = self.load(address, record.type, record.align)

    def load(self, address: Address, kind: Type, align: int) -> list[Lowered]:
        """Load a value of any type as one access per run of equal scalars."""
        results: list[Lowered] = []
        for offset, run in _runs(kind):
            element = run[0].name if isinstance(run[0], Scalar) else "i64"
            stored = _stored(element)
            load = self.emit("load", stored, self.add(address.offset, integer("i64", offset)))
            load.root, load.components, load.element, load.align = (
                *(address.root, len(run), stored),
                align or size_of(run[0]),
            )
            parts: list[Value] = [load]
            for number in range(1, len(run)):
                part = self.emit("component", stored, load)
                part.index = number
                parts.append(part)
            for leaf, part in zip(run, parts, strict=True):
                if isinstance(leaf, Pointer):
                    results.append(self._from_integer(part, leaf))
                else:
                    results.append(self.convert_integer(part, element, signed=False)
                                   if stored != element else part)
        return results

    def _op_store(self, record: Record) -> None:
        address = self.pointer(record.operands[1])
        values = self.scalars(record.operands[0])
        self.store(address, record.operands[0].type, values, record.align)

    def store(self, address: Address, kind: Type, values: list[Value], align: int) -> None:
        """Store a value of any type as one access per run of equal scalars."""
        if isinstance(address.root, ConstantRoot):
            raise self.fail(f"writes to the constant '{address.root.name}'")
        at = 0
        for offset, run in _runs(kind):
            element = run[0].name if isinstance(run[0], Scalar) else "i64"
            stored = _stored(element)
            parts = values[at : at + len(run)]
            at += len(run)
            if stored != element:
                parts = [self.convert_integer(p, stored, signed=False) for p in parts]
            store = self.emit(
                "store", "void", self.add(address.offset, integer("i64", offset)), *parts
            )
            store.root, store.components, store.element, store.align = (
                *(address.root, len(run), stored),
                align or size_of(run[0]),
            )

    def copy(self, target: Address, source: Address, size: int, align: int) -> None:
        """memcpy or memmove of a constant size: all loads, then all stores."""
        if size > MAX_UNROLLED_COPY:
            raise self.fail(f"copies {size} bytes at once; at most {MAX_UNROLLED_COPY} are supported")
        unit = min(align, 4) or 1
        pieces = []
        for at in range(0, size - size % unit, unit):
            pieces.append((at, f"i{8 * unit}"))
        pieces += [(at, "i8") for at in range(size - size % unit, size)]
        loaded = [
            self.load(Address(source.root, self.add(source.offset, integer("i64", at))),
                      Scalar(kind), unit if kind != "i8" else 1)
            for at, kind in pieces
        ]
        for (at, kind), values in zip(pieces, loaded, strict=True):
            place = Address(target.root, self.add(target.offset, integer("i64", at)))
            self.store(place, Scalar(kind), [v for v in values if isinstance(v, Value)],
                       unit if kind != "i8" else 1)

    def fill(self, target: Address, value: Value, size: int) -> None:
        """memset of a constant size."""
        if size > MAX_UNROLLED_COPY:
            raise self.fail(f"fills {size} bytes at once; at most {MAX_UNROLLED_COPY} are supported")
        wide = self.convert_integer(value, "i32", signed=False)
        if isinstance(wide, Constant):
            wide = integer("i32", (wide.number or 0) * 0x01010101)
        else:
            wide = self.emit("mul", "i32", wide, integer("i32", 0x01010101))
        for at in range(0, size - size % 4, 4):
            place = Address(target.root, self.add(target.offset, integer("i64", at)))
            self.store(place, Scalar("i32"), [wide], 1)
        for at in range(size - size % 4, size):
            place = Address(target.root, self.add(target.offset, integer("i64", at)))
            self.store(place, Scalar("i8"), [value], 1)

    # -- control ------------------------------------------------------------------------------

    def _op_br(self, record: Record) -> None:
        self.block.site = self.site
        if record.operands:
            first, second = (self.blocks[label] for label in record.labels)
            if first is second:
                self.block.targets = [first]
            else:
                self.block.condition = self.scalar(record.operands[0])
                self.block.targets = [first, second]
        else:
            self.block.targets = [self.blocks[record.labels[0]]]

    def _op_switch(self, record: Record) -> None:
        """Becomes a chain of comparisons, each in a block of its own."""
        default, *targets = (self.blocks[label] for label in record.labels)
        subject = self.scalar(record.operands[0])
        home, name = self.block, self.block.name
        cases = list(zip(record.operands[1:], targets, strict=True))
        if not cases:
            home.targets = [default]
            return
        extra: list[Block] = []
        for number, (case, target) in enumerate(cases):
            value = self.scalar(case)
            assert isinstance(value, Constant) and value.number is not None
            self.block.site = self.site
            self.block.condition = self._equals(subject, value.number)
            if number == len(cases) - 1:
                following = default
            else:
                following = Block(f"{name}.case{number + 1}")
                extra.append(following)
                self.homes[following] = home
            self.block.targets = [target, following]
            if target is following:
                self.block.condition, self.block.targets = None, [target]
            self.block = following if following is not default else self.block
        label = next(label for label, block in self.blocks.items() if block is home)
        self.extra[label] = extra
        self.block = home

    def _op_ret(self, record: Record) -> None:
        self.block.site = self.site
        self.block.targets = []

    _op_unreachable = _op_ret

    def _op_call(self, record: Record) -> None:
        lower_call(self, record)


def _stored(element: str) -> str:
    """How a scalar lies in memory: odd integers take whole power-of-two bytes."""
    if is_float(element):
        return element
    return f"i{8 * size_of(Scalar(element))}"


def _runs(kind: Type, base: int = 0) -> list[tuple[int, list[Scalar | Pointer]]]:
    """A type's scalars in memory as (byte offset, consecutive equal scalars)."""
    match kind:
        case Scalar() | Pointer():
            return [(base, [kind])]
        case Vector(count, element) | Array(count, element) if isinstance(element, Scalar | Pointer):
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


def _is_threadgroup(root: Root) -> bool:
    return isinstance(root, ThreadgroupRoot | ThreadgroupParameterRoot | ThreadgroupArenaRoot)


def _variable_name(symbol: str) -> str:
    """The source name inside a mangled symbol, as far as it is plain."""
    if not symbol.startswith("_Z"):
        return symbol
    best = symbol
    at = 2
    while at < len(symbol):
        if symbol[at].isdigit():
            end = at
            while end < len(symbol) and symbol[end].isdigit():
                end += 1
            length = int(symbol[at:end])
            best = symbol[end : end + length]
            at = end + length
        else:
            at += 1
    return best
