"""Follows uninitialised values through a kernel, to where they decide something.

Every value that may be uninitialised gets a companion, its origin: an `i16` that is 0 if the value
is fine, and else the number of the place where it was read uninitialised. Origins are ordinary
values of the engine's IR, computed next to what they accompany. Memory has a shadow of equal
layout that is not 0 where nothing was written. Deciding is: a branch, an address, a vote, an
atomic operation, and a store to device memory, where others see it.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..ir.context import PRIVATE_GRANULE
from ..ir.insertion import Inserter, Numbering
from ..ir.llvm_types import bits
from ..ir.nodes import (
    PRIVATE_ROOTS,
    THREADGROUP_ROOTS,
    AddressRoot,
    Block,
    BufferRoot,
    Constant,
    Function,
    Instruction,
    Root,
    ShadowRoot,
    Value,
    integer,
    zero,
)

_CLEAN = integer("i16", 0)
_VALUE = "uninitialised_"
_LANE_MOVES = ("simd_shuffle_", "simd_broadcast_first_")
_CLEAN_RESULTS = ("simd_active_mask", "simd_ballot", "atomic_", "matrix_")
_VOTES = ("simd_ballot",)


def has_shadow(root: Root | None) -> bool:
    """Whether memory can be uninitialised and has a shadow that says so."""
    return isinstance(root, (*PRIVATE_ROOTS, *THREADGROUP_ROOTS, BufferRoot, AddressRoot))


def follow_uninitialised(function: Function, observers: frozenset[str], number: Numbering) -> None:
    """Add origins, shadow accesses and observations to a function.

    Args:
        function: changed in place.
        observers: `init` for memory and variables, `shuffle` for what inactive lanes hold.
        number: gives the number of a source place.
    """
    _Follower(function, observers, number).run()


class _Follower(Inserter):
    def __init__(self, function: Function, observers: frozenset[str], number: Numbering) -> None:
        super().__init__(function, number)
        self.origins: dict[Value, Value] = {}
        self.memory = "init" in observers
        self.lanes = "shuffle" in observers
        self.suspects = _suspects(function, observers)
        # Shadows of integers that were loaded, bit by bit, and the place of the load.
        self.bits: dict[Value, tuple[Value, Constant]] = {}

    def run(self) -> None:
        phis: list[tuple[Instruction, Instruction]] = []
        for block in self.function.blocks:
            for phi in list(block.phis):
                if phi in self.suspects:
                    origin = Instruction("phi", "i16", [], phi.site)
                    origin.block = block
                    block.phis.append(origin)
                    self.origins[phi] = origin
                    phis.append((phi, origin))
        self.visit()
        for phi, origin in phis:
            origin.operands = [self._of(operand) for operand in phi.operands]

    def ends(self, block: Block) -> None:
        if block.condition is not None:
            self._observe(self._of(block.condition))

    # -- building -------------------------------------------------------------------------------

    def _of(self, value: Value) -> Value:
        return self.origins.get(value, _CLEAN)

    def _either(self, first: Value, second: Value) -> Value:
        if first is _CLEAN or first is second:
            return second
        if second is _CLEAN:
            return first
        return self.emit("call", "i16", first, second, callee="llvm.umax")

    def _any(self, values: list[Value]) -> Value:
        result: Value = _CLEAN
        for value in values:
            result = self._either(result, self._of(value))
        return result

    def _is_bad(self, origin: Value) -> Value:
        bad = self.emit("icmp", "i1", origin, _CLEAN)
        bad.predicate = "ne"
        return bad

    def _select(self, condition: Value, first: Value, second: Value, type: str = "i16") -> Value:
        if first is second:
            return first
        return self.emit("select", type, condition, first, second)

    def _here(self) -> Constant:
        return integer("i16", self.number(self.at))

    def _observe(self, origin: Value) -> None:
        if origin is not _CLEAN:
            self.observe("uninitialised", origin)

    # -- rules ----------------------------------------------------------------------------------

    def before(self, instruction: Instruction) -> None:
        """What an instruction decides."""
        op, callee = instruction.op, instruction.callee
        if op in ("load", "store") or callee.startswith("atomic_"):
            self._observe(self._of(instruction.operands[0]))
        if callee.startswith(_VOTES):
            self._observe(self._of(instruction.operands[0]))
        elif callee.startswith("atomic_"):
            self._observe(self._any(instruction.operands[1:]))
            if (
                self.memory
                and has_shadow(instruction.root)
                and not callee.startswith("atomic_store")
            ):
                self._observe(self._read(instruction)[0])
        elif op == "store" and isinstance(instruction.root, (BufferRoot, AddressRoot)):
            worst: Value = _CLEAN
            for value in instruction.operands[1:]:
                worst = self._either(worst, self._shown(value))
            self._observe(worst)

    def _shown(self, value: Value) -> Value:
        """The origin of what others will see; a copy may lack bytes between a structure's fields.

        Which those are is not known here: a copy counts if nothing of it was written.
        """
        known = self.bits.get(value)
        if known is None or not isinstance(value, Instruction) or bits(value.type) <= 8:
            return self._of(value)
        if value.op not in ("load", "component"):
            return self._of(value)
        shadow, place = known
        bad = self.emit("icmp", "i1", shadow, integer(shadow.type, -1), predicate="eq")
        return self._select(bad, place, _CLEAN)

    def after(self, instruction: Instruction) -> None:
        """The origin of a result, and what memory is worth now."""
        op, callee = instruction.op, instruction.callee
        if op == "load":
            if self.memory and has_shadow(instruction.root):
                self._load(instruction)
        elif op == "store" or callee.startswith("atomic_"):
            loads = callee.startswith("atomic_load")
            if self.memory and has_shadow(instruction.root) and not loads:
                self._write(instruction)
        elif callee.startswith(_VALUE):
            if self.memory:
                self.origins[instruction] = self._here()
        elif op not in ("phi", "component") and instruction in self.suspects:
            origin = self._result(instruction)
            if origin is not _CLEAN:
                self.origins[instruction] = origin

    def _result(self, instruction: Instruction) -> Value:
        op, callee, operands = instruction.op, instruction.callee, instruction.operands
        if op == "select":
            condition, first, second = operands
            chosen = self._select(condition, self._of(first), self._of(second))
            return self._either(self._of(condition), chosen)
        if _takes_bits(instruction) and operands[0] in self.bits:
            return self._part(instruction)
        if op in ("and", "or") and instruction.type == "i1":
            return self._logic(op, operands[0], operands[1])
        if callee.startswith(_LANE_MOVES):
            return self._moved(instruction)
        if callee.startswith("simd_prefix_"):
            return self._scanned(instruction)
        if callee.startswith("mma_f32"):
            return self._multiplied(instruction)
        if callee.startswith("simd_"):
            wide = self.emit("zext", "i32", self._of(operands[0]))
            worst = self.emit("intrinsic", "i32", wide, operands[1], callee="simd_max_u32")
            return self.emit("trunc", "i16", worst)
        return self._any(operands)

    def _part(self, instruction: Instruction) -> Value:
        """Bits of a loaded integer are as good as their own bytes are."""
        shadow, place = self.bits[instruction.operands[0]]
        rest = instruction.operands[1:]
        part = self.emit(instruction.op, instruction.type, shadow, *rest)
        self.bits[instruction] = (part, place)
        bad = self.emit("icmp", "i1", part, integer(part.type, 0), predicate="ne")
        return self._select(bad, place, _CLEAN)

    def _logic(self, op: str, a: Value, b: Value) -> Value:
        """A side does not count where the other one alone decides."""
        result: Value = _CLEAN
        for mine, other in ((a, b), (b, a)):
            origin = self._of(mine)
            if origin is _CLEAN:
                continue
            decided = other if op == "or" else self.emit("xor", "i1", other, integer("i1", 1))
            if self._of(other) is not _CLEAN:
                fine = self.emit("icmp", "i1", self._of(other), _CLEAN)
                fine.predicate = "eq"
                decided = self.emit("and", "i1", decided, fine)
            result = self._either(result, self._select(decided, _CLEAN, origin))
        return result

    def _moved(self, instruction: Instruction) -> Value:
        value, *lane = instruction.operands
        stem = instruction.callee.rsplit("_", 1)[0]
        moved: Value = _CLEAN
        if self._of(value) is not _CLEAN:
            moved = self.emit("intrinsic", "i16", self._of(value), *lane, callee=f"{stem}_i16")
        if self.lanes and lane:
            moved = self._either(moved, self._from_inactive(lane[0]))
        return self._either(moved, self._any(lane))

    def _from_inactive(self, lane: Value) -> Value:
        """This place for lanes that read a lane which does not take part."""
        active = self.emit("intrinsic", "i64", callee="simd_active_mask")
        source = self.emit("and", "i32", lane, integer("i32", 31))
        shifted = self.emit("lshr", "i64", active, self.emit("zext", "i64", source))
        return self._select(self.emit("trunc", "i1", shifted), _CLEAN, self._here())

    def _scanned(self, instruction: Instruction) -> Value:
        """Lanes behind a bad one are bad."""
        value, cluster = instruction.operands
        one = self.emit("zext", "i32", self._is_bad(self._of(value)))
        order = "exclusive" if "exclusive" in instruction.callee else "inclusive"
        callee = f"simd_prefix_{order}_sum_i32"
        count = self.emit("intrinsic", "i32", one, cluster, callee=callee)
        some = self.emit("icmp", "i1", count, integer("i32", 0))
        some.predicate = "ne"
        return self._select(some, self._here(), _CLEAN)

    def _multiplied(self, instruction: Instruction) -> Value:
        """The product of 8x8 matrices of ones where the factors are bad tells where it is bad."""
        element, *parts = instruction.operands
        one, nothing = Constant("float", "1.0", None), zero("float")
        flags = [self._flag(part) for part in parts]
        left = [*flags[:2], one, one, *flags[4:]]
        right = [one, one, *flags[2:4], nothing, nothing]
        sums = [
            self.emit("intrinsic", "float", element, *operands, callee=instruction.callee)
            for operands in (left, right)
        ]
        total = self.emit("fadd", "float", *sums)
        some = self.emit("fcmp", "i1", total, nothing)
        some.predicate = "one"
        return self._select(some, self._here(), _CLEAN)

    def _flag(self, value: Value) -> Value:
        origin = self._of(value)
        if origin is _CLEAN:
            return zero("float")
        one = Constant("float", "1.0", None)
        return self._select(self._is_bad(origin), one, zero("float"), "float")

    # -- memory ---------------------------------------------------------------------------------

    def _shadow(self, op: str, instruction: Instruction, type: str) -> Instruction:
        root = instruction.root
        assert root is not None
        access = self.emit(op, type, instruction.operands[0])
        access.root = ShadowRoot(root)
        access.element = f"i{_memory_bits(instruction.element)}"
        access.components, access.align = instruction.components, instruction.align
        return access

    def _bytes(self, op: str, instruction: Instruction) -> Iterator[Instruction]:
        """Accesses to the shadow's bytes, one for each component, where alignment is unusual."""
        root, size = instruction.root, _memory_bits(instruction.element) // 8
        assert root is not None
        for number in range(instruction.components):
            offset: Value = instruction.operands[0]
            if number:
                offset = self.emit("add", "i64", offset, integer("i64", number * size))
            access = self.emit(op, "i8" if op == "load" else "void", offset)
            access.root, access.element, access.components = ShadowRoot(root), "i8", size
            yield access

    def _read_bytes(self, instruction: Instruction) -> list[Value]:
        origins: list[Value] = []
        for access in self._bytes("load", instruction):
            worst: Value = access
            for index in range(1, access.components):
                part = self.emit("component", "i8", access)
                part.index = index
                worst = self.emit("or", "i8", worst, part)
            bad = self.emit("icmp", "i1", worst, integer("i8", 0))
            bad.predicate = "ne"
            origins.append(self._select(bad, self._here(), _CLEAN))
        return origins

    def _write_bytes(self, instruction: Instruction) -> None:
        marks = [
            integer("i8", 0)
            if (origin := self._of(value)) is _CLEAN
            else self._select(self._is_bad(origin), integer("i8", -1), integer("i8", 0), "i8")
            for value in instruction.operands[1:]
        ]
        for access, mark in zip(self._bytes("store", instruction), marks, strict=True):
            access.operands += [mark] * access.components

    def _read(self, instruction: Instruction) -> list[Value]:
        """The origins of what an instruction loads, by component."""
        if _is_unusual(instruction):
            return self._read_bytes(instruction)
        access = self._shadow("load", instruction, f"i{_memory_bits(instruction.element)}")
        origins: list[Value] = []
        for index in range(instruction.components):
            part = access
            if index:
                part = self.emit("component", access.type, access)
                part.index = index
            bad = self.emit("icmp", "i1", part, integer(part.type, 0))
            bad.predicate = "ne"
            origins.append(self._select(bad, self._here(), _CLEAN))
            value = self._component(instruction, index)
            if value is not None and access.type == instruction.type:
                self.bits[value] = (part, self._here())
        return origins

    def _load(self, instruction: Instruction) -> None:
        origins = self._read(instruction)
        self.origins[instruction] = origins[0]
        for user in self._components(instruction):
            self.origins[user] = origins[user.index]

    def _component(self, load: Instruction, index: int) -> Instruction | None:
        if not index:
            return load
        return next((user for user in self._components(load) if user.index == index), None)

    def _components(self, load: Instruction) -> list[Instruction]:
        return (
            [
                other
                for block in self.function.blocks
                for other in block.body
                if other.op == "component" and other.operands[0] is load
            ]
            if load.components > 1
            else []
        )

    def _write(self, instruction: Instruction) -> None:
        if _is_unusual(instruction):
            self._write_bytes(instruction)
            return
        access = self._shadow("store", instruction, "void")
        values = instruction.operands[1:] if instruction.op == "store" else [_CLEAN]
        quiet = isinstance(instruction.root, (BufferRoot, AddressRoot)) or instruction.op != "store"
        for value in values:
            origin = _CLEAN if quiet else self._of(value)
            mark: Value = integer(access.element, 0)
            if origin is not _CLEAN:
                # In front of the store that was just appended.
                self.body.pop()
                mark = self._mark(value, origin, access.element)
                self.body.append(access)
            access.operands.append(mark)

    def _mark(self, value: Value, origin: Value, type: str) -> Value:
        """What a shadow says of a value: of a copy, what it says of the original's bytes.

        Bytes between the fields of a structure are never set, and copied with the fields.
        """
        known = self.bits.get(value)
        if known is not None and known[0].type == type:
            return known[0]
        return self._select(self._is_bad(origin), integer(type, -1), integer(type, 0), type)


def _takes_bits(instruction: Instruction) -> bool:
    """Whether a result is some bits of the first operand, in place or moved."""
    if instruction.op in ("trunc", "zext"):
        return True
    known = len(instruction.operands) == 2 and isinstance(instruction.operands[1], Constant)
    return known and instruction.op in ("and", "lshr", "shl")


def _is_unusual(instruction: Instruction) -> bool:
    """Whether a private access is not as aligned as rows of private memory are."""
    size = _memory_bits(instruction.element) // 8
    aligned = instruction.align >= min(size, PRIVATE_GRANULE)
    return isinstance(instruction.root, PRIVATE_ROOTS) and not aligned


def _memory_bits(element: str) -> int:
    return max(8, bits(element))


def _suspects(function: Function, observers: frozenset[str]) -> set[Value]:
    """Values that may be uninitialised, as far as can be told without running the kernel."""
    found: set[Value] = set()
    changed = True
    while changed:
        before = len(found)
        for instruction in function.instructions():
            if instruction not in found and _is_suspect(instruction, found, observers):
                found.add(instruction)
        changed = len(found) != before
    return found


def _is_suspect(instruction: Instruction, known: set[Value], observers: frozenset[str]) -> bool:
    if instruction.op == "load":
        return "init" in observers and has_shadow(instruction.root)
    if instruction.callee.startswith(_VALUE):
        return "init" in observers
    if "shuffle" in observers and instruction.callee.startswith("simd_shuffle_"):
        return True
    if instruction.type == "void" or instruction.callee.startswith(_CLEAN_RESULTS):
        return False
    return any(operand in known for operand in instruction.operands)
