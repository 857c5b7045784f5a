"""Operations across the lanes of a simdgroup: shuffles, votes, reductions, scans and matrices."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..analysis.linear_form import number_of
from ..ir.llvm_types import bits, is_float, mangled
from ..ir.meaning.ieee import decode
from ..ir.meaning.scalars import signed
from ..ir.nodes import Instruction, Value
from ..ir.operations.handlers import Handlers
from ..ir.operations.lanes import (
    MMA,
    SIMD_ACTIVE_MASK,
    SIMD_AND,
    SIMD_BALLOT,
    SIMD_BROADCAST_FIRST,
    SIMD_MAX,
    SIMD_MIN,
    SIMD_OR,
    SIMD_PREFIX_EXCLUSIVE_PRODUCT,
    SIMD_PREFIX_EXCLUSIVE_SUM,
    SIMD_PREFIX_INCLUSIVE_PRODUCT,
    SIMD_PREFIX_INCLUSIVE_SUM,
    SIMD_PRODUCT,
    SIMD_SHUFFLE,
    SIMD_SUM,
    SIMD_XOR,
)
from ..ir.operations.operation import Operation, Origin
from ..ir.shape import LANES, matrix_column, matrix_row
from .matrices.operands import added_to, element_of, left_of, right_of
from .matrices.waiting import HOLDER
from .text import literal, shuffle_mask, vector_of

if TYPE_CHECKING:
    from .vectorise import Vectoriser


class LaneOperations:
    """Emits the machine operations whose lanes see each other."""

    def __init__(self, vectoriser: Vectoriser) -> None:
        self.v = vectoriser
        self.text = vectoriser.text

    def emit(self, instruction: Instruction) -> tuple[str, bool]:
        """Emit an operation; returns (result, whether it is a vector)."""
        return LANE_OPERATIONS[instruction.operation](self, instruction)

    def active_mask(self) -> str:
        """The lanes that take part, as an `i32`."""
        return self.text.mask_bits(self.v.mask)

    def _select_active(self, type: str, value: str, identity: str) -> str:
        if self.v.mask == "splat (i1 true)":
            return value
        kind = vector_of(type)
        return self.text.let(
            f"select {vector_of('i1')} {self.v.mask}, {kind} {value}, "
            f"{kind} splat ({type} {identity})"
        )

    # -- moving values --------------------------------------------------------------------------

    def _shuffle(self, instruction: Instruction) -> tuple[str, bool]:
        value, source = instruction.operands
        text, type = self.text, value.type
        if not self.v.varying(value):
            return self.v.scalar(value), False
        vector = self.v.vector(value)
        if not self.v.varying(source):
            lane = text.let(f"and i32 {self.v.scalar(source)}, {LANES - 1}")
            return text.let(f"extractelement {vector_of(type)} {vector}, i32 {lane}"), False
        form = self.v.form(source)
        base = number_of(form.base) if form is not None else None
        if form is not None and base is not None and not form.terms and not form.guards:
            lanes = [(base + lane) % LANES for lane in form.lanes]
            return text.shuffle(type, vector, LANES, lanes), True
        return self._permute(type, vector, self.v.vector(source)), True

    def _permute(self, type: str, vector: str, lanes: str) -> str:
        """Lanes chosen at run time, through memory."""
        text = self.text
        kind = vector_of(type)
        place = text.slot(kind)
        text.do(f"store {kind} {vector}, ptr {place}")
        chosen = text.let(f"and {vector_of('i32')} {lanes}, splat (i32 {LANES - 1})")
        pointers = text.let(f"getelementptr {type}, ptr {place}, {vector_of('i32')} {chosen}")
        return text.call(
            kind,
            f"llvm.masked.gather.v{LANES}{mangled(type)}.v{LANES}p0",
            (vector_of("ptr"), pointers),
            (vector_of("i1"), "splat (i1 true)"),
            (kind, "poison"),
        )

    def _broadcast_first(self, instruction: Instruction) -> tuple[str, bool]:
        (value,) = instruction.operands
        if not self.v.varying(value):
            return self.v.scalar(value), False
        text = self.text
        first = text.call("i32", "llvm.cttz.i32", ("i32", self.active_mask()), ("i1", "false"))
        lane = text.let(f"and i32 {first}, {LANES - 1}")
        vector = self.v.vector(value)
        return text.let(f"extractelement {vector_of(value.type)} {vector}, i32 {lane}"), False

    def _active(self, instruction: Instruction) -> tuple[str, bool]:
        return self.text.let(f"zext i32 {self.active_mask()} to i64"), False

    def _ballot(self, instruction: Instruction) -> tuple[str, bool]:
        text = self.text
        predicate = self.v.vector(instruction.operands[0])
        kind = vector_of(instruction.operands[0].type)
        true = text.let(f"icmp ne {kind} {predicate}, zeroinitializer")
        voting = text.let(f"and {vector_of('i1')} {true}, {self.v.mask}")
        return text.let(f"zext i32 {text.mask_bits(voting)} to i64"), False

    # -- reductions -----------------------------------------------------------------------------

    def _combine(self, operation: Operation, type: str, a: str, b: str, count: int) -> str:
        kind = vector_of(type, count) if count > 1 else type
        if operation.origin is Origin.INSTRUCTION:
            return self.text.let(f"{operation.name} {kind} {a}, {b}")
        lanes = f"v{count}" if count > 1 else ""
        return self.text.call(
            kind, f"{operation.name}.{lanes}{mangled(type)}", (kind, a), (kind, b)
        )

    def _reduce(self, instruction: Instruction) -> tuple[str, bool]:
        combine, type, identity = _reduction(instruction)
        value = self._select_active(type, self.v.vector(instruction.operands[0]), identity)
        cluster = number_of(instruction.operands[1])
        if cluster == LANES:
            return self._reduce_all(combine, type, value), False
        for step in (2, 1):
            other = self.text.shuffle(type, value, LANES, [lane ^ step for lane in range(LANES)])
            value = self._combine(combine, type, value, other, LANES)
        return value, True

    def _reduce_all(self, combine: Operation, type: str, value: str) -> str:
        """A tree: each step adds the upper half of the lanes to the lower half."""
        text, count = self.text, LANES
        while count > 1:
            half = count // 2
            low = text.shuffle(type, value, count, range(half))
            high = text.shuffle(type, value, count, range(half, count))
            if half == 1:
                low, high = (
                    text.let(f"extractelement <1 x {type}> {part}, i64 0") for part in (low, high)
                )
            value = self._combine(combine, type, low, high, half)
            count = half
        return value

    def _prefix(self, instruction: Instruction) -> tuple[str, bool]:
        text = self.text
        combine, type, identity = _reduction(instruction)
        cluster = number_of(instruction.operands[1]) or LANES
        value = self._select_active(type, self.v.vector(instruction.operands[0]), identity)
        step = 1
        while step < cluster:
            moved = self._shifted(type, value, step, cluster, identity)
            combined = self._combine(combine, type, moved, value, LANES)
            reaching = [int(lane % cluster >= step) for lane in range(LANES)]
            value = text.let(
                f"select {vector_of('i1')} {literal('i1', reaching)}, "
                f"{vector_of(type)} {combined}, {vector_of(type)} {value}"
            )
            step *= 2
        if (
            instruction.operation.reduction is not None
            and instruction.operation.reduction.exclusive
        ):
            value = self._shifted(type, value, 1, cluster, identity)
        return value, True

    def _shifted(self, type: str, value: str, step: int, cluster: int, identity: str) -> str:
        """The value of the lane `step` below, in its cluster; the identity where there is none."""
        lanes = [lane - step if lane % cluster >= step else LANES + lane for lane in range(LANES)]
        kind = vector_of(type)
        return self.text.let(
            f"shufflevector {kind} {value}, {kind} splat ({type} {identity}), {shuffle_mask(lanes)}"
        )

    # -- matrices -------------------------------------------------------------------------------

    def _multiply_matrices(self, instruction: Instruction) -> tuple[str, bool]:
        """One of a lane's two elements of A * B + C: eight fused steps, k ascending.

        Both are computed side by side, for what they share; the other one mostly follows.
        """
        text, kind = self.text, vector_of("float")
        a, b = left_of(instruction), right_of(instruction)
        results = [self.v.vector(each) for each in added_to(instruction)]
        for k in range(8):
            left = self.v.moved(a[k % 2], _ROW_HOLDERS[k])
            for each in (0, 1):
                half = self._row(b[each], _COLUMN_HOLDERS[k])
                right = text.shuffle("float", half, len(_HALF), [*_HALF, *_HALF])
                results[each] = text.call(
                    kind,
                    f"llvm.fma.v{LANES}f32",
                    (kind, left),
                    (kind, right),
                    (kind, results[each]),
                )
        return results[element_of(instruction)], True

    def _row(self, value: Value, holders: tuple[int, ...]) -> str:
        """The elements of B's row for half of the lanes: one pair for each quarter of all."""
        place = self.v.shown(value)
        if place is None:
            return self.v.moved(value, holders)
        text, quarters = self.text, []
        for lane in holders[:: len(holders) // 2]:
            at = text.let(f"getelementptr float, ptr {place}, i64 {lane}")
            pair = text.let(f"load <2 x float>, ptr {at}, align 8")
            quarters.append(text.shuffle("float", pair, 2, [0, 1] * 4))
        return text.concatenate("float", quarters, len(holders) // 2)[0]


# For each step k and each lane, the lane that holds column k of its row, A's element.
_ROW_HOLDERS = [tuple(HOLDER[matrix_row(lane), k & ~1] for lane in range(LANES)) for k in range(8)]
# The same of row k of its columns, B's element: those of the lanes' first half, and of the second.
_HALF = range(LANES // 2)
_COLUMN_HOLDERS = [tuple(HOLDER[k, matrix_column(lane)] for lane in _HALF) for k in range(8)]
assert all(matrix_column(lane) == matrix_column(lane + len(_HALF)) for lane in _HALF)
assert all(
    holders == (*(holders[0], holders[0] + 1) * 4, *(holders[8], holders[8] + 1) * 4)
    for holders in _COLUMN_HOLDERS
)


def _reduction(instruction: Instruction) -> tuple[Operation, str, str]:
    """What combines two operands of a reduction, their type, and the literal of the identity."""
    reduction, number = instruction.operation.reduction, instruction.number
    assert reduction is not None and number is not None
    identity = _literal(number.type, reduction.identity(number))
    return reduction.combines(number), number.type, identity


def _literal(type: str, bits_: int) -> str:
    """Bits as LLVM writes them; of floats, which here are whole or infinite."""
    if not is_float(type):
        return str(signed(bits_, bits(type)))
    value = decode(bits_, type)
    (whole,) = struct.unpack("<Q", struct.pack("<d", value))
    return f"{value:.1f}" if value.is_integer() else f"0x{whole:016X}"


Emitter = Callable[[LaneOperations, Instruction], tuple[str, bool]]
LANE_OPERATIONS: Handlers[Emitter] = Handlers(
    "the emission of lane operations", lambda operation: operation.crosses_lanes
)
LANE_OPERATIONS.put((SIMD_SHUFFLE,), LaneOperations._shuffle)
LANE_OPERATIONS.put((SIMD_BROADCAST_FIRST,), LaneOperations._broadcast_first)
LANE_OPERATIONS.put((SIMD_BALLOT,), LaneOperations._ballot)
LANE_OPERATIONS.put((SIMD_ACTIVE_MASK,), LaneOperations._active)
LANE_OPERATIONS.put(
    (SIMD_SUM, SIMD_PRODUCT, SIMD_MIN, SIMD_MAX, SIMD_AND, SIMD_OR, SIMD_XOR),
    LaneOperations._reduce,
)
LANE_OPERATIONS.put(
    (
        SIMD_PREFIX_INCLUSIVE_SUM,
        SIMD_PREFIX_EXCLUSIVE_SUM,
        SIMD_PREFIX_INCLUSIVE_PRODUCT,
        SIMD_PREFIX_EXCLUSIVE_PRODUCT,
    ),
    LaneOperations._prefix,
)
LANE_OPERATIONS.put((MMA,), LaneOperations._multiply_matrices)
