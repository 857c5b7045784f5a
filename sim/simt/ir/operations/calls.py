"""Calls of functions that stand apart: what they take, what they give, and the calls themselves.

Such a function computes from numbers alone, with tables of constants at most.
"""

from __future__ import annotations

from .operation import STRUCTURAL, Operation, Origin, Variation

# The instruction's `function` is a key of `Function.apart`.
CALL = Operation(
    name="call",
    origin=Origin.INSTRUCTION,
    types="T... -> U",
    meaning=STRUCTURAL,
    makes_nan=True,
)
# Number `index` of what a function that stands apart was called with.
PARAMETER = Operation(
    name="parameter",
    origin=Origin.ENGINE,
    types="-> T",
    meaning=STRUCTURAL,
    result=Variation.ALWAYS,
)
# What the function gives to the lanes that come here, which then are done with it.
RETURN = Operation(name="return", origin=Origin.ENGINE, types="T -> void", meaning=STRUCTURAL)
