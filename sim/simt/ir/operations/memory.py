"""Plain accesses to memory, and addresses."""

from __future__ import annotations

from .operation import (
    ANYWHERE,
    STRUCTURAL,
    WRITABLE,
    Effect,
    Operation,
    Origin,
    Uninitialised,
    Variation,
)

# The value is the first of the instruction's `components`; the others are COMPONENT of it.
LOAD = Operation(
    name="load",
    origin=Origin.INSTRUCTION,
    types="i64 -> T",
    meaning=STRUCTURAL,
    effect=Effect.READS,
    spaces=ANYWHERE,
    result=Variation.AS_MEMORY,
    uninitialised=Uninitialised.FROM_MEMORY,
)
STORE = Operation(
    name="store",
    origin=Origin.INSTRUCTION,
    types="i64 T T... -> void",
    meaning=STRUCTURAL,
    effect=Effect.WRITES,
    spaces=WRITABLE,
    uninitialised=Uninitialised.CLEAN,
)
# Number `index` of what a load gives.
COMPONENT = Operation(
    name="component",
    origin=Origin.ENGINE,
    types="T -> T",
    meaning=STRUCTURAL,
    uninitialised=Uninitialised.FROM_MEMORY,
)
# The GPU address where the root starts.
ADDRESS = Operation(
    name="address", origin=Origin.ENGINE, types="-> i64", meaning=STRUCTURAL, has_root=True
)
# Where a GPU address is on the host, and how many bytes its buffer has from there.
LOOKUP_HOST = Operation(
    name="lookup_host", origin=Origin.ENGINE, types="i64 -> ptr", meaning=STRUCTURAL
)
LOOKUP_AVAILABLE = Operation(
    name="lookup_available", origin=Origin.ENGINE, types="i64 -> i64", meaning=STRUCTURAL
)
