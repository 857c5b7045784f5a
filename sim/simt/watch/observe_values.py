"""Observations of values: NaN and infinity born, indices that overflow, arguments that differ."""

from __future__ import annotations

from ...check.layout import KIND_BITS, KIND_COPY
from ..ir.insertion import Inserter, Numbering
from ..ir.nodes import Block, Constant, Function, Instruction, Value, integer
from ..ir.operations.control import PHI, SELECT
from ..ir.operations.floats import FABS, FCMP
from ..ir.operations.integers import ADD, AND, ICMP, MUL, OR, SHL, SUB, XOR
from ..ir.operations.lanes import MMA, SIMD_ACTIVE_MASK, SIMD_BROADCAST_FIRST
from ..ir.operations.marks import (
    ACCESS_KIND,
    EXPECT_INSIDE,
    EXPECT_SIMDGROUPS,
    EXPECT_UNIFORM,
    IN_ROW,
    LANE_OF,
    NARROWED,
    OBSERVE_INFINITY_BORN,
    OBSERVE_NAN_BORN,
    OBSERVE_NON_UNIFORM,
    OBSERVE_OTHER_SIMDGROUPS,
    OBSERVE_OUTSIDE,
    OBSERVE_PARTIAL_SIMDGROUP,
    OBSERVE_TOGETHER,
    UNIFORM,
)
from ..ir.operations.memory import COMPONENT, LOAD, STORE
from ..ir.operations.operation import Operation, Origin
from ..ir.passes import rewrites
from ..ir.shape import LANES, Shape
from .observe_overflows import observe_overflows
from .observe_rows import RowOverruns

_EXPECTED = frozenset({UNIFORM, EXPECT_UNIFORM})
_MARKS = _EXPECTED | {EXPECT_SIMDGROUPS, EXPECT_INSIDE, NARROWED, IN_ROW}
# What simdgroup matrices are loaded, stored and multiplied by.
_OF_MATRICES = frozenset({EXPECT_UNIFORM, MMA})
_EVERY_LANE = (1 << LANES) - 1
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
def observe_values(
    function: Function, shape: Shape, observers: frozenset[str], number: Numbering
) -> None:
    """Add the observations that `observers` ask for.

    Args:
        function: changed in place.
        shape: of the threadgroups that it is compiled for.
        observers: names of checks.
        number: gives the number of a source place.
    """
    if "nan" in observers:
        _Births(function, number).visit()
    if "overflow" in observers:
        observe_overflows(function, number)
    if "rows" in observers:
        RowOverruns(function, number).visit()
    if "bounds" in observers:
        _Outside(function, number).visit()
    if "uniform" in observers:
        _Uniformity(function, number).visit()
    if "shuffle" in observers:
        _WholeSimdgroups(function, shape, number).visit()
    drop_marks(function, _MARKS if "race" in observers else _MARKS | {ACCESS_KIND})


@rewrites
def drop_lane_marks(function: Function) -> None:
    """Forget which numbers are those of lanes: shuffles are known by their patterns."""
    drop_marks(function, frozenset({LANE_OF}))


@rewrites
def drop_marks(function: Function, marks: frozenset[Operation]) -> None:
    """Replace arguments that were marked by themselves."""
    marked = {i: i.operands[0] for i in function.instructions() if i.operation in marks}
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
        if instruction.operation not in _EXPECTED:
            return
        value = instruction.operands[0]
        first = self.emit(SIMD_BROADCAST_FIRST, value.type, value, number=instruction.number)
        self.observe(OBSERVE_NON_UNIFORM, self.emit(ICMP, "i1", value, first, predicate="ne"))


class _Outside(Inserter):
    """Indices of tensors are compared with their extents."""

    def before(self, instruction: Instruction) -> None:
        if instruction.operation is EXPECT_INSIDE:
            beyond = self.emit(ICMP, "i1", *instruction.operands, predicate="uge")
            self.observe(OBSERVE_OUTSIDE, beyond)


class _WholeSimdgroups(Inserter):
    """Functions of simdgroup matrices and asynchronous copies: all 32 lanes call them together.

    Within a block the lanes stay the same: its first function tells of all. Operations on tensors
    of several simdgroups are of all that their threadgroup has, and called by all of them.
    """

    def __init__(self, function: Function, shape: Shape, number: Numbering) -> None:
        super().__init__(function, number)
        self._there = integer("i32", shape.simdgroups)
        self._seen: set[Block] = set()

    def before(self, instruction: Instruction) -> None:
        if instruction.operation is EXPECT_SIMDGROUPS:
            self._compare_simdgroups(instruction.operands[0])
        if _may_begin_copy(instruction):
            self.observe(OBSERVE_PARTIAL_SIMDGROUP, self._copy_in_part(instruction.operands[0]))
        if instruction.operation not in _OF_MATRICES or self.block in self._seen:
            return
        self._seen.add(self.block)
        self.observe(OBSERVE_PARTIAL_SIMDGROUP, self._some_miss())

    def _some_miss(self) -> Value:
        active = self.emit(SIMD_ACTIVE_MASK, "i64")
        return self.emit(ICMP, "i1", active, integer("i64", _EVERY_LANE), predicate="ne")

    def _copy_in_part(self, mark: Value) -> Value:
        """Whether accesses that follow are those of a copy by some of the lanes."""
        kind = self.emit(AND, "i32", mark, integer("i32", (1 << KIND_BITS) - 1))
        is_copy = self.emit(ICMP, "i1", kind, integer("i32", KIND_COPY), predicate="eq")
        return self.emit(AND, "i1", is_copy, self._some_miss())

    def _compare_simdgroups(self, expected: Value) -> None:
        differs = self.emit(ICMP, "i1", self._there, expected, predicate="ne")
        told = self.emit(SELECT, "i32", differs, expected, integer("i32", 0))
        self.observe(OBSERVE_OTHER_SIMDGROUPS, told)
        matches = self.emit(XOR, "i1", differs, integer("i1", 1))
        self.observe(OBSERVE_TOGETHER, matches)


def _may_begin_copy(mark: Instruction) -> bool:
    """Whether a mark may say that a copy begins; those of texels and of a copy's end do not."""
    if mark.operation is not ACCESS_KIND:
        return False
    kind = mark.operands[0]
    number = kind.number if isinstance(kind, Constant) else None
    return number is None or number % (1 << KIND_BITS) == KIND_COPY


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
