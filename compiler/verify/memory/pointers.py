"""Memory behind pointers that arguments hold at known places, such as those of argument buffers."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from assay.sim.simt.ir.nodes import (
    THREADGROUP_ROOTS,
    AddressRoot,
    BufferRoot,
    Constant,
    ConstantRoot,
    Function,
    Instruction,
    Root,
    ThreadgroupRoot,
    Value,
    is_private,
)
from assay.sim.simt.ir.operations.integers import ADD
from assay.sim.simt.ir.operations.memory import ADDRESS, LOAD

from ..walks.made_of import choices, made_of

_FIRST = 1 << 16  # number that pointed memory gets among parameters, of which there are fewer
_DEVICE_SPACES = (0, 1, 2, 6)  # any memory, that of buffers, and constant memory


@dataclass(frozen=True, slots=True)
class Place:
    """Where a pointer that an argument holds leads to.

    Attributes:
        memory: a number, the same for pointers into the same memory.
        start: the byte of that memory which it points to.
        name: what people call the memory.
    """

    memory: int
    start: int
    name: str


Pointers = Mapping[tuple[int, int], Place]
"""Places by the number of the parameter and the byte of it at which the pointer is."""


@dataclass(frozen=True, slots=True)
class PointedRoot(BufferRoot):
    """Memory that a pointer in an argument leads to, from byte `first` of that memory on.

    Pointers to one memory have equal roots, so that `first` has to be added to offsets.
    """

    first: int = field(default=0, compare=False)


def start_of(root: Root | None) -> int:
    """What has to be added to the offsets of accesses behind a root."""
    if isinstance(root, ThreadgroupRoot):
        return root.start
    return root.first if isinstance(root, PointedRoot) else 0


def follow_pointers(
    function: Function, pointers: Pointers | None, written: Collection[Root]
) -> None:
    """Give accesses through pointers from known places of constant arguments roots of their own.

    Args:
        function: the kernel.
        pointers: those that are known, all others then are not; None to assume that the memory of
            each overlaps no other.
        written: memory that the kernel writes to, whose pointers may change.
    """
    for access in function.instructions():
        root = access.root
        if not access.operation.accesses_memory or not isinstance(root, AddressRoot):
            continue
        found = _place(root, pointers, written)
        if found is not None:
            access.root = PointedRoot(_FIRST + found.memory, found.name, first=found.start)


def buffers_behind(pointer: Value) -> set[Root] | None:
    """The buffers that a computed pointer may lead into, as long as accesses stay inside of them;
    None if it may come from anywhere else.
    """
    found: set[Root] = set()
    for each in _origins(pointer):
        if is_null(each):
            continue  # there is nothing behind it
        if not isinstance(each, Instruction) or each.operation is not ADDRESS:
            return None
        if not isinstance(each.root, BufferRoot):
            return None
        found.add(each.root)
    return found


def is_of_tables(pointer: Value) -> bool:
    """Whether a pointer to constant memory surely leads to the program's own tables.

    Pointers in tables lead to others, or to arrays of the threadgroup.
    """
    return all(
        isinstance(each, Instruction)
        and each.operation in (ADDRESS, LOAD)
        and isinstance(each.root, ConstantRoot)
        for each in _origins(pointer)
    )


def may_be_null(pointer: Value) -> bool:
    """Whether a computed pointer may be one that leads nowhere."""
    return any(map(is_null, _origins(pointer)))


def is_null(pointer: Value) -> bool:
    """Whether a pointer surely leads nowhere."""
    return isinstance(pointer, Constant) and pointer.number == 0


def _origins(pointer: Value) -> Iterator[Value]:
    """What a computed pointer may come from: choices, merges and steps are seen through."""
    found = made_of(pointer, _steps)
    return (each for each in found if not isinstance(each, Instruction) or not _steps(each))


def _steps(value: Instruction) -> list[Value]:
    base = _base_of(value)
    return choices(value) or ([] if base is None else [base])


def _base_of(value: Instruction) -> Value | None:
    return _only_base(value) if value.operation is ADD else None


def _only_base(total: Instruction) -> Value | None:
    """The operand of a sum that is a pointer, if it is surely the only one."""
    bases = [each for each in total.operands if _has_base(each)]
    return bases[0] if len(bases) == 1 else None


def _has_base(value: Value) -> bool:
    """Whether an address of a buffer goes into a value."""
    return any(map(_is_address, made_of(value, _computed_from)))


def _is_address(value: Value) -> bool:
    if not isinstance(value, Instruction):
        return False
    is_loaded = value.operation is LOAD and _may_hold_addresses(value)
    return value.operation is ADDRESS or is_loaded


def _computed_from(value: Instruction) -> list[Value]:
    return [] if value.operation.accesses_memory or value.type == "i1" else value.operands


def _may_hold_addresses(load: Instruction) -> bool:
    """Whether the kernel may have left what it computed of an address where a value is read."""
    if is_private(load.root) or isinstance(load.root, THREADGROUP_ROOTS):
        return True  # in halves, too
    is_given = isinstance(load.root, ConstantRoot) or (
        isinstance(load.root, BufferRoot) and load.root.is_constant
    )
    return load.type == "i64" and not is_given


def _place(root: AddressRoot, pointers: Pointers | None, written: Collection[Root]) -> Place | None:
    """What a pointer leads to; None if it is not known from where it was loaded."""
    load = root.address
    if root.space not in _DEVICE_SPACES or not isinstance(load, Instruction):
        return None
    holder = load.root
    if load.operation is not LOAD or load.components != 1 or not isinstance(holder, BufferRoot):
        return None
    at = load.operands[0]
    if (
        not holder.is_constant
        or holder in written
        or not isinstance(at, Constant)
        or at.number is None
    ):
        return None
    key = (holder.parameter, at.number)
    if pointers is not None:
        return pointers.get(key)
    return Place(_own_number(*key), 0, f"{holder.name}[{at.number}]")


def _own_number(parameter: int, at: int) -> int:
    """A number for the memory of the pointer at a byte of an argument."""
    return (parameter << 32) + at
