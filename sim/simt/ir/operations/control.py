"""Choices between values."""

from __future__ import annotations

from .operation import STRUCTURAL, OfOperands, Operation, Origin, Uninitialised, Variation

# Operands in the order of the block's predecessors.
PHI = Operation(
    name="phi",
    origin=Origin.INSTRUCTION,
    types="T... -> T",
    meaning=STRUCTURAL,
    result=Variation.AS_EDGES,
    uninitialised=Uninitialised.MERGES,
)
SELECT = Operation(
    name="select",
    origin=Origin.INSTRUCTION,
    types="i1 T T -> T",
    meaning=OfOperands(lambda types, o: o[1] if o[0] else o[2]),
    uninitialised=Uninitialised.CHOOSES,
)
