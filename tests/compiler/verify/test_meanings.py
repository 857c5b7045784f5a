"""What the solver is told of operations is what the reference meaning says of random values."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
import z3

from assay.compiler.verify.meanings import MEANINGS, compare, read, reading_of_comparison
from assay.compiler.verify.terms import Term, constant, ranged, subtract, unsigned
from assay.sim.simt.ir.operations import conversions, integers
from assay.sim.simt.ir.operations.integers import ICMP
from assay.sim.simt.ir.operations.operation import OfOperands, Operation, Types

CASES = 60
PREDICATES = ("eq", "ne", "ult", "ule", "ugt", "uge", "slt", "sle", "sgt", "sge")
_RESULT = {conversions.TRUNC: (32, 8), conversions.ZEXT: (16, 32), conversions.SEXT: (16, 64)}
_ARITY = {"I -> I": 1, "I -> J": 1, "I I -> I": 2, "X -> X": 1}


def operands(chance: random.Random, width: int, count: int) -> list[int]:
    """Bit patterns, often at the ends of the type and often small."""
    ends = [0, 1, 2, 3, 7, (1 << width) - 1, 1 << width - 1, (1 << width - 1) - 1]
    return [
        chance.choice(ends) if chance.random() < 0.4 else chance.getrandbits(width) >> shift
        for shift in (chance.choice((0, 0, width // 2)) for _ in range(count))
    ]


def congruent(chance: random.Random, number: int, width: int, name: str) -> tuple[Term, Any]:
    """A constant or a symbol for a bit pattern, sometimes some turns away; the symbol's value."""
    turns = chance.choice((0, 0, 1, -1, 3)) << width
    if chance.random() < 0.4:
        value = number + turns
        return Term(value, value, value), None
    symbol = z3.Int(name)
    if turns == 0 and chance.random() < 0.4:
        few = sorted({number, *operands(chance, width, 3)})
        term = replace(ranged(symbol, few[0], few[-1]), numbers=tuple(few))
        return term, (symbol, z3.IntVal(number))
    least, most = turns, turns + (1 << width) - 1
    if turns > 0 or (turns < 0 and chance.random() < 0.5):
        least, most = -(8 << width), 8 << width
    return ranged(symbol, least, most), (symbol, z3.IntVal(number + turns))


def value_of(term: Any, pairs: list[Any]) -> Any:
    """A term's number once its symbols have theirs."""
    if isinstance(term, int):
        return term
    return z3.simplify(z3.substitute(term, *[pair for pair in pairs if pair is not None]))


def known(operation: Operation) -> bool:
    meaning = isinstance(operation.meaning, OfOperands)
    return meaning and operation.types in _ARITY and operation is not conversions.BITCAST


@pytest.mark.parametrize("operation", [o for o in MEANINGS if known(o)], ids=lambda o: o.name)
def test_an_operation_means_the_same_to_the_solver(operation: Operation) -> None:
    chance = random.Random(operation.name)
    meaning, told = MEANINGS[operation], 0
    for _ in range(CASES):
        width, to = _RESULT.get(operation, (chance.choice((8, 32)),) * 2)
        numbers = operands(chance, width, _ARITY[operation.types])
        made = [congruent(chance, each, width, f"v{at}") for at, each in enumerate(numbers)]
        terms = tuple(read(term, width, meaning.reading) for term, _ in made)
        found = meaning.build(width, terms)
        if found is None:
            continue
        told += 1
        assert isinstance(operation.meaning, OfOperands)
        expected = operation.meaning.compute(Types(f"i{width}", f"i{to}"), numbers)
        pairs = [pair for _, pair in made]
        number = int(str(value_of(found.value, pairs)))
        assert number % (1 << to) == expected, (width, numbers, terms)
        assert found.least is None or found.least <= number
        assert found.most is None or number <= found.most
        assert number % (1 << min(found.zeros, to)) == 0
    assert told > CASES // 6


@pytest.mark.parametrize("predicate", PREDICATES)
def test_a_comparison_means_the_same_to_the_solver(predicate: str) -> None:
    chance = random.Random(predicate)
    assert isinstance(ICMP.meaning, OfOperands)
    for _ in range(CASES):
        width = chance.choice((8, 32))
        numbers = operands(chance, width, 2)
        made = [congruent(chance, each, width, f"v{at}") for at, each in enumerate(numbers)]
        left, right = (read(term, width, reading_of_comparison(predicate)) for term, _ in made)
        found = value_of(compare(predicate, left, right), [pair for _, pair in made])
        expected = ICMP.meaning.compute(Types(f"i{width}", "i1", predicate), numbers)
        assert str(found) == str(bool(expected)), (width, numbers)


@pytest.mark.parametrize("least", [0, 1, 5, 27])
def test_a_shift_by_few_counts_is_each_of_them(least: int) -> None:
    number, count = z3.Ints("number count")
    terms = ranged(number, 0, (1 << 32) - 1), ranged(count, least, least + 4)
    found = MEANINGS[integers.SHL].build(32, terms)
    assert found is not None
    for by in range(least, least + 5):
        pairs = [(number, z3.IntVal(77)), (count, z3.IntVal(by))]
        assert int(str(value_of(found.value, pairs))) == 77 << by
    beyond = ranged(count, 28, 32)
    assert MEANINGS[integers.SHL].build(32, (terms[0], beyond)) is None


def test_what_always_wraps_once_is_read_without_a_choice() -> None:
    term = subtract(constant(-7), ranged(z3.Int("x"), 0, 9))
    assert term.lies_outside(0, 255)
    found = unsigned(term, 8)
    assert (found.least, found.most) == (240, 249)
    assert int(str(value_of(found.value, [(z3.Int("x"), z3.IntVal(2))]))) == -9 % 256
