"""What is known of symbols: in which order it is told, and what it may speak of.

A symbol that several threads or iterations share must not be known by what one of them knows: the
facts of two contradict each other then, and from a contradiction all follows.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
import z3

from assay.compiler.verify import solver
from assay.compiler.verify.facts import Facts

from .chosen_kernels import chosen
from .judge import QUICK, answers, program_of
from .metal_launches import answers as answers_of_text
from .metal_launches import function_of
from .random_kernels import RandomKernel, drawn
from .soak import ABOUT
from .strict_kernels import strict
from .wide_kernels import wide

_ITERATION = re.compile(r"(?:now|turn|within|tile|before)\.\d+")
_THREAD = re.compile(r"(?:^|\.)(?P<thread>a|b|any|other|writer\d+)(?:\.|\(|$)")


def _names(term: Any) -> set[str]:
    """Names of a term's symbols and unknown functions."""
    found, seen, work = set[str](), set[int](), [term]
    while work:
        each = work.pop()
        if each.get_id() not in seen:
            seen.add(each.get_id())
            work += each.children()
            if z3.is_app(each) and each.decl().kind() == z3.Z3_OP_UNINTERPRETED:
                found.add(each.decl().name())
    return found


def _foreign(symbol: Any, fact: Any) -> set[str]:
    """Iterations and threads that a fact speaks of, though its symbol is of all of them."""
    own = _names(symbol)
    mine = {each for name in own for each in _ITERATION.findall(name)}
    threads = {match["thread"] for name in own if (match := _THREAD.search(name))}
    found = set[str]()
    for name in _names(fact) - own:
        found |= set(_ITERATION.findall(name)) - mine
        match = _THREAD.search(name)
        if match and match["thread"] not in threads:
            found.add(match["thread"])
    return found


@pytest.fixture
def stated(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """What is stated of symbols that is not theirs alone, with the symbol, while a test runs."""
    found: list[tuple[str, str]] = []
    state = Facts.state

    def noted(self: Facts, symbol: Any, fact: Any) -> None:
        if not isinstance(fact, bool):
            found.extend((str(symbol), each) for each in _foreign(symbol, fact))
        state(self, symbol, fact)

    monkeypatch.setattr(Facts, "state", noted)
    return found


@pytest.mark.parametrize("generator", [wide, drawn, strict, chosen])
def test_facts_speak_of_no_iteration_or_thread_but_their_symbol_s(
    generator: Callable[[int], RandomKernel], stated: list[tuple[str, str]]
) -> None:
    for seed in range(700, 708):
        kernel = generator(seed)
        answers(program_of(kernel, str(seed)), kernel, ABOUT, QUICK)
    assert not stated


def test_facts_of_kernels_of_metal_speak_of_no_other_iteration(
    stated: list[tuple[str, str]],
) -> None:
    for seed in range(700, 706):
        answers_of_text(function_of(seed), ABOUT, QUICK)
    assert not stated


def test_a_fact_of_another_iteration_or_thread_is_found() -> None:
    of_all, of_one = z3.Int("value.7"), z3.Function("value.7.a", z3.IntSort(), z3.IntSort())
    now, mine = z3.Int("now.3"), z3.Int("a.x")
    assert _foreign(of_all, of_all == now) == {"now.3"}
    assert _foreign(of_all, of_all == mine) == {"a"}
    assert not _foreign(of_one(now), of_one(now) == now + mine)


def test_facts_come_in_the_order_in_which_their_symbols_were_found() -> None:
    late, early = z3.Int("facts late"), z3.Int("facts early")  # numbered in this order
    facts = Facts([])
    facts.state(late, late >= 0)
    facts.state(early, early >= 0)
    assert facts.about([early + late > 7]) == [early >= 0, late >= 0]


def test_a_question_that_ends_without_an_answer_is_asked_where_nothing_was_asked_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = solver._solver

    def lame(context: Any, way: Any, seconds: float) -> Any:
        found = made(context, way, seconds)
        if context is z3.main_ctx():
            found.set("rlimit", 1)
        return found

    monkeypatch.setattr(solver, "_solver", lame)
    x, y = z3.Int("apart x"), z3.Int("apart y")
    formulas = [x > 0, y > 0, x * y == 391, x != 1, y != 1]
    assert solver.solve(formulas, Facts([])).answer == "yes"
    assert solver.solve([*formulas, x > 17, y > 23], Facts([])).answer == "no"


def test_symbols_of_a_model_come_by_name() -> None:
    symbols = [z3.Int(f"by name {each}") for each in "cabd"]
    model = solver.solve([each > 3 for each in symbols], Facts([]))
    assert [str(each) for each, _ in model.named()] == [f"by name {each}" for each in "abcd"]
