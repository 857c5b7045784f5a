"""Instructions for what the IR calls operations of the machine: positions, lanes, reductions."""

from __future__ import annotations

from collections.abc import Callable

from assay.sim.simt.ir.llvm_types import bits
from assay.sim.simt.ir.nodes import Constant, Instruction, Value
from assay.sim.simt.ir.operations.conversions import FPEXT, SEXT, ZEXT
from assay.sim.simt.ir.operations.handlers import Handlers
from assay.sim.simt.ir.operations.integers import ASHR, LSHR, XOR
from assay.sim.simt.ir.operations.lanes import (
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
from assay.sim.simt.ir.operations.operation import OfThread, Operation
from assay.sim.simt.ir.operations.positions import (
    DISPATCH_SIMDGROUPS_PER_THREADGROUP,
    DISPATCH_THREADS_PER_THREADGROUP,
    MATRIX_COLUMN,
    MATRIX_ROW,
    SIMDGROUP_INDEX_IN_THREADGROUP,
    SIMDGROUPS_PER_THREADGROUP,
    THREAD_INDEX_IN_SIMDGROUP,
    THREAD_INDEX_IN_THREADGROUP,
    THREAD_POSITION_IN_GRID,
    THREAD_POSITION_IN_THREADGROUP,
    THREADGROUP_POSITION_IN_GRID,
    THREADGROUPS_PER_GRID,
    THREADS_PER_GRID,
    THREADS_PER_THREADGROUP,
)

from .lanes import RESIZES, stays_in_quads
from .values import Values

_QUAD = 4
_EXTENSIONS = frozenset({FPEXT, ZEXT, SEXT})
Chooser = Callable[[Instruction, Values], tuple[str, ...]]


def machine_classes(i: Instruction, values: Values) -> tuple[str, ...]:
    """The classes of an operation's instructions; each reads the one before."""
    return CLASSES[i.operation](i, values)


def _is_of_machine(operation: Operation) -> bool:
    positions = isinstance(operation.meaning, OfThread)
    return positions or (operation.crosses_lanes and operation is not MMA)


CLASSES: Handlers[Chooser] = Handlers("the classes of machine operations", _is_of_machine)


@CLASSES.of(MATRIX_ROW, MATRIX_COLUMN)
def _of_lane_number(i: Instruction, values: Values) -> tuple[str, ...]:
    return ("bitwise", "bitwise")


@CLASSES.of(
    THREAD_POSITION_IN_GRID,
    THREAD_POSITION_IN_THREADGROUP,
    THREAD_INDEX_IN_THREADGROUP,
    THREAD_INDEX_IN_SIMDGROUP,
    SIMDGROUP_INDEX_IN_THREADGROUP,
    SIMDGROUPS_PER_THREADGROUP,
    THREADGROUP_POSITION_IN_GRID,
    THREADGROUPS_PER_GRID,
    THREADS_PER_GRID,
    THREADS_PER_THREADGROUP,
    DISPATCH_THREADS_PER_THREADGROUP,
    DISPATCH_SIMDGROUPS_PER_THREADGROUP,
)
def _from_special_register(i: Instruction, values: Values) -> tuple[str, ...]:
    return ("move",)


@CLASSES.of(SIMD_BROADCAST_FIRST)
def _broadcast(i: Instruction, values: Values) -> tuple[str, ...]:
    return ("shuffle_fixed",)


@CLASSES.of(SIMD_BALLOT, SIMD_ACTIVE_MASK)
def _vote(i: Instruction, values: Values) -> tuple[str, ...]:
    return ("quad_ballot",) if _serves_quads(i, values) else ("ballot",)


@CLASSES.of(SIMD_SHUFFLE)
def _shuffle(i: Instruction, values: Values) -> tuple[str, ...]:
    lane = i.operands[1]
    same = values.is_early(lane) or not values.divergence.is_varying(lane)
    if stays_in_quads(lane, values.lane_only) and not _is_mirrored(lane):
        kind = "quad_shuffle"
    else:
        kind = "shuffle_fixed" if same or lane in values.lane_only else "shuffle_dynamic"
    return (kind,) * (2 if i.type == "i64" else 1)


def _is_mirrored(lane: Value) -> bool:
    """Whether lanes are exchanged by a mask, which the machine does over all lanes."""
    return isinstance(lane, Instruction) and lane.operation is XOR


@CLASSES.of(SIMD_PREFIX_INCLUSIVE_SUM, SIMD_PREFIX_INCLUSIVE_PRODUCT)
def _scan(i: Instruction, values: Values) -> tuple[str, ...]:
    return _twice_if_long(i, f"{_lanes(i)}_prefix")


@CLASSES.of(SIMD_PREFIX_EXCLUSIVE_SUM, SIMD_PREFIX_EXCLUSIVE_PRODUCT)
def _exclusive_scan(i: Instruction, values: Values) -> tuple[str, ...]:
    return _twice_if_long(i, f"{_lanes(i)}_prefix_exclusive")


@CLASSES.of(SIMD_SUM)
def _sum(i: Instruction, values: Values) -> tuple[str, ...]:
    kind = "f" if _is_float(i) else "i"
    return _twice_if_long(i, f"{_lanes(i)}_sum_{kind}{_width(i.operands[0])}")


@CLASSES.of(SIMD_PRODUCT)
def _product(i: Instruction, values: Values) -> tuple[str, ...]:
    return _sum(i, values) if _is_float(i) else _twice_if_long(i, f"{_lanes(i)}_product_i32")


@CLASSES.of(SIMD_MIN, SIMD_MAX, SIMD_AND, SIMD_OR, SIMD_XOR)
def _by_bits(i: Instruction, values: Values) -> tuple[str, ...]:
    """Minima and maxima of floats are taken to cost what sums do; of integers, what bits do."""
    if _is_float(i):
        return _sum(i, values)
    return _twice_if_long(i, f"{_lanes(i)}_bitwise_{_width(i.operands[0])}")


def _lanes(i: Instruction) -> str:
    """Whether all 32 lanes take part in one result, or four."""
    return "quad" if _number(i.operands[-1]) == _QUAD else "simd"


def _is_float(i: Instruction) -> bool:
    return i.number is not None and i.number.is_float


def _twice_if_long(i: Instruction, kind: str) -> tuple[str, ...]:
    return (kind,) * (2 if i.type == "i64" else 1)


def _width(value: Value) -> int:
    """Bits of what is reduced, which the IR has extended to 32."""
    if not isinstance(value, Instruction):
        return 32
    if value.operation in _EXTENSIONS:
        return min(32, max(16, bits(value.operands[0].type)))
    # A shift to the left and back: the sign of 16 bits is copied.
    half = value.operation is ASHR and _number(value.operands[1]) == 16
    return 16 if half else 32


def _serves_quads(ballot: Instruction, values: Values) -> bool:
    """Whether all that is read of a vote is the part of a thread's quad."""
    work = list(values.users_of(ballot))
    if not work:
        return False
    while work:
        user = work.pop()
        if not isinstance(user, Instruction):
            return False
        if user.operation in RESIZES:
            work += values.users_of(user)
        elif user.operation is not LSHR or not _is_lane_only(user.operands[1], values):
            return False
    return True


def _is_lane_only(value: Value, values: Values) -> bool:
    while isinstance(value, Instruction) and value.operation in RESIZES:
        value = value.operands[0]
    return value in values.lane_only


def _number(value: Value) -> int | None:
    return value.number if isinstance(value, Constant) else None
