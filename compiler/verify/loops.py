"""What a variable of a loop is in iteration n, where a rule tells it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from assay.sim.simt.ir.cfg import Loop
from assay.sim.simt.ir.llvm_types import bits, is_float
from assay.sim.simt.ir.nodes import Constant, Instruction, Value
from assay.sim.simt.ir.operations.control import PHI
from assay.sim.simt.ir.operations.integers import ADD, SUB
from assay.sim.simt.ir.operations.marks import UNINITIALISED
from assay.sim.simt.ir.operations.memory import LOAD
from assay.sim.simt.ir.operations.operation import OfOperands, OfThread, Types

from .terms import Expression, Term, choose, constant, joined, small

_FEW = 16  # numbers that a variable goes round, for which operations on bits are told apart
_MOST_STATES = 128  # of variables that go round: those of a doubling loop are some 32
_MOST_DEPTH = 24  # of what a variable's next value is computed from


@dataclass(frozen=True, slots=True)
class Induction:
    """`start + n * (sum of steps)`; each step is a value that the loop leaves alone, and its sign.

    As the terms are congruent modulo the type's size, this holds however often it wraps.
    """

    start: Value
    steps: tuple[tuple[int, Value], ...]


@dataclass(frozen=True, slots=True)
class Orbit:
    """Numbers that repeat: first those of `prefix`, then those of `cycle` again and again."""

    prefix: tuple[int, ...]
    cycle: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Settled:
    """`start` in the first iteration, and in all others `after`, which the loop leaves alone.

    The optimiser makes that of loops which most threads go through once.
    """

    start: Value
    after: Value


Rule = Induction | Orbit | Settled


def sources(phi: Instruction, loop: Loop) -> tuple[Value, Value]:
    """What a loop's variable is at first, and what it becomes at the end of an iteration."""
    assert phi.block is not None
    first, again = (
        next(
            value
            for value, source in zip(phi.operands, phi.block.predecessors, strict=True)
            if (source in loop.blocks) == inside
        )
        for inside in (False, True)
    )
    return first, _only(again)


def _only(value: Value) -> Value:
    """What a value surely is, if it is the same on all ways to where they meet."""
    while isinstance(value, Instruction) and value.operation is PHI:
        one, *others = value.operands
        if not all(each is one or _are_equal(each, one) for each in others):
            return value
        value = one
    return value


def _are_equal(one: Value, other: Value) -> bool:
    if not (isinstance(one, Constant) and isinstance(other, Constant)):
        return False
    return one.number is not None and (one.type, one.number) == (other.type, other.number)


def rule_of(phi: Instruction, loop: Loop, is_fixed: Callable[[Value], bool]) -> Rule | None:
    """How a variable goes on; None if no rule is known. `is_fixed` tells read-only loads."""
    entries = sum(source not in loop.blocks for source in loop.header.predecessors)
    if entries != 1 or is_float(phi.type):
        return None
    start, again = sources(phi, loop)
    settled = Settled(start, again) if invariant(again, loop, is_fixed) else None
    return _induction(phi, loop, is_fixed) or _orbit(phi, loop) or settled


def _induction(phi: Instruction, loop: Loop, is_fixed: Callable[[Value], bool]) -> Induction | None:
    start, value = sources(phi, loop)
    steps: list[tuple[int, Value]] = []
    for _ in range(_MOST_DEPTH):
        if value is phi:
            return Induction(start, tuple(steps))
        if not isinstance(value, Instruction) or value.operation not in (ADD, SUB):
            return None
        left, right = value.operands
        if invariant(right, loop, is_fixed):
            steps.append((-1 if value.operation is SUB else 1, right))
            value = left
        elif value.operation is ADD and invariant(left, loop, is_fixed):
            steps.append((1, left))
            value = right
        else:
            return None
    return None


def is_computed(value: Instruction) -> bool:
    """Whether equal operands give equal results; what has no value is not the same each time."""
    return isinstance(value.operation.meaning, OfOperands) and value.operation is not UNINITIALISED


def is_falling(rule: Induction) -> bool:
    """Whether a variable gets less by a number that is known."""
    steps = [
        sign * small(constant(step.number), bits(step.type)).value
        for sign, step in rule.steps
        if isinstance(step, Constant) and step.number is not None
    ]
    return len(steps) == len(rule.steps) and sum(steps) < 0


def invariant(
    value: Value, loop: Loop, is_fixed: Callable[[Value], bool], depth: int = _MOST_DEPTH
) -> bool:
    """Whether a value is the same in all iterations of a loop."""
    if not isinstance(value, Instruction) or value.block not in loop.blocks:
        return True
    if isinstance(value.operation.meaning, OfThread):
        return True
    if depth == 0 or not (is_computed(value) or (value.operation is LOAD and is_fixed(value))):
        return False
    return all(invariant(each, loop, is_fixed, depth - 1) for each in value.operands)


def _orbit(phi: Instruction, loop: Loop) -> Orbit | None:
    """Run the variables that it depends on, from their constants on, until they repeat."""
    together = _closure(phi, loop)
    if together is None:
        return None
    state = tuple(_number(sources(each, loop)[0]) for each in together)
    if None in state:
        return None
    numbers = tuple(number for number in state if number is not None)
    seen: dict[tuple[int, ...], int] = {}
    mine: list[int] = []
    while numbers not in seen:
        if len(seen) == _MOST_STATES:
            return None
        seen[numbers] = len(mine)
        mine.append(numbers[0])
        known: dict[Value, int] = dict(zip(together, numbers, strict=True))
        numbers = tuple(_computed(sources(each, loop)[1], known) for each in together)
    begin = seen[numbers]
    return Orbit(tuple(mine[:begin]), tuple(mine[begin:]))


def _number(value: Value) -> int | None:
    return value.number if isinstance(value, Constant) else None


def _closure(phi: Instruction, loop: Loop) -> list[Instruction] | None:
    """The variables of the loop that decide a variable's next value, itself first; None if
    anything else does.
    """
    found = [phi]
    for each in found:
        work, seen = [sources(each, loop)[1]], set[Value]()
        while work:
            value = work.pop()
            if value in seen or isinstance(value, Constant):
                if isinstance(value, Constant) and value.number is None:
                    return None
                continue
            seen.add(value)
            if not isinstance(value, Instruction) or is_float(value.type):
                return None
            if value.operation is PHI and value.block is loop.header:
                if value not in found:
                    found.append(value)
            elif is_computed(value):
                work += value.operands
            else:
                return None
    return found


def _computed(value: Value, known: dict[Value, int]) -> int:
    """A value by the reference meaning of its operations."""
    if isinstance(value, Constant):
        assert value.number is not None
        return value.number
    if value not in known:
        assert isinstance(value, Instruction)
        meaning = value.operation.meaning
        assert isinstance(meaning, OfOperands)
        operands = [_computed(each, known) for each in value.operands]
        types = Types(value.operands[0].type, value.type, value.predicate)
        known[value] = meaning.compute(types, operands)
    return known[value]


def of_orbit(rule: Orbit, count: Term) -> Term:
    """The number of an orbit in an iteration."""
    before, period = len(rule.prefix), len(rule.cycle)
    numbers = (*rule.prefix, *rule.cycle)
    if count.constant is not None:
        at = count.constant
        return constant(numbers[at if at < before else before + (at - before) % period])
    place = (count.value - before) % period
    found: Expression = rule.cycle[-1]
    for at in reversed(range(period - 1)):
        found = choose(place == at, rule.cycle[at], found)
    for at in reversed(range(before)):
        found = choose(count.value == at, rule.prefix[at], found)
    known = joined(*(constant(number) for number in numbers))
    few = tuple(sorted(set(numbers)))
    return replace(known, value=found, numbers=few if len(few) <= _FEW else ())
