"""Whether two writes to one place write the same: bit patterns as functions of what is read.

Two threads that copy or convert the same element of memory that nobody writes leave the same bits,
whichever comes last. Operations on floating-point numbers are unknown functions here, of which only
is known that equal operands give equal results; so are loops that do nothing but compute. Those
that a compiler may round together with others are such functions for one instruction alone, in one
iteration of each loop: elsewhere, as in another copy of an unrolled loop, neighbours are others.
"""

from __future__ import annotations

from collections.abc import Sequence

from assay.sim.simt.ir.cfg import Loop
from assay.sim.simt.ir.llvm_types import is_float
from assay.sim.simt.ir.nodes import Constant, Instruction, Value
from assay.sim.simt.ir.operations.control import PHI, SELECT
from assay.sim.simt.ir.operations.conversions import FPEXT, FPTRUNC
from assay.sim.simt.ir.operations.floats import FABS, FADD, FDIV, FMA, FMUL, FNEG, FSUB
from assay.sim.simt.ir.operations.memory import COMPONENT, LOAD, STORE
from assay.sim.simt.ir.operations.operation import OfThread, Operation

from ..conditions import one_of
from ..counts import Count, Counts
from ..kernel import is_read_only
from ..loops import is_computed
from ..terms import Expression
from ..values import Values
from ..walks.made_of import made_of

_SUMS = frozenset({FADD, FSUB, FMA})
_PRODUCTS = frozenset({FMUL, FDIV})
_JOINED = {FADD: _SUMS | _PRODUCTS, FSUB: _SUMS | _PRODUCTS, FMUL: _SUMS | _PRODUCTS}
"""Of which operands' makers a compiler may make one expression."""
_PASSING = frozenset({PHI, SELECT, FNEG, FABS, FPEXT, FPTRUNC})
_MOST_VALUES = 500  # of a store; what more there is counts as unknown
_Key = frozenset[tuple[Loop, Count]]


def may_differ(
    a: Values, one: Instruction, here: Counts, b: Values, other: Instruction, there: Counts
) -> Expression:
    """Whether two stores that begin at the same byte may leave different bits there."""
    if not are_alike(one, other):
        return True
    mine, theirs = _Patterns(a, one), _Patterns(b, other)
    pairs = zip(one.operands[1:], other.operands[1:], strict=True)
    return one_of(*(mine.bits(x, here) != theirs.bits(y, there) for x, y in pairs))


def are_alike(one: Instruction, other: Instruction) -> bool:
    """Whether two accesses are stores of as many elements of one type."""
    stores = one.operation is STORE and other.operation is STORE
    return stores and one.components == other.components and one.element == other.element


class _Patterns:
    """Bit patterns of a thread's values, as terms.

    Args:
        values: the thread's.
        store: what writes them; a loop that it is not in has come to its end before.
    """

    def __init__(self, values: Values, store: Instruction) -> None:
        assert store.block is not None
        self._values = values
        self._around = values.kernel.around(store.block)
        self._known: dict[tuple[Value, _Key], Expression] = {}

    def bits(self, value: Value, counts: Counts) -> Expression:
        """A value's bit pattern."""
        from ..native.building import integer

        if isinstance(value, Constant):
            if value.number is not None:
                return value.number
            return integer(f"literal.{value.type}.{value.literal}")
        assert isinstance(value, Instruction) and value.block is not None
        known = self._values.counts_at(value.block, counts)
        key = (value, frozenset(known.items()))
        if key not in self._known:
            self._known[key] = self._bits(value, known)
        return self._known[key]

    def _bits(self, value: Instruction, counts: Counts) -> Expression:
        if len(self._known) < _MOST_VALUES and self._is_opaque(value):
            loop = self._left(value)
            if loop is None and (self._is_computed(value) or self._is_fixed(value)):
                return self._computed(value, counts)
            inputs = None if loop is None else self._inputs(loop)
            if loop is not None and inputs is not None:
                name = f"left.{self._values.facts.number_of(value)}"
                return self._applied(name, inputs, counts, self._copies_of(loop))
        if is_float(value.type):
            return self._values.term(value, counts).value
        return self._values.read(value, counts, "unsigned").value

    def _computed(self, value: Instruction, counts: Counts) -> Expression:
        if not _is_free(value):
            return self._applied(_name(value), value.operands, counts)
        name = f"{_name(value)}.{self._values.facts.number_of(value)}"
        return self._applied(name, value.operands, counts, list(counts))

    def _copies_of(self, loop: Loop) -> list[Loop]:
        """Loops around one that has come to its end, of whose iterations a compiler may make copies
        that are rounded in other ways.
        """
        if not any(_is_free(each) for block in loop.blocks for each in block.instructions()):
            return []
        return [each for each in self._values.kernel.around(loop.header) if each in self._around]

    def _applied(
        self, name: str, operands: Sequence[Value], counts: Counts, turns: Sequence[Loop] = ()
    ) -> Expression:
        """An unknown function, the same wherever it has this name, in the same turns of loops."""
        from ..native.building import applied

        given = [self.bits(each, counts) for each in operands]
        return applied(name, [*given, *(counts[loop].term.value for loop in turns)])

    def _is_computed(self, value: Instruction) -> bool:
        return is_computed(value) and bool(value.operands)

    def _is_fixed(self, value: Instruction) -> bool:
        """Whether it is read where nobody writes."""
        load = value.operands[0] if value.operation is COMPONENT else value
        if not isinstance(load, Instruction) or load.operation is not LOAD:
            return False
        return is_read_only(load.root, self._values.kernel.written)

    def _is_opaque(self, value: Instruction) -> bool:
        """Whether its term does not tell what it is: floating-point numbers go into it, or what a
        loop leaves behind.
        """
        return any(map(self._hides, made_of(value, self._parts)))

    def _hides(self, value: Value) -> bool:
        if not isinstance(value, Instruction):
            return False
        if self._left(value) is not None:
            return True
        parts = (value, *value.operands)
        return self._is_computed(value) and any(is_float(each.type) for each in parts)

    def _parts(self, value: Instruction) -> list[Value]:
        return value.operands if self._is_computed(value) or self._is_fixed(value) else []

    def _left(self, value: Instruction) -> Loop | None:
        """The outermost loop that a value is from and that has come to its end."""
        assert value.block is not None
        loops = self._values.kernel.around(value.block)
        return next((loop for loop in loops if loop not in self._around), None)

    def _inputs(self, loop: Loop) -> list[Value] | None:
        """What goes into a loop that does nothing but compute; None if it does more. What it leaves
        behind is a function of these.
        """
        if sum(each not in loop.blocks for each in loop.header.predecessors) != 1:
            return None  # where it begins is chosen outside
        found: dict[Value, None] = {}
        for block in sorted(loop.blocks, key=self._values.kernel.cfg.index.__getitem__):
            used = [] if block.condition is None else [block.condition]
            for each in block.instructions():
                if isinstance(each.operation.meaning, OfThread):
                    used.append(each)
                elif not (each.operation is PHI or self._is_computed(each) or self._is_fixed(each)):
                    return None
                else:
                    used += each.operands
            for value in used:
                own = isinstance(value, Instruction) and value.block in loop.blocks
                is_own = own and not _is_of_thread(value)
                if not is_own and not isinstance(value, Constant):
                    found[value] = None
        return list(found)


def _is_of_thread(value: Value) -> bool:
    return isinstance(value, Instruction) and isinstance(value.operation.meaning, OfThread)


def _is_free(value: Instruction) -> bool:
    """Whether a compiler may round it in several ways, or was free to: a sum together with a
    product, a quotient by way of an inverse, sums and products of others in another order.
    """
    if not value.contract:
        return False
    if value.operation in (FMA, FDIV):
        return True
    joined = _JOINED.get(value.operation, frozenset())
    return any(_may_be(each, joined) for each in value.operands)


def _may_be(value: Value, operations: frozenset[Operation]) -> bool:
    """Whether a value may be made by some operation, whichever way a thread came, or be one with
    another sign.
    """
    found = made_of(value, lambda each: each.operands if each.operation in _PASSING else ())
    return any(isinstance(each, Instruction) and each.operation in operations for each in found)


def _name(value: Instruction) -> str:
    """What an operation does, in so many words that two of one name do the same."""
    types = ",".join(each.type for each in value.operands)
    way = f"{value.predicate}.{value.contract}.{value.precise}.{sorted(value.flags)}"
    place = f"{value.root}.{value.element}.{value.components}.{value.index}"
    return f"bits.{value.operation.name}.{types}.{value.type}.{way}.{place}"
