"""What an access to memory touches."""

from __future__ import annotations

from assay.sim.simt.ir.llvm_types import bits
from assay.sim.simt.ir.nodes import Instruction

from .counts import Counts
from .memory.pointers import start_of
from .terms import Term, add, constant
from .values import Values


def address(values: Values, access: Instruction, counts: Counts) -> Term:
    """The byte that an access begins at: of threadgroup variables in their arena, of memory behind
    a pointer in the whole of it, else of its root.
    """
    offset = values.read(access.operands[0], counts, "signed")
    return add(offset, constant(start_of(access.root)))


def length(access: Instruction) -> int:
    """Bytes of an access."""
    element = access.element
    if access.operation.is_atomic and access.number is not None:
        element = access.number.type
    return access.components * max(bits(element) // 8, 1)


def action(access: Instruction) -> str:
    """What an access does, in words."""
    way = "write" if access.operation.writes_memory else "read"
    way = "atomic" if access.operation.is_atomic else way
    return f"{way} of {length(access)} bytes"
