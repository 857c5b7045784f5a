"""How far from here a load reads in the next turn of a loop.

A kernel that copies tiles into threadgroup memory waits in each turn for lines of rows that lie far
from each other, of which the host's own prefetching finds none. Where the distance is a sum of
products of what the loop does not change, it is asked for a turn before.
"""

from __future__ import annotations

from ..analysis.linear_form import number_of
from ..analysis.offsets import EXTENSIONS
from ..ir.cfg import Cfg, Loop
from ..ir.nodes import Instruction, Value
from ..ir.operations.control import PHI
from ..ir.operations.integers import ADD, MUL, OR, SHL, SUB

Terms = dict[tuple[Value, ...], int]  # products of values, and how often each is taken
_MOST_TERMS = 4


class Steps:
    """By how much integers grow in one turn of a loop."""

    def __init__(self, loop: Loop, cfg: Cfg) -> None:
        self._loop = loop
        self._cfg = cfg
        self._known: dict[Value, Terms | None] = {}

    def of(self, value: Value) -> Terms | None:
        """The growth of a value, as it would be without wrapping; None if that is not known.

        It is only a guess: what is loaded anew from one place is taken to be the same.
        """
        if not isinstance(value, Instruction) or value.block not in self._loop.blocks:
            return {}
        if value not in self._known:
            self._known[value] = None  # until it is found
            self._known[value] = self._find(value)
        return self._known[value]

    def _find(self, value: Instruction) -> Terms | None:
        operation = value.operation
        if operation is PHI:
            return self._of_phi(value)
        steps = [self.of(operand) for operand in value.operands]
        if None in steps:
            return None
        if operation in EXTENSIONS:
            return steps[0]
        if operation in (ADD, OR, SUB):  # the optimiser takes `or` where no bits are added up
            return _sum(steps[0] or {}, steps[1] or {}, -1 if operation is SUB else 1)
        if operation is MUL:
            return self._of_product(value, steps[0] or {}, steps[1] or {})
        if operation is SHL and not steps[1]:
            places = number_of(value.operands[1])
            return None if places is None else _times(steps[0] or {}, 1 << (places & 63))
        return {} if not any(steps) else None

    def _of_phi(self, phi: Instruction) -> Terms | None:
        """A counter of the loop grows by what is added to it; one of a loop inside starts later."""
        assert phi.block is not None
        sources = phi.block.predecessors
        if phi.block is self._loop.header:
            turns = [
                operand
                for operand, source in zip(phi.operands, sources, strict=True)
                if source in self._loop.blocks
            ]
            return _only([_added(phi, turn) or self.of(turn) for turn in turns])
        inner = self._cfg.innermost[phi.block]
        if inner is None or inner.header is not phi.block:
            return None
        starts = [
            self.of(operand)
            for operand, source in zip(phi.operands, sources, strict=True)
            if source not in inner.blocks
        ]
        return _only(starts)

    def _of_product(self, product: Instruction, first: Terms, second: Terms) -> Terms | None:
        if first and second:
            return None
        step, factor = (first, product.operands[1]) if first else (second, product.operands[0])
        number = number_of(factor)
        if number is not None:
            return _times(step, number)
        return {(*values, factor): count for values, count in step.items()}


def _added(phi: Instruction, turn: Value) -> Terms | None:
    """What a turn adds to a counter, if it is one thing."""
    if not isinstance(turn, Instruction) or turn.operation is not ADD or phi not in turn.operands:
        return None
    (other,) = [each for each in turn.operands if each is not phi] or [phi]
    number = number_of(other)
    return {(): number} if number is not None else {(other,): 1}


def _only(found: list[Terms | None]) -> Terms | None:
    return found[0] if found and all(each == found[0] for each in found) else None


def _times(terms: Terms, factor: int) -> Terms:
    return {values: count * factor for values, count in terms.items()}


def _sum(first: Terms, second: Terms, sign: int) -> Terms | None:
    total = dict(first)
    for values, count in second.items():
        total[values] = total.get(values, 0) + sign * count
    total = {values: count for values, count in total.items() if count}
    return total if len(total) <= _MOST_TERMS else None
