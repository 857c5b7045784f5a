"""What a program is to be reminded of: functions that the optimiser does not know."""

from __future__ import annotations

from .integers import ADD, MUL, SUB
from .number import I32, I64
from .operation import STRUCTURAL, Effect, OfOperands, Operation, Origin, Uninitialised, Variation

# Arguments that must be the same in all lanes.
UNIFORM = Operation(
    name="uniform",
    origin=Origin.MACHINE,
    types="X -> X",
    meaning=OfOperands(lambda types, o: o[0]),
    numbers=(I32,),
)
EXPECT_UNIFORM = Operation(
    name="expect_uniform",
    origin=Origin.MACHINE,
    types="X -> void",
    meaning=STRUCTURAL,
    numbers=(I64,),
    uninitialised=Uninitialised.CLEAN,
)
# How many simdgroups an operation of all of a threadgroup is of.
EXPECT_SIMDGROUPS = Operation(
    name="expect_simdgroups",
    origin=Origin.MACHINE,
    types="i32 -> void",
    meaning=STRUCTURAL,
    uninitialised=Uninitialised.CLEAN,
)
# An index of a tensor, which must be less than the second operand and not negative.
EXPECT_INSIDE = Operation(
    name="expect_inside",
    origin=Origin.MACHINE,
    types="i32 i32 -> void",
    meaning=STRUCTURAL,
    uninitialised=Uninitialised.CLEAN,
)
# The number of a lane that a shuffle reads, which must be less than the second operand.
LANE_OF = Operation(
    name="lane_of",
    origin=Origin.MACHINE,
    types="X #i32 -> X",
    meaning=OfOperands(lambda types, o: o[0]),
    numbers=(I32,),
)

# What the source makes a number of as many bits of as the second operand says.
NARROWED = Operation(
    name="narrowed",
    origin=Origin.MARK,
    types="I #I -> I",
    meaning=OfOperands(lambda types, o: o[0]),
    is_typed=True,
)

# An index within a row of as many elements as the second operand says.
IN_ROW = Operation(
    name="in_row",
    origin=Origin.MARK,
    types="I #I -> I",
    meaning=OfOperands(lambda types, o: o[0]),
    is_typed=True,
)

# What the accesses that follow are: see `layout.KIND_COPY` and its like. The bits above them are
# the number of a copy.
ACCESS_KIND = Operation(
    name="access_kind",
    origin=Origin.MACHINE,
    types="i32 -> void",
    meaning=STRUCTURAL,
    effect=Effect.ORDERS,
    uninitialised=Uninitialised.CLEAN,
)

# A variable's life begins without a value. The operand's upper bits tell variables apart, those
# below are the byte offset in the variable.
BEGINNING_SHIFT = 16
UNINITIALISED = Operation(
    name="uninitialised",
    origin=Origin.MARK,
    types="i32 -> T",
    meaning=OfOperands(lambda types, o: 0),
    is_typed=True,
    uninitialised=Uninitialised.BEGINS,
)


def _signed(plain: Operation) -> Operation:
    return Operation(
        name=f"signed_{plain.name}",
        origin=Origin.MARK,
        types="I I -> I",
        meaning=plain.meaning,
        is_typed=True,
    )


# Signed arithmetic as the source says it, which must not overflow.
SIGNED_ADD, SIGNED_SUB, SIGNED_MUL = (_signed(plain) for plain in (ADD, SUB, MUL))
PLAIN = {SIGNED_ADD: ADD, SIGNED_SUB: SUB, SIGNED_MUL: MUL}
"""What they are without the mark."""


def _observation(what: str, type: str = "i1") -> Operation:
    return Operation(
        name=f"observe_{what}",
        origin=Origin.ENGINE,
        types=f"{type} -> void",
        meaning=STRUCTURAL,
        effect=Effect.REPORTS,
        result=Variation.NEVER,
        uninitialised=Uninitialised.CLEAN,
    )


# The number of a read of memory by what its shadow says, 0 of what was written. The second operand
# is the offset.
READ_ORIGIN = Operation(
    name="read_origin",
    origin=Origin.ENGINE,
    types="I i64 -> i16",
    meaning=STRUCTURAL,
    has_root=True,
    uninitialised=Uninitialised.CLEAN,
)

# Reports of lanes for which a condition holds, or a number is not 0.
OBSERVE_UNINITIALISED = _observation("uninitialised", "i16")
OBSERVE_NON_UNIFORM = _observation("non_uniform")
OBSERVE_NAN_BORN = _observation("nan_born")
OBSERVE_INFINITY_BORN = _observation("infinity_born")
OBSERVE_INDEX_OVERFLOW = _observation("index_overflow")
OBSERVE_PARTIAL_SIMDGROUP = _observation("partial_simdgroup")
OBSERVE_ROW_OVERRUN = _observation("row_overrun")
OBSERVE_OTHER_SIMDGROUPS = _observation("other_simdgroups", "i32")
OBSERVE_OUTSIDE = _observation("outside")
# Calls that all simdgroups must make: who makes them is compared at barriers and at the end.
OBSERVE_TOGETHER = _observation("together")
