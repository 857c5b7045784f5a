"""Observations of values: NaN and infinity born, indices that overflow, arguments that differ."""

from __future__ import annotations

from ..analysis.offsets import EXTENSIONS
from ..ir.insertion import Inserter, Numbering
from ..ir.llvm_types import bits
from ..ir.nodes import Constant, Function, Instruction, Value, integer
from ..ir.operations.control import PHI
from ..ir.operations.conversions import SEXT, ZEXT
from ..ir.operations.floats import FABS, FCMP
from ..ir.operations.integers import ADD, AND, ICMP, MUL, OR, SHL, SUB, XOR
from ..ir.operations.lanes import SIMD_BROADCAST_FIRST
from ..ir.operations.marks import (
    EXPECT_UNIFORM,
    OBSERVE_INDEX_OVERFLOW,
    OBSERVE_INFINITY_BORN,
    OBSERVE_NAN_BORN,
    OBSERVE_NON_UNIFORM,
    PLAIN,
    UNIFORM,
)
from ..ir.operations.memory import COMPONENT, LOAD, STORE
from ..ir.operations.operation import Operation, Origin
from ..ir.passes import rewrites

_MARKS = frozenset({UNIFORM, EXPECT_UNIFORM})
_LEAVES = frozenset({LOAD, COMPONENT, PHI})
_OUTSIDE = frozenset({Origin.MACHINE, Origin.MARK, Origin.ENGINE})
_FROM_MEMORY = frozenset({LOAD, COMPONENT})
_SHOWS = frozenset({STORE, PHI})
_WRAPS = frozenset({ADD, SUB, MUL, SHL})
_ARITHMETIC = frozenset({ADD, SUB, MUL})
_INFINITY = {"float": "0x7FF0000000000000", "half": "0xH7C00", "double": "0x7FF0000000000000"}
_MAX_STEPS = 256
_MAX_DEPTH = 12
_MAX_OWN_STEPS = 3  # instructions that an operator of the language becomes


@rewrites
def observe_values(function: Function, observers: frozenset[str], number: Numbering) -> None:
    """Add the observations that `observers` ask for.

    Args:
        function: changed in place.
        observers: names of checks.
        number: gives the number of a source place.
    """
    if "nan" in observers:
        _Births(function, number).visit()
    if "overflow" in observers:
        _SignedOverflows(function, number).visit()
        _Overflows(function, number).visit()
    if "uniform" in observers:
        _Uniformity(function, number).visit()
    drop_uniform_marks(function)


@rewrites
def drop_uniform_marks(function: Function) -> None:
    """Replace arguments that were marked as uniform by themselves."""
    marked = {i: i.operands[0] for i in function.instructions() if i.operation in _MARKS}
    if not marked:
        return

    def plain(value: Value) -> Value:
        while isinstance(value, Instruction) and value in marked:
            value = marked[value]
        return value

    for block in function.blocks:
        block.body = [i for i in block.body if i not in marked]
        for instruction in block.instructions():
            instruction.operands = [plain(operand) for operand in instruction.operands]
        if block.condition is not None:
            block.condition = plain(block.condition)


class _Uniformity(Inserter):
    """Arguments that must be the same in all lanes are compared with the first lane's."""

    def before(self, instruction: Instruction) -> None:
        if instruction.operation not in _MARKS:
            return
        value = instruction.operands[0]
        first = self.emit(SIMD_BROADCAST_FIRST, value.type, value, number=instruction.number)
        self.observe(OBSERVE_NON_UNIFORM, self.emit(ICMP, "i1", value, first, predicate="ne"))


class _Births(Inserter):
    """A result that is NaN or infinite though nothing that it was computed from is.

    What has one place in the source, such as a call of a function of the Metal library, is seen
    from outside: what goes in, and what comes out.
    """

    def __init__(self, function: Function, number: Numbering) -> None:
        super().__init__(function, number)
        self._results = _results(function)

    def after(self, instruction: Instruction) -> None:
        if instruction not in self._results:
            return
        sources, creates = _sources(instruction)
        if not creates:
            return
        for what, test in (
            (OBSERVE_NAN_BORN, self._is_nan),
            (OBSERVE_INFINITY_BORN, self._is_infinite),
        ):
            condition = test(instruction)
            for source in sources:
                # From infinity may come NaN, which is its own birth; from NaN comes nothing new.
                bad = self._is_nan(source)
                if what is OBSERVE_INFINITY_BORN:
                    bad = self.emit(OR, "i1", bad, self._is_infinite(source))
                fine = self.emit(XOR, "i1", bad, integer("i1", 1))
                condition = self.emit(AND, "i1", condition, fine)
            self.observe(what, condition)

    def _is_nan(self, value: Value) -> Value:
        return self.emit(FCMP, "i1", value, value, predicate="uno")

    def _is_infinite(self, value: Value) -> Value:
        size = self.emit(FABS, value.type, value)
        limit = Constant(value.type, _INFINITY[value.type], None)
        return self.emit(FCMP, "i1", size, limit, predicate="oeq")


def _results(function: Function) -> set[Instruction]:
    """Numbers that something at another place uses."""
    found: set[Instruction] = set()
    for instruction in function.instructions():
        for operand in instruction.operands:
            if (
                isinstance(operand, Instruction)
                and operand.type in _INFINITY
                and (operand.site != instruction.site or instruction.operation in _SHOWS)
            ):
                found.add(operand)
    return found


def _sources(result: Instruction) -> tuple[list[Value], bool]:
    """(numbers from elsewhere that a result is computed from, whether anything is computed)."""
    sources: dict[Value, None] = {}
    seen: set[Value] = set()
    creates, work, steps = False, [result], 0
    while work and len(seen) < _MAX_STEPS:
        instruction = work.pop()
        steps += 1
        creates = creates or instruction.operation.makes_nan
        for operand in instruction.operands:
            if operand in seen:
                continue
            seen.add(operand)
            inner = isinstance(operand, Instruction) and operand.site == result.site
            if inner and isinstance(operand, Instruction) and not _is_leaf(operand):
                work.append(operand)
            elif operand.type in _INFINITY:
                sources[operand] = None
    if steps > _MAX_OWN_STEPS:  # a library's function, whose constants are its own affair
        return [source for source in sources if not isinstance(source, Constant)], True
    return list(sources), creates


def _is_leaf(instruction: Instruction) -> bool:
    """Whether a number is given, not computed."""
    return instruction.operation in _LEAVES or instruction.operation.origin in _OUTSIDE


class _SignedOverflows(Inserter):
    """Signed sums and products that an address depends on, and that do not fit their type."""

    def __init__(self, function: Function, number: Numbering) -> None:
        super().__init__(function, number)
        self._indices = _index_values(function)

    def after(self, instruction: Instruction) -> None:
        operation = PLAIN.get(instruction.operation)
        if operation is None:
            return
        instruction.operation = operation
        if instruction not in self._indices:
            return
        wide = f"i{2 * bits(instruction.type)}"
        left, right = (self.emit(SEXT, wide, operand) for operand in instruction.operands)
        exact = self.emit(operation, wide, left, right)
        found = self.emit(SEXT, wide, instruction)
        self.observe(OBSERVE_INDEX_OVERFLOW, self.emit(ICMP, "i1", exact, found, predicate="ne"))


def _index_values(function: Function) -> set[Value]:
    """Everything that the address of some access is computed from."""
    found: set[Value] = set()
    work = [
        instruction.operands[0]
        for instruction in function.instructions()
        if instruction.operation.accesses_memory
    ]
    while work:
        value = work.pop()
        if value in found or not isinstance(value, Instruction):
            continue
        found.add(value)
        if value.operation not in _FROM_MEMORY:
            work += value.operands
    return found


class _Overflows(Inserter):
    """Indices of 32 bits that are not what the same arithmetic gives without a limit."""

    def before(self, instruction: Instruction) -> None:
        if not instruction.operation.accesses_memory:
            return
        for widened in _widened(instruction.operands[0]):
            index = widened.operands[0]
            if not _is_arithmetic(index):
                continue
            exact = [self._exact(index, extend) for extend in (ZEXT, SEXT)]
            differs: Value = integer("i1", 1)
            for value in exact:
                other = self.emit(ICMP, "i1", value, widened, predicate="ne")
                differs = self.emit(AND, "i1", differs, other)
            self.observe(OBSERVE_INDEX_OVERFLOW, differs)

    def _exact(self, value: Value, extend: Operation, depth: int = 0) -> Value:
        """A value of 32 bits computed in 64; what it starts from counts as unsigned or signed."""
        if isinstance(value, Constant):
            number = value.number or 0
            return integer("i64", number - (1 << 32) if number >> 31 else number)
        if not _is_arithmetic(value) or depth > _MAX_DEPTH:
            return self.emit(extend, "i64", value)
        assert isinstance(value, Instruction)
        left, right = (self._exact(operand, extend, depth + 1) for operand in value.operands)
        if value.operation is XOR:  # with -1: what the optimiser makes of `-1 - x`
            return self.emit(SUB, "i64", right, left)
        return self.emit(ADD if value.operation is OR else value.operation, "i64", left, right)


def _widened(offset: Value) -> list[Instruction]:
    """The extensions to 64 bits that a byte offset is computed from."""
    found: list[Instruction] = []
    work, seen = [offset], 0
    while work and seen < _MAX_STEPS:
        value = work.pop()
        seen += 1
        if not isinstance(value, Instruction) or value.type != "i64":
            continue
        if value.operation in EXTENSIONS:
            if value.operands[0].type == "i32":
                found.append(value)
        elif value.operation in _WRAPS:
            work += value.operands
    return found


def _is_arithmetic(value: Value) -> bool:
    """Whether a value is a sum, difference or product, as the optimiser may write it."""
    if not isinstance(value, Instruction) or value.type != "i32":
        return False
    last = value.operands[-1] if value.operands else None
    number = last.number if isinstance(last, Constant) else None
    if value.operation is XOR:
        return number == (1 << 32) - 1
    if value.operation is OR:
        return "disjoint" in value.flags
    if value.operation is SHL:
        return number is not None
    return value.operation in _ARITHMETIC
