"""Machine instructions while a kernel is lowered, before they are put in order and into arrays."""

from __future__ import annotations

from dataclasses import dataclass, field

from assay.sim.simt.ir.nodes import Block, Instruction
from assay.sim.site import Site

from .classes import WALLS
from .code import SOURCES


@dataclass(slots=True, eq=False)
class Op:
    """One machine instruction.

    Attributes:
        kind: its class.
        destination: register that it writes, -1 for none.
        sources: registers that it reads.
        site: place in the user's source.
        flops: floating-point operations of one lane.
        access: ordinal of the memory access in its block, -1 for none.
        memory: what memory it touches, as far as is known; None if it touches none.
        writes: whether it writes to that memory.
    """

    kind: str
    destination: int
    sources: tuple[int, ...]
    site: Site
    flops: int = 0
    access: int = -1
    memory: object = None
    writes: bool = False

    @property
    def is_wall(self) -> bool:
        """Whether no access to memory may move past it."""
        return self.kind in WALLS


@dataclass(slots=True)
class Lowered:
    """The kernel's operations so far.

    Attributes:
        ops: by block.
        ends: what ends a block, behind its `ops`.
        sizes: of registers, in halves of 32 bits.
        phis: by block, the registers that its phis write, with their instruction.
    """

    ops: dict[Block, list[Op]]
    ends: dict[Block, list[Op]]
    phis: dict[Block, list[tuple[Instruction, int]]]
    sizes: list[int] = field(default_factory=list)

    def register(self, halves: int) -> int:
        """A fresh register of so many halves of 32 bits."""
        self.sizes.append(halves)
        return len(self.sizes) - 1


def latest(sources: tuple[int, ...]) -> tuple[int, ...]:
    """As many registers as fit; those that are written last are waited for."""
    return sources if len(sources) <= SOURCES else tuple(sorted(sources)[-SOURCES:])
