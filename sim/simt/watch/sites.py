"""Numbers for the source places that observers report."""

from __future__ import annotations

from ...check import layout
from ..ir.nodes import Block, Instruction
from ..ir.operations.marks import LANE_OF


class WatchSites:
    """Numbers from 1 on; copies of one place share one, and so does all beyond the last."""

    def __init__(self) -> None:
        self.all: list[Instruction | Block] = []
        self._numbers: dict[object, int] = {}

    def number(self, what: Instruction | Block) -> int:
        """The number of an instruction's or a branch's place."""
        memory = what.root.name if isinstance(what, Instruction) and what.root else ""
        is_lane = isinstance(what, Instruction) and what.operation is LANE_OF
        element, components = getattr(what, "element", ""), getattr(what, "components", 0)
        key = (what.site, memory, element, components, is_lane)
        known = self._numbers.get(key)
        if known is None:
            self.all.append(what)
            known = self._numbers[key] = min(len(self.all), layout.MAX_SITES)
        return known
