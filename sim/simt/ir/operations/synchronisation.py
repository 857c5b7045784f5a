"""Barriers and fences."""

from __future__ import annotations

from .operation import STRUCTURAL, Effect, Meeting, Operation, Origin, Uninitialised

# Operand: mem_flags of what it orders.
THREADGROUP_BARRIER = Operation(
    name="threadgroup_barrier",
    origin=Origin.MACHINE,
    types="i32 -> void",
    meaning=STRUCTURAL,
    effect=Effect.ORDERS,
    meeting=Meeting.THREADGROUP,
    uninitialised=Uninitialised.CLEAN,
)
SIMDGROUP_BARRIER = Operation(
    name="simdgroup_barrier",
    origin=Origin.MACHINE,
    types="i32 -> void",
    meaning=STRUCTURAL,
    effect=Effect.ORDERS,
    meeting=Meeting.SIMDGROUP,
    uninitialised=Uninitialised.CLEAN,
)
# Operands: mem_flags, memory order, scope of threads.
FENCE = Operation(
    name="fence",
    origin=Origin.MACHINE,
    types="i32 i32 i32 -> void",
    meaning=STRUCTURAL,
    effect=Effect.ORDERS,
    uninitialised=Uninitialised.CLEAN,
)
