"""Numbers for the source places that observers report."""

from __future__ import annotations

from ...check import layout
from ...site import Site
from ..ir.nodes import Block, Constant, Function, Instruction, PrivateRoot, Root
from ..ir.operations.marks import BEGINNING_SHIFT, LANE_OF, UNINITIALISED
from ..ir.operations.memory import STORE

# Numbers from here on are not spent on telling apart the elements of one variable.
_MOST_ELEMENTS = 512


class WatchSites:
    """Numbers from 1 on; copies of one place share one, and so does all beyond the last."""

    def __init__(self) -> None:
        self.all: list[Instruction | Block] = []
        self._numbers: dict[object, int] = {}

    def number(self, what: Instruction | Block) -> int:
        """The number of an instruction's or a branch's place."""
        memory = ""
        if isinstance(what, Instruction) and what.root:
            memory = f"{what.root.name} {getattr(what.root, 'start', '')}"
        is_lane = isinstance(what, Instruction) and what.operation is LANE_OF
        element, components = getattr(what, "element", ""), getattr(what, "components", 0)
        key = (what.site, memory, element, components, is_lane, self._beginning(what))
        known = self._numbers.get(key)
        if known is None:
            self.all.append(what)
            known = self._numbers[key] = min(len(self.all), layout.MAX_SITES)
        return known

    def _beginning(self, what: Instruction | Block) -> int:
        """Which part of a variable begins, as long as there are numbers enough."""
        return beginning_of(what) if len(self.all) < _MOST_ELEMENTS else -1


def beginning_of(what: Instruction | Block) -> int:
    """The byte offset in its variable of what begins without a value; -1 of anything else."""
    if isinstance(what, Block) or what.operation is not UNINITIALISED:
        return -1
    (which,) = what.operands
    assert isinstance(which, Constant)
    return (which.number or 0) & ((1 << BEGINNING_SHIFT) - 1)


def declarations(function: Function) -> dict[Root, tuple[Site, int]]:
    """Of arrays of a thread's own: where they are declared, and where in the variable they begin.

    The optimiser may have split a variable.
    """
    found: dict[Root, tuple[Site, int]] = {}
    for instruction in function.instructions():
        if instruction.operation is not STORE or not isinstance(instruction.root, PrivateRoot):
            continue
        offset, value = instruction.operands[:2]
        if isinstance(value, Instruction) and isinstance(offset, Constant):
            begins = beginning_of(value)
            if begins >= 0:
                base = begins - (offset.number or 0)
                found.setdefault(instruction.root, (value.site, base))
    return found
