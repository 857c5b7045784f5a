"""Terms that are built and read by handles are z3's own."""

from __future__ import annotations

import gc
import operator
from collections.abc import Callable
from typing import Any

import pytest
import z3
from hypothesis import given
from hypothesis import strategies as st

from assay.compiler.verify.native.asking import Translated, tell
from assay.compiler.verify.native.building import (
    all_of,
    any_of,
    applied,
    chosen,
    integer,
    known,
    negated,
    now,
    own_terms,
    part,
)
from assay.compiler.verify.native.reading import Reader
from assay.compiler.verify.terms import quotient

_ARITHMETIC = (operator.add, operator.sub, operator.mul, operator.truediv, operator.mod)
_COMPARISONS = (
    operator.lt,
    operator.le,
    operator.gt,
    operator.ge,
    operator.eq,
    operator.ne,
)


@pytest.mark.parametrize("build", _ARITHMETIC + _COMPARISONS)
@given(number=st.integers(-(2**70), 2**70))
def test_an_operation_builds_the_term_that_z3_builds(
    build: Callable[[Any, Any], Any], number: int
) -> None:
    x, y = z3.Int("x"), z3.Int("y")
    assert build(integer("x"), integer("y")).eq(build(x, y))
    assert build(integer("x"), number).eq(build(x, number))


@pytest.mark.parametrize("build", _ARITHMETIC[:3])
def test_a_number_may_come_first(build: Callable[[Any, Any], Any]) -> None:
    assert build(7, integer("x")).eq(build(7, z3.Int("x")))


def test_conditions_choices_and_functions_are_those_that_z3_builds() -> None:
    x, own = z3.Int("x"), integer("x")
    assert all_of([own > 1, own < 5]).eq(z3.And(x > 1, x < 5))
    assert any_of([own > 1, own < 5]).eq(z3.Or(x > 1, x < 5))
    assert negated(own > 1).eq(z3.Not(x > 1))
    assert ((own > 1) == (own < 5)).eq((x > 1) == (x < 5))
    assert ((own > 1) != (own < 5)).eq((x > 1) != (x < 5))
    assert chosen(own > 1, 1, own).eq(z3.If(x > 1, z3.IntVal(1), x))
    assert (-own).eq(-x)
    function = z3.Function("f", z3.IntSort(), z3.IntSort(), z3.IntSort())
    assert applied("f", [own, 3]).eq(function(x, 3))
    assert now().literal(-5).eq(z3.IntVal(-5))


def test_terms_of_z3_may_be_mixed_with_own_ones() -> None:
    x = z3.Int("x")
    assert (x + integer("y")).eq(x + z3.Int("y"))
    assert (integer("y") + x).eq(z3.Int("y") + x)


def test_what_is_not_of_its_sort_is_refused_and_leaves_no_harm() -> None:
    own = integer("x")
    with pytest.raises(z3.Z3Exception):
        all_of([own, own > 1])
    assert (own + 1).eq(z3.Int("x") + 1)


def test_a_term_lives_as_long_as_something_is_made_of_it() -> None:
    total = integer("x")
    for number in range(2000):
        total = total + integer(f"y{number}") * number
    gc.collect()
    for number in range(2000):  # would take the place of terms that are gone
        integer(f"z{number}") + number
    parts = list(Reader(total.ctx_ref()).all_parts(total.as_ast()))
    assert len(parts) > 3 * 2000
    assert part(total.as_ast(), now()).eq(total)
    assert known(z3.simplify(total)).eq(z3.simplify(total))


def test_a_reader_tells_what_terms_are_made_of() -> None:
    term = applied("f", [integer("x")]) / 3
    reader = Reader(term.ctx_ref())
    assert reader.operation(term.as_ast()) == z3.Z3_OP_IDIV
    function, three = reader.parts(term.as_ast())
    assert reader.literal(three) == 3
    assert reader.literal(function) is None
    assert reader.is_unknown(function)
    assert reader.name(function) == "f"
    assert reader.number(function) == applied("f", [integer("x")]).get_id()


def test_conditions_hold_in_a_context_of_their_own() -> None:
    conditions = [integer("x") > 3, integer("x") < 5]
    there = Translated(conditions)
    solver, other = z3.Solver(ctx=there.context), z3.Solver()
    there.tell(solver)
    tell(other, conditions)
    assert solver.check() == z3.sat
    assert solver.model().eval(z3.Int("x", there.context)).as_long() == 4
    assert [each.sexpr() for each in solver.assertions()] == [
        each.sexpr() for each in other.assertions()
    ]


@given(number=st.integers(-(2**40), 2**40), by=st.integers(1, 2**10))
def test_a_quotient_of_numbers_is_rounded_down_as_that_of_terms_is(number: int, by: int) -> None:
    found = z3.simplify(quotient(now().literal(number), by))
    assert quotient(number, by) == found.as_long()


def test_terms_of_two_contexts_are_not_put_together() -> None:
    outside = integer("x")
    with own_terms():
        own = integer("x")
        with pytest.raises(z3.Z3Exception, match="two contexts"):
            own + outside
        with pytest.raises(z3.Z3Exception, match="two contexts"):
            all_of([own > 1, outside > 1])
        with pytest.raises(z3.Z3Exception, match="another context"):
            tell(z3.Solver(ctx=now().context), [outside > 1])
    assert integer("x") is outside


def test_numbers_of_terms_follow_from_what_was_built_in_their_context() -> None:
    def numbers() -> list[int]:
        with own_terms():
            return [(integer("x") * each + 1).get_id() for each in range(50)]

    first = numbers()
    kept = [integer(f"between {each}") + each for each in range(1000)]
    assert numbers() == first
    assert len(kept) == 1000
