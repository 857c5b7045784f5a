"""Follows uninitialised values through a kernel, to where they decide something.

Every value that may be uninitialised gets a companion, its origin: an `i16` that is 0 if the value
is fine, and else the number of the place where it began or of the very read: `layout.ORIGIN_READ`.
Origins are ordinary
values of the engine's IR, computed next to what they accompany. Memory has a shadow of equal
layout that is not 0 where nothing was written. Deciding is: a branch, an address, a vote, an
atomic operation, and a store to device memory, where others see it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

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
from ..ir.operations.control import PHI, SELECT
from ..ir.operations.conversions import TRUNC, ZEXT
from ..ir.operations.floats import FADD, FCMP
from ..ir.operations.integers import ADD, AND, ICMP, LSHR, OR, UMAX, XOR
from ..ir.operations.lanes import (
    SIMD_ACTIVE_MASK,
    SIMD_MAX,
    SIMD_PREFIX_EXCLUSIVE_SUM,
    SIMD_PREFIX_INCLUSIVE_SUM,
)
from ..ir.operations.marks import LANE_OF, OBSERVE_UNINITIALISED, READ_ORIGIN
from ..ir.operations.memory import COMPONENT, LOAD, STORE
from ..ir.operations.number import I16, I32, U32
from ..ir.operations.operation import Inactive, Operation, Uninitialised
from ..ir.passes import rewrites

_CLEAN = integer("i16", 0)
# Operations whose result counts as set whatever goes in.
_CLEAN_RESULTS = frozenset({Uninitialised.CLEAN, Uninitialised.DECIDES})
_RESIZED = frozenset({TRUNC, ZEXT})
_LOADED = frozenset({LOAD, COMPONENT})


def has_shadow(root: Root | None) -> bool:
    """Whether memory can be uninitialised and has a shadow that says so."""
    return isinstance(root, (*PRIVATE_ROOTS, *THREADGROUP_ROOTS, BufferRoot, AddressRoot))


@rewrites
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
        self.components = _components(function)
        # Shadows of integers that were loaded, bit by bit, and the origin of the load.
        self.bits: dict[Value, tuple[Value, Value]] = {}

    def run(self) -> None:
        phis: list[tuple[Instruction, Instruction]] = []
        for block in self.function.blocks:
            for phi in list(block.phis):
                if phi in self.suspects:
                    origin = Instruction(PHI, "i16", [], phi.site)
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
        return self.emit(UMAX, "i16", first, second)

    def _any(self, values: list[Value]) -> Value:
        result: Value = _CLEAN
        for value in values:
            result = self._either(result, self._of(value))
        return result

    def _is_bad(self, origin: Value) -> Value:
        bad = self.emit(ICMP, "i1", origin, _CLEAN)
        bad.predicate = "ne"
        return bad

    def _select(self, condition: Value, first: Value, second: Value, type: str = "i16") -> Value:
        if first is second:
            return first
        return self.emit(SELECT, type, condition, first, second)

    def _here(self) -> Constant:
        return integer("i16", self.number(self.at))

    def _observe(self, origin: Value) -> None:
        if origin is not _CLEAN:
            self.observe(OBSERVE_UNINITIALISED, origin)

    # -- rules ----------------------------------------------------------------------------------

    def before(self, instruction: Instruction) -> None:
        """What an instruction decides."""
        operation = instruction.operation
        if operation.accesses_memory:
            self._observe(self._of(instruction.operands[0]))
        if operation.uninitialised is Uninitialised.DECIDES:
            self._observe(self._of(instruction.operands[0]))
        elif operation.is_atomic:
            self._observe(self._any(instruction.operands[1:]))
            if self.memory and has_shadow(instruction.root) and operation.reads_memory:
                self._observe(self._read(instruction)[0])
        elif operation is STORE and isinstance(instruction.root, (BufferRoot, AddressRoot)):
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
        if value.operation not in _LOADED:
            return self._of(value)
        shadow, origin = known
        bad = self.emit(ICMP, "i1", shadow, integer(shadow.type, -1), predicate="eq")
        return self._select(bad, origin, _CLEAN)

    def after(self, instruction: Instruction) -> None:
        """The origin of a result, and what memory is worth now."""
        operation = instruction.operation
        if operation is LOAD:
            if self.memory and has_shadow(instruction.root):
                self._load(instruction)
        elif operation.accesses_memory:
            if self.memory and has_shadow(instruction.root) and operation.writes_memory:
                self._write(instruction)
        elif operation.uninitialised is Uninitialised.BEGINS:
            if self.memory:
                self.origins[instruction] = self._here()
        elif operation is LANE_OF:
            if self.lanes:
                self.origins[instruction] = self._lane_of(instruction)
        elif operation is not COMPONENT and instruction in self.suspects:
            origin = _RESULTS[operation.uninitialised](self, instruction)
            if origin is not _CLEAN:
                self.origins[instruction] = origin

    def _spread(self, instruction: Instruction) -> Value:
        return self._any(instruction.operands)

    def _chosen(self, instruction: Instruction) -> Value:
        condition, first, second = instruction.operands
        chosen = self._select(condition, self._of(first), self._of(second))
        return self._either(self._of(condition), chosen)

    def _in_parts(self, instruction: Instruction) -> Value:
        if _takes_bits(instruction) and instruction.operands[0] in self.bits:
            return self._part(instruction)
        return self._any(instruction.operands)

    def _decided(self, instruction: Instruction) -> Value:
        if _takes_bits(instruction) and instruction.operands[0] in self.bits:
            return self._part(instruction)
        if instruction.type == "i1":
            return self._logic(instruction)
        return self._any(instruction.operands)

    def _reduced(self, instruction: Instruction) -> Value:
        """All lanes of a cluster are as bad as the worst one."""
        value, cluster = instruction.operands
        return self._worst(self._of(value), cluster)

    def _part(self, instruction: Instruction) -> Value:
        """Bits of a loaded integer are as good as their own bytes are."""
        shadow, origin = self.bits[instruction.operands[0]]
        rest = instruction.operands[1:]
        part = self.emit(instruction.operation, instruction.type, shadow, *rest)
        self.bits[instruction] = (part, origin)
        bad = self.emit(ICMP, "i1", part, integer(part.type, 0), predicate="ne")
        return self._select(bad, origin, _CLEAN)

    def _logic(self, instruction: Instruction) -> Value:
        """A side does not count where the other one alone decides."""
        a, b = instruction.operands
        result: Value = _CLEAN
        for mine, other in ((a, b), (b, a)):
            origin = self._of(mine)
            if origin is _CLEAN:
                continue
            flips = instruction.operation is not OR
            decided = self.emit(XOR, "i1", other, integer("i1", 1)) if flips else other
            if self._of(other) is not _CLEAN:
                fine = self.emit(ICMP, "i1", self._of(other), _CLEAN)
                fine.predicate = "eq"
                decided = self.emit(AND, "i1", decided, fine)
            result = self._either(result, self._select(decided, _CLEAN, origin))
        return result

    def _moved(self, instruction: Instruction) -> Value:
        value, *lane = instruction.operands
        moved: Value = _CLEAN
        if self._of(value) is not _CLEAN:
            moved = self.emit(instruction.operation, "i16", self._of(value), *lane, number=I16)
        if self.lanes and lane:
            moved = self._either(moved, self._from_inactive(lane[0]))
        return self._either(moved, self._any(lane))

    def _from_inactive(self, lane: Value) -> Value:
        """This place for lanes that read a lane which does not take part."""
        active = self.emit(SIMD_ACTIVE_MASK, "i64")
        source = self.emit(AND, "i32", lane, integer("i32", 31))
        shifted = self.emit(LSHR, "i64", active, self.emit(ZEXT, "i64", source))
        return self._select(self.emit(TRUNC, "i1", shifted), _CLEAN, self._here())

    def _lane_of(self, instruction: Instruction) -> Value:
        """This place for lanes that name a lane which their simdgroup or quadgroup has not."""
        lane, lanes = instruction.operands
        beyond = self.emit(ICMP, "i1", lane, lanes, predicate="uge")
        return self._either(self._of(lane), self._select(beyond, self._here(), _CLEAN))

    def _scanned(self, instruction: Instruction) -> Value:
        """Lanes behind a bad one are bad."""
        value, cluster = instruction.operands
        one = self.emit(ZEXT, "i32", self._is_bad(self._of(value)))
        reduction = instruction.operation.reduction
        assert reduction is not None
        count = self.emit(
            SIMD_PREFIX_EXCLUSIVE_SUM if reduction.exclusive else SIMD_PREFIX_INCLUSIVE_SUM,
            "i32",
            one,
            cluster,
            number=I32,
        )
        some = self.emit(ICMP, "i1", count, integer("i32", 0))
        some.predicate = "ne"
        return self._select(some, self._worst(self._of(value), cluster), _CLEAN)

    def _worst(self, origin: Value, cluster: Value) -> Value:
        """The greatest origin of the lanes of a cluster."""
        wide = self.emit(ZEXT, "i32", origin)
        return self.emit(TRUNC, "i16", self.emit(SIMD_MAX, "i32", wide, cluster, number=U32))

    def _multiplied(self, instruction: Instruction) -> Value:
        """The product of 8x8 matrices of ones where the factors are bad tells where it is bad."""
        element, *parts = instruction.operands
        one, nothing = Constant("float", "1.0", None), zero("float")
        flags = [self._flag(part) for part in parts]
        left = [*flags[:2], one, one, *flags[4:]]
        right = [one, one, *flags[2:4], nothing, nothing]
        sums = [
            self.emit(instruction.operation, "float", element, *operands, number=instruction.number)
            for operands in (left, right)
        ]
        total = self.emit(FADD, "float", *sums)
        some = self.emit(FCMP, "i1", total, nothing)
        some.predicate = "one"
        return self._select(some, self._here(), _CLEAN)

    def _flag(self, value: Value) -> Value:
        origin = self._of(value)
        if origin is _CLEAN:
            return zero("float")
        one = Constant("float", "1.0", None)
        return self._select(self._is_bad(origin), one, zero("float"), "float")

    # -- memory ---------------------------------------------------------------------------------

    def _shadow(self, operation: Operation, instruction: Instruction, type: str) -> Instruction:
        root = instruction.root
        assert root is not None
        access = self.emit(operation, type, instruction.operands[0])
        access.root = ShadowRoot(root)
        access.element = f"i{_memory_bits(instruction.element)}"
        access.components, access.align = instruction.components, instruction.align
        return access

    def _bytes(self, operation: Operation, instruction: Instruction) -> Iterator[Instruction]:
        """Accesses to the shadow's bytes, one for each component, where alignment is unusual."""
        root, size = instruction.root, _memory_bits(instruction.element) // 8
        assert root is not None
        for number in range(instruction.components):
            offset: Value = instruction.operands[0]
            if number:
                offset = self.emit(ADD, "i64", offset, integer("i64", number * size))
            access = self.emit(operation, "i8" if operation is LOAD else "void", offset)
            access.root, access.element, access.components = ShadowRoot(root), "i8", size
            yield access

    def _read_bytes(self, instruction: Instruction) -> list[Value]:
        origins: list[Value] = []
        for access in self._bytes(LOAD, instruction):
            worst: Value = access
            for index in range(1, access.components):
                part = self.emit(COMPONENT, "i8", access)
                part.index = index
                worst = self.emit(OR, "i8", worst, part)
            origins.append(self._origin_of(instruction, worst, len(origins)))
        return origins

    def _origin_of(self, instruction: Instruction, shadow: Value, index: int) -> Value:
        """The number of a read of a component, whose shadow is known."""
        offset: Value = instruction.operands[0]
        if index:
            size = _memory_bits(instruction.element) // 8
            offset = self.emit(ADD, "i64", offset, integer("i64", index * size))
        origin = self.emit(READ_ORIGIN, "i16", shadow, offset)
        origin.root, origin.element = instruction.root, instruction.element
        origin.components = instruction.components
        return origin

    def _write_bytes(self, instruction: Instruction) -> None:
        marks = [
            integer("i8", 0)
            if (origin := self._of(value)) is _CLEAN
            else self._select(self._is_bad(origin), integer("i8", -1), integer("i8", 0), "i8")
            for value in instruction.operands[1:]
        ]
        for access, mark in zip(self._bytes(STORE, instruction), marks, strict=True):
            access.operands += [mark] * access.components

    def _read(self, instruction: Instruction) -> list[Value]:
        """The origins of what an instruction loads, by component."""
        if _is_unusual(instruction):
            return self._read_bytes(instruction)
        access = self._shadow(LOAD, instruction, f"i{_memory_bits(instruction.element)}")
        origins: list[Value] = []
        for index in range(instruction.components):
            part = access
            if index:
                part = self.emit(COMPONENT, access.type, access)
                part.index = index
            origins.append(self._origin_of(instruction, part, index))
            value = self._component(instruction, index)
            if value is not None and access.type == instruction.type:
                self.bits[value] = (part, origins[-1])
        return origins

    def _load(self, instruction: Instruction) -> None:
        origins = self._read(instruction)
        self.origins[instruction] = origins[0]
        for user in self.components.get(instruction, ()):
            self.origins[user] = origins[user.index]

    def _component(self, load: Instruction, index: int) -> Instruction | None:
        if not index:
            return load
        users = self.components.get(load, ())
        return next((user for user in users if user.index == index), None)

    def _write(self, instruction: Instruction) -> None:
        if _is_unusual(instruction):
            self._write_bytes(instruction)
            return
        access = self._shadow(STORE, instruction, "void")
        values = instruction.operands[1:] if instruction.operation is STORE else [_CLEAN]
        quiet = isinstance(instruction.root, (BufferRoot, AddressRoot))
        quiet = quiet or instruction.operation is not STORE
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


def _components(function: Function) -> dict[Value, list[Instruction]]:
    """The components after the first that are taken of each load."""
    found: dict[Value, list[Instruction]] = {}
    for instruction in function.instructions():
        if instruction.operation is COMPONENT:
            found.setdefault(instruction.operands[0], []).append(instruction)
    return found


def _takes_bits(instruction: Instruction) -> bool:
    """Whether a result is some bits of the first operand, in place or moved."""
    if instruction.operation in _RESIZED:
        return True
    return instruction.operation is not OR and isinstance(instruction.operands[1], Constant)


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
    what = instruction.operation.uninitialised
    if instruction.operation is LOAD:
        return "init" in observers and has_shadow(instruction.root)
    if what is Uninitialised.BEGINS:
        return "init" in observers
    reads_lanes = instruction.operation is LANE_OF or (
        instruction.operation.inactive is Inactive.READ
    )
    if "shuffle" in observers and reads_lanes:
        return True
    if instruction.type == "void" or what in _CLEAN_RESULTS:
        return False
    return any(operand in known for operand in instruction.operands)


# What the origin of a result is made from, by what uninitialised operands do. Loads, components and
# phis have origins before that is asked.
_RESULTS: dict[Uninitialised, Callable[[_Follower, Instruction], Value]] = {
    Uninitialised.SPREADS: _Follower._spread,
    Uninitialised.CHOOSES: _Follower._chosen,
    Uninitialised.IN_PARTS: _Follower._in_parts,
    Uninitialised.DECIDES_ALONE: _Follower._decided,
    Uninitialised.TRAVELS: _Follower._moved,
    Uninitialised.SPOILS_CLUSTER: _Follower._reduced,
    Uninitialised.SPOILS_FOLLOWING: _Follower._scanned,
    Uninitialised.SPOILS_PRODUCT: _Follower._multiplied,
}
