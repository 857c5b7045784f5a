"""Sums of products of matrices that stay at one place of memory, as registers hold too few of them.

A kernel that has its loops unrolled keeps each sum in a value of its own. Those of 32x32 results
take twice as many registers as there are, so LLVM stores and loads them, and copies all of them at
every edge of a loop and at every barrier. Here a sum, what a loop's phis make of it, and what
products add to it have one place, where each product finds and leaves it. That is what loops over
an array of matrices do, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ....native.llvm_host import has_wide_registers
from ...analysis.divergence import Divergence
from ...ir.cfg import Cfg
from ...ir.nodes import Block, Function, Instruction, Value
from ...ir.operations.control import PHI
from ...ir.operations.lanes import MMA
from .operands import added_to, element_of, left_of, right_of

# More sums than these, of a float for each lane, leave too few registers for factors.
_MOST_IN_WIDE_REGISTERS = 12
_MOST_IN_REGISTERS = 3


def sums_in_place(function: Function, cfg: Cfg, divergence: Divergence) -> dict[Value, Instruction]:
    """For each product and phi that shares a place with others, the first of these.

    Empty if registers hold all of them.
    """
    if not cfg.reducible:
        return {}
    webs = [web for web in _webs(function) if _may_stay(web, cfg, divergence)]
    meeting = _Meetings(webs, cfg).find()
    webs = [web for number, web in enumerate(webs) if number not in meeting]
    most = _MOST_IN_WIDE_REGISTERS if has_wide_registers() else _MOST_IN_REGISTERS
    return {each: web[0] for web in webs for each in web} if len(webs) > most else {}


def _webs(function: Function) -> list[list[Instruction]]:
    """Products, what they are added to, and the phis between them, as far as they hang together.

    What is added up in no loop is loaded and stored by the kernel.
    """
    leader: dict[Value, Value] = {}

    def find(each: Value) -> Value:
        while leader.setdefault(each, each) is not each:
            each = leader[each]
        return each

    for each in function.instructions():
        for other in _passed_on(each):
            leader[find(other)] = find(each)
    webs: dict[Value, list[Instruction]] = {}
    for each in function.instructions():
        if each in leader:
            webs.setdefault(find(each), []).append(each)
    return [web for web in webs.values() if {PHI, MMA} <= {each.operation for each in web}]


def _passed_on(each: Instruction) -> Iterator[Instruction]:
    """The instruction, and those whose values it takes over, if it is part of a sum."""
    operands: list[Value] = []
    if each.operation is MMA:
        operands = [each, added_to(each)[element_of(each)]]
    elif each.operation is PHI and each.type == "float":
        operands = [each, *each.operands]
    for operand in operands:
        if isinstance(operand, Instruction) and operand.operation in (MMA, PHI):
            yield operand


def _may_stay(web: list[Instruction], cfg: Cfg, divergence: Divergence) -> bool:
    """Whether all lanes make each of the values at once, and see the last one anywhere."""
    for each in web:
        assert each.block is not None
        sources = each.block.predecessors if each.operation is PHI else []
        if each.block in divergence.partial or each.block in divergence.joins:
            return False
        if any(block in divergence.partial | divergence.divergent for block in sources):
            return False
        if any(loop.divergent_exit for loop in cfg.loops_of(each.block)):
            return False
        if not divergence.is_varying(each):
            return False
    return True


class _Meetings:
    """Finds the webs of which two values are alive at one time, or one is a factor."""

    def __init__(self, webs: list[list[Instruction]], cfg: Cfg) -> None:
        self._web = {each: number for number, web in enumerate(webs) for each in web}
        self._steps = {block: list(self._steps_of(block)) for block in cfg.order}
        self._live_in: dict[Block, set[Value]] = {block: set() for block in cfg.order}

    def find(self) -> set[int]:
        """Their numbers."""
        found = self._factors()
        changed = True
        while changed:
            changed = False
            for block in reversed(self._steps):
                live = self._live_out(block)
                for made, used in reversed(self._steps[block]):
                    found |= self._meeting(made, live)
                    live = live.difference(made) | used
                changed = changed or live != self._live_in[block]
                self._live_in[block] = live
        return found

    def _steps_of(self, block: Block) -> Iterator[tuple[Sequence[Instruction], set[Value]]]:
        """What comes to be at once, and the values of webs that this takes."""
        yield block.phis, set()
        computed = set[tuple[Value, ...]]()
        for each in block.body:
            operands = each.operands
            if each.operation is MMA:
                # The first of a product's two elements takes what both of them are added to.
                factors = tuple(operands[1:])
                operands = [] if factors in computed else added_to(each)
                computed.add(factors)
            yield [each], {operand for operand in operands if operand in self._web}

    def _live_out(self, block: Block) -> set[Value]:
        live = set[Value]()
        for target in block.targets:
            live |= self._live_in[target]
            for place, source in enumerate(target.predecessors):
                if source is block:
                    live.update(p.operands[place] for p in target.phis)
        return live.intersection(self._web)

    def _meeting(self, made: Sequence[Instruction], live: set[Value]) -> set[int]:
        numbers = [self._web[each] for each in {*made, *live} if each in self._web]
        new = {self._web[each] for each in made if each in self._web}
        return {number for number in new if numbers.count(number) > 1}

    def _factors(self) -> set[int]:
        products = (i for b in self._steps for i in b.body if i.operation is MMA)
        factors = {factor for p in products for factor in (*left_of(p), *right_of(p))}
        return {number for each, number in self._web.items() if each in factors}
