"""Joins neighbouring accesses of a thread to wider ones, as compilers of GPUs do.

The machine moves up to 16 bytes of a thread at once. Values that travelled as wider numbers than
they are, such as two floats in a double, are taken apart first.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..ir.llvm_types import Scalar, bits, is_float, size_of
from ..ir.nodes import (
    THREADGROUP_ROOTS,
    AddressRoot,
    Block,
    ConstantRoot,
    Function,
    Instruction,
    PrivateRoot,
    Root,
    ThreadgroupRoot,
    Value,
    integer,
    is_private,
)
from ..ir.operations.conversions import BITCAST
from ..ir.operations.integers import ADD
from ..ir.operations.memory import COMPONENT, LOAD, STORE
from ..ir.passes import rewrites
from .offsets import Offset, offset_of
from .unpack import pieces_of

_MOST_BYTES = 16
_DISJOINT = (ThreadgroupRoot, PrivateRoot, ConstantRoot)


@rewrites
def merge_accesses(function: Function) -> None:
    """Rewrite the loads and stores of every block; what the function does stays the same."""
    replaced: dict[Value, Value] = {}
    for block in function.blocks:
        for instruction in block.body:
            if instruction.operation is STORE:
                _take_apart(instruction)
        replaced |= _Merger(block).run()
    _replace(function, replaced)


def _replace(function: Function, replaced: dict[Value, Value]) -> None:
    for block in function.blocks:
        if block.condition is not None:
            block.condition = replaced.get(block.condition, block.condition)
        for instruction in block.instructions():
            instruction.operands = [replaced.get(o, o) for o in instruction.operands]
            root = instruction.root
            if isinstance(root, AddressRoot) and root.address in replaced:
                instruction.root = AddressRoot(replaced[root.address], root.space, root.name)


def _take_apart(store: Instruction) -> None:
    """Store the parts of packed values instead of the values."""
    parts = [_parts(value) for value in store.operands[1:]]
    flat = [part for found in parts for part in found]
    kinds = {part.type for part in flat}
    if len(flat) == len(parts) or len(kinds) != 1 or len(flat) > _MOST_BYTES:
        return
    (kind,) = kinds
    if size_of(Scalar(kind)) * 8 != bits(kind):
        return
    store.operands[1:] = flat
    store.element, store.components = kind, len(flat)
    store.align = min(store.align, size_of(Scalar(kind))) if store.align else 0


def _parts(value: Value) -> list[Value]:
    """The equal parts that a value is packed from, lowest first; itself if it is not packed."""
    source = value
    while isinstance(source, Instruction) and source.operation is BITCAST:
        source = source.operands[0]
    if is_float(source.type) or bits(source.type) != bits(value.type):
        return [value]
    pieces = pieces_of(source)
    if not pieces or len(pieces) < 2:
        return [value]
    width = bits(pieces[0].value.type)
    places = [piece.shift for piece in pieces]
    whole = places == list(range(0, bits(source.type), width))
    if not whole or any(bits(piece.value.type) != width for piece in pieces):
        return [value]
    return _as_they_were([piece.value for piece in pieces])


def _as_they_were(values: list[Value]) -> list[Value]:
    """Without a reinterpretation that all of them went through."""
    sources = [
        value.operands[0]
        for value in values
        if isinstance(value, Instruction) and value.operation is BITCAST
    ]
    if len(sources) == len(values) and len({source.type for source in sources}) == 1:
        return sources
    return values


@dataclass(slots=True)
class _Place:
    """An access and where it is."""

    access: Instruction
    offset: Offset
    at: int  # in the block's body

    @property
    def start(self) -> int:
        return self.offset.constant

    @property
    def end(self) -> int:
        return self.start + self.access.components * size_of(Scalar(self.access.element))


Key = tuple[object, ...]


class _Merger:
    """Goes through a block with the accesses that may still be joined to later ones."""

    def __init__(self, block: Block) -> None:
        self.block = block
        self.open: dict[Key, list[_Place]] = {}
        self.before: dict[Instruction, list[Instruction]] = {}  # what is put before an access
        self.replaced: dict[Value, Value] = {}
        self.removed: set[Value] = set()
        self.parts: dict[tuple[Value, int], Instruction] = {}  # of removed loads

    def run(self) -> dict[Value, Value]:
        """Join what can be joined; returns what other values have become."""
        for at, instruction in enumerate(self.block.body):
            operation = instruction.operation
            if operation.orders_memory:
                self._close(list(self.open))
            elif operation.is_atomic:
                self._close(self._conflicts(instruction, None))
            elif operation.accesses_memory:
                self._meet(_Place(instruction, offset_of(instruction.operands[0]), at))
        self._close(list(self.open))
        self._rewrite()
        return self.replaced

    def _meet(self, place: _Place) -> None:
        access = place.access
        key = (access.operation, _memory_of(access.root), access.element, place.offset.key)
        group = self.open.get(key, [])
        overlaps = any(p.start < place.end and place.start < p.end for p in group)
        same = None if access.operation is STORE and overlaps else key
        self._close(self._conflicts(access, same))
        if not is_private(access.root):
            self.open.setdefault(key, []).append(place)

    def _conflicts(self, access: Instruction, same: Key | None) -> list[Key]:
        """Groups that cannot grow past an access, which is in the group `same` itself."""
        return [
            key
            for key, group in self.open.items()
            if key != same
            and (key[0] is STORE or access.operation is not LOAD)
            and _may_meet(group[0].access.root, access.root)
        ]

    def _close(self, keys: list[Key]) -> None:
        for key in keys:
            run: list[_Place] = []
            for place in sorted(self.open.pop(key), key=lambda place: place.start):
                if run and (run[-1].end != place.start or place.end - run[0].start > _MOST_BYTES):
                    self._join(run)
                    run = []
                run.append(place)
            self._join(run)

    def _join(self, run: list[_Place]) -> None:
        if len(run) < 2:
            return
        writes = run[0].access.operation is STORE
        anchor = (max if writes else min)(run, key=lambda place: place.at)
        offset, before = self._start(run, anchor)
        values = [value for place in run for value in place.access.operands[1:]]
        merged = self._merged(run, anchor, [offset, *values])
        parts = [] if writes else self._part(run, merged)
        self.removed.update(place.access for place in run)
        self.before[anchor.access] = [*before, merged, *parts]

    def _start(self, run: list[_Place], anchor: _Place) -> tuple[Value, list[Instruction]]:
        """The offset of a run's first byte, and what computes it where one of its accesses is."""
        step = run[0].start - anchor.start
        offset = anchor.access.operands[0]
        if step == 0:
            return offset, []
        moved = Instruction(ADD, "i64", [offset, integer("i64", step)], anchor.access.site)
        moved.block = self.block
        return moved, [moved]

    def _merged(self, run: list[_Place], anchor: _Place, operands: list[Value]) -> Instruction:
        access = run[0].access
        merged = Instruction(access.operation, access.type, operands, anchor.access.site)
        merged.block, merged.root = self.block, anchor.access.root
        merged.element, merged.align = access.element, access.align
        merged.components = sum(place.access.components for place in run)
        merged.demand = access.demand
        return merged

    def _part(self, run: list[_Place], merged: Instruction) -> list[Instruction]:
        """What stands for the loads and their components."""
        parts: list[Instruction] = []
        number = 0
        for place in run:
            for component in range(place.access.components):
                part = merged
                if number:
                    part = Instruction(COMPONENT, merged.type, [merged], place.access.site)
                    part.block, part.index = self.block, number
                    parts.append(part)
                self.parts[place.access, component] = part
                number += 1
            self.replaced[place.access] = self.parts[place.access, 0]
        return parts

    def _rewrite(self) -> None:
        body: list[Instruction] = []
        for instruction in self.block.body:
            body += self.before.get(instruction, [])
            if instruction.operation is COMPONENT and instruction.operands[0] in self.removed:
                part = self.parts[instruction.operands[0], instruction.index]
                self.replaced[instruction] = part
            elif instruction not in self.removed:
                body.append(instruction)
        self.block.body = body


def _memory_of(root: Root | None) -> object:
    """What is equal for equal places."""
    return root.address if isinstance(root, AddressRoot) else root


def _may_meet(a: Root | None, b: Root | None) -> bool:
    """Whether two roots may lead to the same memory."""
    if isinstance(a, _DISJOINT) and isinstance(b, _DISJOINT):
        return a == b
    in_group = [isinstance(root, THREADGROUP_ROOTS) for root in (a, b)]
    anywhere = any(isinstance(root, AddressRoot) and root.space == 0 for root in (a, b))
    return anywhere or in_group[0] == in_group[1]
