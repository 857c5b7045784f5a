"""Which buffers a kernel uses: those that are bound to it, and those in its argument buffers."""

from __future__ import annotations

from dataclasses import dataclass

from ..ir.nodes import AddressRoot, BufferRoot, Constant, Function, Instruction, Value
from ..ir.operations.integers import ADD
from ..ir.operations.memory import ADDRESS, LOAD, STORE
from ..ir.operations.operation import Operation


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class ReadPlace:
    """A buffer by where the kernel has it from.

    Attributes:
        parameter: number of the kernel's parameter.
        offset: -1 for the buffer that is bound to it; else the byte of that buffer at which the
            address of the buffer that is meant stands.
    """

    parameter: int
    offset: int = -1


def read_places(function: Function) -> tuple[ReadPlace, ...]:
    """The buffers that a kernel reads, but for those whose address it computes in other ways."""
    return _places(function, frozenset({STORE, ADDRESS}))


def touched_places(function: Function) -> tuple[ReadPlace, ...]:
    """The same for those that it reads or writes."""
    return _places(function, frozenset({ADDRESS}))


def _places(function: Function, ignored: frozenset[Operation]) -> tuple[ReadPlace, ...]:
    found: set[ReadPlace] = set()
    for instruction in function.instructions():
        root = instruction.root
        if root is None or instruction.operation in ignored:
            continue
        if isinstance(root, BufferRoot):
            found.add(ReadPlace(parameter=root.parameter))
        elif isinstance(root, AddressRoot) and (place := _pointer(root.address)) is not None:
            found.add(place)
    return tuple(sorted(found))


def _pointer(address: Value) -> ReadPlace | None:
    """Where an address was loaded from, if it was, and nothing but an offset was added to it."""
    while isinstance(address, Instruction) and address.operation is ADD:
        address = address.operands[0]
    if not isinstance(address, Instruction) or address.operation is not LOAD:
        return None
    offset = address.operands[0]
    if not isinstance(address.root, BufferRoot) or not isinstance(offset, Constant):
        return None
    return ReadPlace(parameter=address.root.parameter, offset=offset.number or 0)
