"""How addresses are formed: a shared base, one index that the access itself scales, and the rest.

A load takes a 64-bit base and a 32-bit index that it extends and shifts by the element's size
(dougallj/applegpu). Constants and what is known before threads start go into the base, which then
is a shared register. Any further term has to be added. Threadgroup memory has short addresses, and
sums of them are ordinary integer additions.
"""

from __future__ import annotations

from assay.sim.simt.analysis.offsets import EXTENSIONS, Term, is_disjoint, offset_of
from assay.sim.simt.ir.llvm_types import Scalar, size_of
from assay.sim.simt.ir.nodes import (
    THREADGROUP_ROOTS,
    AddressRoot,
    Block,
    Instruction,
    Value,
    is_private,
)
from assay.sim.simt.ir.operations.integers import ADD, MUL, OR, SHL, SUB

from .instructions import Lowered, Op
from .values import Values

_MOST_SHIFT = 2  # by which a load shifts its index beyond the element's size
_SUMS = frozenset({ADD, SUB}) | EXTENSIONS
_PRODUCTS = frozenset({MUL, SHL})


class Addresses:
    """Finds the registers that accesses read for their addresses, and what computes them."""

    def __init__(self, values: Values, code: Lowered) -> None:
        self.values = values
        self.code = code
        self.registers: dict[Value, tuple[int, ...]] = {}
        self._sums: dict[object, int] = {}
        self._places: dict[int, Block] = {}
        self.unneeded = self._find_unneeded()

    def _find_unneeded(self) -> set[Value]:
        """Sums that are computed by accesses alone, so that no register has to hold them."""
        found: set[Value] = {
            i
            for block in self.values.blocks
            for i in block.body
            if i in self.values.live and _is_sum(i)
        }
        changed = True
        while changed:
            changed = False
            for value in list(found):
                users = self.values.users_of(value)
                if not all(user in found or _is_address(value, user) for user in users):
                    found.discard(value)
                    changed = True
        return found

    def of(self, access: Instruction) -> tuple[int, ...]:
        """The registers that hold where an access goes; adds what computes them."""
        offset = offset_of(access.operands[0], self._is_whole)
        terms = [(term, f) for term, f in offset.terms if not self.values.is_early(term[1])]
        root = access.root
        extra: tuple[int, ...] = ()
        if isinstance(root, AddressRoot):
            extra = self.registers.get(root.address, ())
        if not terms:
            return extra
        if isinstance(root, THREADGROUP_ROOTS) or is_private(root):
            return (self._short(terms, access), *extra)
        return self._long(terms, access, extra)

    def _is_whole(self, value: Value) -> bool:
        """Whether a 64-bit sum is in a register anyway."""
        return value in self.registers and value not in self.unneeded and value.type == "i64"

    def _short(self, terms: list[tuple[Term, int]], access: Instruction) -> int:
        """The sum of all terms in one register."""
        size = size_of(Scalar(access.element))
        terms = self._by_depth(terms)
        (_, first), factor = terms[0]
        register = self._scaled(first, factor, size, access, scales=len(terms) == 1)
        block = self._block_of(first)
        for (_, value), factor in terms[1:]:
            block = self._later(block, self._block_of(value))
            register = self._sum("iadd", register, value, factor, access, block)
        return register

    def _long(
        self, terms: list[tuple[Term, int]], access: Instruction, extra: tuple[int, ...]
    ) -> tuple[int, ...]:
        """The index, and a base if more than shared registers are in it."""
        size = size_of(Scalar(access.element))
        terms = self._by_depth(terms)
        wide = [term for term in terms if not term[0][0]]
        narrow = [term for term in terms if term[0][0]]
        found: list[int] = []
        if narrow:
            (_, index), factor = narrow.pop()
            found.append(self._scaled(index, factor, size, access, scales=True))
        if not wide and not narrow:
            return (*found, *extra)
        rest = [*wide, *narrow]
        (kind, first), factor = rest[0]
        block = self._block_of(first)
        base = self._first(first)
        if kind or extra:  # a pointer that is carried along holds the base already
            base = self._sum("iadd64", extra[0] if extra else -1, first, factor, access, block)
        for (_, value), factor in rest[1:]:
            block = self._later(block, self._block_of(value))
            base = self._sum("iadd64", base, value, factor, access, block)
        return (*found, base)

    def _by_depth(self, terms: list[tuple[Term, int]]) -> list[tuple[Term, int]]:
        """Terms that change most often last."""
        order = self.values.cfg.index
        return sorted(
            terms,
            key=lambda t: (self.values.depth(t[0][1]), order[self._block_of(t[0][1])]),
        )

    def _scaled(
        self, value: Value, factor: int, size: int, access: Instruction, *, scales: bool
    ) -> int:
        """An index in units that the access scales, or that a sum can shift."""
        register = self._first(value)
        ratio = factor // size if factor % size == 0 else 0
        shifts = (1 << _MOST_SHIFT) if scales else 16
        if ratio > 0 and ratio & (ratio - 1) == 0 and ratio <= shifts:
            return register
        kind = "iadd" if _is_near_power(abs(factor)) or factor & (factor - 1) == 0 else ""
        return self._product(kind or "imul32_imad32", register, factor, access, value)

    def _product(
        self, kind: str, register: int, factor: int, access: Instruction, value: Value
    ) -> int:
        return self._shared(("product", register, factor), kind, (register,), access, value, 2)

    def _sum(
        self,
        kind: str,
        register: int,
        value: Value,
        factor: int,
        access: Instruction,
        block: Block,
    ) -> int:
        """A sum; a shift by up to four comes with it, other factors by a multiplication."""
        term = self._first(value)
        size = size_of(Scalar(access.element))
        ratio = abs(factor) // size if factor % size == 0 else abs(factor)
        if not (ratio & (ratio - 1) == 0 and ratio <= 16):
            if kind == "iadd":
                kind = "imul32_imad32"
            else:
                term = self._product("imul32_imad32", term, factor, access, value)
        key = (kind, register, term, factor)
        sources = tuple(r for r in (register, term) if r >= 0)
        halves = 4 if kind == "iadd64" else 2
        return self._shared(key, kind, sources, access, block, halves)

    def _shared(
        self,
        key: object,
        kind: str,
        sources: tuple[int, ...],
        access: Instruction,
        place: Value | Block,
        halves: int,
    ) -> int:
        known = self._sums.get(key)
        if known is not None:
            return known
        block = place if isinstance(place, Block) else self._block_of(place)
        register = self.code.register(halves)
        self.code.ops[block].append(Op(kind, register, sources, access.site))
        self._sums[key] = register
        return register

    def _first(self, value: Value) -> int:
        found = self.registers.get(value, ())
        return found[0] if found else -1

    def _block_of(self, value: Value) -> Block:
        assert isinstance(value, Instruction) and value.block is not None
        return value.block

    def _later(self, a: Block, b: Block) -> Block:
        """Of two blocks that both come before an access, the one that comes last."""
        return a if self.values.cfg.index[a] >= self.values.cfg.index[b] else b


def _is_sum(value: Instruction) -> bool:
    if value.type != "i64" or not value.operands:
        return False
    operation = value.operation
    if operation is OR:
        return is_disjoint(value)
    if operation in _PRODUCTS:
        return not isinstance(value.operands[1], Instruction)
    return operation in _SUMS


def _is_address(value: Value, user: object) -> bool:
    """Whether a value is used as an access's offset and for nothing else."""
    return (
        isinstance(user, Instruction)
        and user.operation.accesses_memory
        and user.operands[0] is value
        and value not in user.operands[1:]
    )


def _is_near_power(number: int) -> bool:
    """Whether a shift by up to four and an addition multiply by a number's odd part."""
    while number and number % 2 == 0:
        number //= 2
    return number in (3, 5, 9, 17)
