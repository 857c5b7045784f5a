"""The table: every operation by its name, and what names in programs stand for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType, ModuleType

from . import (
    atomics,
    calls,
    control,
    conversions,
    floats,
    functions,
    integers,
    lanes,
    marks,
    memory,
    positions,
    synchronisation,
)
from .number import Number
from .operation import Operation, Origin

_GROUPS = (
    calls,
    control,
    memory,
    integers,
    floats,
    conversions,
    positions,
    lanes,
    atomics,
    synchronisation,
    functions,
    marks,
)


@dataclass(frozen=True, slots=True)
class Spelled:
    """What a name in a program stands for."""

    operation: Operation
    number: Number | None = None
    precise: bool = False


def _rows(group: ModuleType) -> Iterator[Operation]:
    for value in vars(group).values():
        if isinstance(value, Operation):
            yield value


def _table() -> Mapping[str, Operation]:
    found: dict[str, Operation] = {}
    for group in _GROUPS:
        for row in _rows(group):
            if found.setdefault(row.name, row) is not row:
                raise ValueError(f"two operations are called '{row.name}'")
    return MappingProxyType(found)


OPERATIONS = _table()
INSTRUCTIONS = {o.name: o for o in OPERATIONS.values() if o.origin is Origin.INSTRUCTION}
"""LLVM's instructions."""
INTRINSICS = {o.name: o for o in OPERATIONS.values() if o.origin is Origin.INTRINSIC}
"""LLVM's intrinsic functions, by their names without types."""


def _spelled() -> Mapping[str, Spelled]:
    """All names of machine operations and marks that can be listed."""
    found: dict[str, Spelled] = {}
    for row in OPERATIONS.values():
        if row.origin not in (Origin.MACHINE, Origin.MARK) or row.is_typed:
            continue
        if row.is_listed:
            found[row.name] = Spelled(row)
            name = f"{functions.PREFIX}{functions.PRECISE}{row.name.removeprefix(functions.PREFIX)}"
            found[name] = Spelled(row, precise=True)
        elif row.numbers:
            found |= {f"{row.name}_{each}": Spelled(row, each) for each in row.numbers}
        else:
            found[row.name] = Spelled(row)
    return MappingProxyType(found)


MACHINE = _spelled()


def find_machine(name: str) -> Spelled | None:
    """What `simd_min_u32` or `math_precise_exp.float.float` stands for; None if for nothing."""
    known = MACHINE.get(name.split(".")[0])
    if known is not None:
        return known if known.operation.is_listed == ("." in name) else None
    row = OPERATIONS.get(name.rpartition("_")[0])
    return Spelled(row) if row is not None and row.is_typed else None


def spelling(operation: Operation, number: Number | None) -> str:
    """The name in a program, less types: `simd_min_u32`."""
    return operation.name if number is None else f"{operation.name}_{number}"
