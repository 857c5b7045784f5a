"""Operations across the lanes of a simdgroup: shuffles, votes, reductions, scans and matrices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ..llvm_types import bits
from ..meaning import ieee
from ..meaning.lanes import LANES, active_lanes, clusters, multiply_accumulate, reduce, scan
from .floats import FADD, FMUL, MAXNUM, MINNUM
from .integers import ADD, AND, MUL, OR, SMAX, SMIN, UMAX, UMIN, XOR
from .number import F32, I16, I32, I64, U32, U64, Number
from .operation import (
    Column,
    Inactive,
    Lanes,
    Meeting,
    OfLanes,
    OfOperands,
    Operation,
    Origin,
    Reduction,
    Types,
    Uninitialised,
    Variation,
)

if TYPE_CHECKING:
    from ..nodes import Instruction

Meaning = Callable[["Instruction", Sequence[Column]], list[int]]


def _row(
    name: str,
    types: str,
    meaning: Meaning,
    *,
    numbers: tuple[Number, ...] = (),
    result: Variation = Variation.NEVER,
    uninitialised: Uninitialised,
    inactive: Inactive = Inactive.LEFT_OUT,
    reduction: Reduction | None = None,
) -> Operation:
    return Operation(
        name=name,
        origin=Origin.MACHINE,
        types=types,
        meaning=OfLanes(meaning),
        numbers=numbers,
        lanes=Lanes.CROSSING,
        result=result,
        uninitialised=uninitialised,
        inactive=inactive,
        meeting=Meeting.SIMDGROUP,
        reduction=reduction,
    )


# -- moving values --------------------------------------------------------------------------------

_MOVED = (I16, I32, I64)


def _shuffle(_: Instruction, columns: Sequence[Column]) -> list[int]:
    values, sources = columns
    return [0 if lane is None else values[lane % LANES] or 0 for lane in sources]


def _broadcast_first(_: Instruction, columns: Sequence[Column]) -> list[int]:
    return [columns[0][active_lanes(columns)[0]] or 0] * LANES


# The value of the lane that the second operand says, modulo 32.
SIMD_SHUFFLE = _row(
    "simd_shuffle",
    "X i32 -> X",
    _shuffle,
    numbers=_MOVED,
    result=Variation.AS_LAST,
    uninitialised=Uninitialised.TRAVELS,
    inactive=Inactive.READ,
)
SIMD_BROADCAST_FIRST = _row(
    "simd_broadcast_first",
    "X -> X",
    _broadcast_first,
    numbers=_MOVED,
    uninitialised=Uninitialised.TRAVELS,
)

# -- votes ----------------------------------------------------------------------------------------


def _ballot(_: Instruction, columns: Sequence[Column]) -> list[int]:
    return [sum(1 << lane for lane in active_lanes(columns) if columns[0][lane])] * LANES


def _active_mask(_: Instruction, columns: Sequence[Column]) -> list[int]:
    return [sum(1 << lane for lane in active_lanes(columns))] * LANES


SIMD_BALLOT = _row("simd_ballot", "i32 -> i64", _ballot, uninitialised=Uninitialised.DECIDES)
SIMD_ACTIVE_MASK = _row(
    "simd_active_mask", "-> i64", _active_mask, uninitialised=Uninitialised.CLEAN
)

# -- reductions and scans: the last operand is how many lanes make a cluster, 4 or 32 --------------


def _identity_of_sum(number: Number) -> int:
    return 0


def _identity_of_product(number: Number) -> int:
    return ieee.encode(1.0, number.type) if number.is_float else 1


def _identity_of_and(number: Number) -> int:
    return _largest(number)


def _identity_of_min(number: Number) -> int:
    if number.is_float:
        return ieee.encode(float("inf"), number.type)
    return _largest(number) >> 1 if number.is_signed else _largest(number)


def _identity_of_max(number: Number) -> int:
    if number.is_float:
        return ieee.encode(float("-inf"), number.type)
    return 1 << bits(number.type) - 1 if number.is_signed else 0


def _largest(number: Number) -> int:
    return (1 << bits(number.type)) - 1


def _combine(instruction: Instruction) -> Callable[[int, int], int]:
    """The operation of two operands, on an instruction's kind of number."""
    reduction, number = instruction.operation.reduction, instruction.number
    assert reduction is not None and number is not None
    meaning = reduction.combines(number).meaning
    assert isinstance(meaning, OfOperands)
    compute, types = meaning.compute, Types(number.type, number.type)
    return lambda a, b: compute(types, (a, b))


def _reduced(instruction: Instruction, columns: Sequence[Column]) -> list[int]:
    combine = _combine(instruction)
    return clusters(
        columns, _identity(instruction), lambda part: [reduce(part, combine)] * len(part)
    )


def _scanned_with(instruction: Instruction, columns: Sequence[Column]) -> list[int]:
    combine = _combine(instruction)
    return clusters(columns, _identity(instruction), lambda part: scan(part, combine))


def _scanned_without(instruction: Instruction, columns: Sequence[Column]) -> list[int]:
    combine, identity = _combine(instruction), _identity(instruction)
    return clusters(columns, identity, lambda part: [identity, *scan(part, combine)[:-1]])


def _identity(instruction: Instruction) -> int:
    reduction, number = instruction.operation.reduction, instruction.number
    assert reduction is not None and number is not None
    return reduction.identity(number)


def _reduction(
    name: str,
    numbers: tuple[Number, ...],
    integer: tuple[Operation, Operation],
    floating: Operation | None,
    identity: Callable[[Number], int],
) -> Operation:
    return _row(
        f"simd_{name}",
        "X #i32 -> X",
        _reduced,
        numbers=numbers,
        result=Variation.IN_CLUSTERS,
        uninitialised=Uninitialised.SPOILS_CLUSTER,
        reduction=Reduction(integer=integer, floating=floating, identity=identity),
    )


def _scan(
    name: str,
    integer: Operation,
    floating: Operation,
    identity: Callable[[Number], int],
    *,
    exclusive: bool,
) -> Operation:
    return _row(
        f"simd_prefix_{name}",
        "X #i32 -> X",
        _scanned_without if exclusive else _scanned_with,
        numbers=_ALL,
        result=Variation.ALWAYS,
        uninitialised=Uninitialised.SPOILS_FOLLOWING,
        reduction=Reduction(
            integer=(integer, integer),
            floating=floating,
            identity=identity,
            scans=True,
            exclusive=exclusive,
        ),
    )


_ALL = (F32, I32, U32, I64, U64)
_BITS = (U32, U64)
SIMD_SUM = _reduction("sum", _ALL, (ADD, ADD), FADD, _identity_of_sum)
SIMD_PRODUCT = _reduction("product", _ALL, (MUL, MUL), FMUL, _identity_of_product)
SIMD_MIN = _reduction("min", _ALL, (SMIN, UMIN), MINNUM, _identity_of_min)
SIMD_MAX = _reduction("max", _ALL, (SMAX, UMAX), MAXNUM, _identity_of_max)
SIMD_AND = _reduction("and", _BITS, (AND, AND), None, _identity_of_and)
SIMD_OR = _reduction("or", _BITS, (OR, OR), None, _identity_of_sum)
SIMD_XOR = _reduction("xor", _BITS, (XOR, XOR), None, _identity_of_sum)

SIMD_PREFIX_INCLUSIVE_SUM = _scan("inclusive_sum", ADD, FADD, _identity_of_sum, exclusive=False)
SIMD_PREFIX_EXCLUSIVE_SUM = _scan("exclusive_sum", ADD, FADD, _identity_of_sum, exclusive=True)
SIMD_PREFIX_INCLUSIVE_PRODUCT = _scan(
    "inclusive_product", MUL, FMUL, _identity_of_product, exclusive=False
)
SIMD_PREFIX_EXCLUSIVE_PRODUCT = _scan(
    "exclusive_product", MUL, FMUL, _identity_of_product, exclusive=True
)

# -- matrices -------------------------------------------------------------------------------------

# One of a lane's two elements of A * B + C: which one, then two elements each of A, B and C.
MMA = _row(
    "mma",
    "#i32 float float float float float float -> float",
    lambda _, columns: multiply_accumulate(columns),
    numbers=(F32,),
    result=Variation.ALWAYS,
    uninitialised=Uninitialised.SPOILS_PRODUCT,
)
