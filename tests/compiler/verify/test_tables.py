"""What tables say of terms is certain: the same as any numbers for unknown symbols give."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
import z3

from assay.compiler.verify.initial.tables import Table, conjuncts

_KNOWN = {"x": range(-3, 4), "y": range(3)}
_UNKNOWN = {"u": range(-2, 3), "v": range(-1, 2)}


def _term(draw: random.Random, depth: int) -> z3.ArithRef:
    if depth == 0 or draw.random() < 0.15:
        symbols = [z3.Int(name) for name in (*_KNOWN, *_KNOWN, *_UNKNOWN)]
        return draw.choice([*symbols, z3.IntVal(draw.randint(-4, 4))])
    one, other = _term(draw, depth - 1), _term(draw, depth - 1)
    by = draw.choice([1, 2, 3, 4, 7])
    kinds = [one + other, one - other, one * other, -one, one / by, one % by, one / other]
    return draw.choice([*kinds, z3.If(_condition(draw, depth - 1), one, other)])


def _condition(draw: random.Random, depth: int) -> z3.BoolRef:
    if depth <= 1:
        one, other = _term(draw, max(depth, 0)), _term(draw, max(depth, 0))
        ways = [one < other, one <= other, one == other, one != other, one > other, one >= other]
        return draw.choice(ways)
    one, other = _condition(draw, depth - 1), _condition(draw, depth - 1)
    return draw.choice([z3.And(one, other), z3.Or(one, other), z3.Not(one)])


def _table() -> Table:
    x, y = (np.asarray(each) for each in _KNOWN.values())
    return Table({"x": x.reshape(-1, 1), "y": y.reshape(1, -1)})


def _values(term: z3.ExprRef, known: tuple[int, ...]) -> set[str]:
    """All that a term can be where the known symbols are these numbers."""
    found = set()
    for unknown in itertools.product(*_UNKNOWN.values()):
        names = (*_KNOWN, *_UNKNOWN)
        pairs = zip(names, (*known, *unknown), strict=True)
        given = [(z3.Int(name), z3.IntVal(number)) for name, number in pairs]
        found.add(str(z3.simplify(z3.substitute(term, *given))))
    return found


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(60))
def test_a_condition_is_what_it_is_said_to_be(seed: int) -> None:
    draw = random.Random(seed)
    condition = _condition(draw, 3)
    truth = _table().truth(condition)
    shape = tuple(len(each) for each in _KNOWN.values())
    surely, maybe = (np.broadcast_to(each, shape) for each in (truth.surely, truth.maybe))
    for place in itertools.product(*map(range, shape)):
        known = tuple(each[at] for each, at in zip(_KNOWN.values(), place, strict=True))
        can_be = _values(condition, known)
        assert not surely[place] or can_be == {"True"}
        assert maybe[place] or can_be == {"False"}


@pytest.mark.parametrize("seed", range(60))
def test_a_number_is_what_it_is_said_to_be(seed: int) -> None:
    draw = random.Random(seed)
    term = _term(draw, 3)
    numbers = _table().number(term)
    if numbers is None:
        return
    shape = tuple(len(each) for each in _KNOWN.values())
    for place in itertools.product(*map(range, shape)):
        known = tuple(each[at] for each, at in zip(_KNOWN.values(), place, strict=True))
        assert _values(term, known) == {str(np.broadcast_to(numbers, shape)[place])}


def test_numbers_that_do_not_fit_are_not_known() -> None:
    term = z3.Int("x") * (1 << 40) * (1 << 40)
    assert _table().number(term) is None
    assert _table().truth(term < 0).maybe.all()


def test_parts_of_a_condition_hold_together() -> None:
    one, two, three = z3.Bools("one two three")
    assert list(conjuncts(z3.And(one, z3.And(z3.Not(two), three)))) == [one, z3.Not(two), three]
