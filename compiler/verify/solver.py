"""Asks z3, always in the same way, so that answers repeat."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, Literal

from .facts import Facts
from .terms import Expression

Answer = Literal["yes", "no", "unknown"]
_SEED: Final = 17
_UNITS_A_SECOND: Final = 400_000  # z3 counts its own work, which unlike time repeats
# Quotients as numbers of their own are what most questions get easy by.
_WAYS: Final = (
    ("purify-arith", "smt"),
    ("simplify", "propagate-values", "solve-eqs", "elim-uncnstr", "purify-arith", "smt"),
    (),
)


class OutOfTime(Exception):
    """There is no time for a further question."""


class _Thread(threading.local):
    end: float | None = None  # of the time for questions, by `time.monotonic`


_thread = _Thread()


@contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """Let questions be asked for so long, then raise OutOfTime; None for any time."""
    outer = _thread.end
    _thread.end = None if seconds is None else time.monotonic() + seconds
    try:
        yield
    finally:
        _thread.end = outer


@dataclass(frozen=True, slots=True)
class Model:
    """Whether formulas can hold together, and if so numbers for which they do."""

    answer: Answer
    numbers: Any = None

    def number(self, term: Expression) -> int:
        """What a term is in the model."""
        if isinstance(term, int):
            return term
        return int(self.numbers.eval(term, model_completion=True).as_long())


def solve(
    formulas: Iterable[Expression],
    facts: Facts,
    seconds: float = 4.0,
    *,
    shows_numbers: bool = True,
) -> Model:
    """Whether formulas can hold together, with all that is known of their symbols.

    Args:
        formulas: conditions.
        facts: what is known of symbols.
        seconds: about how long it may take, in units of work so that results repeat.
        shows_numbers: whether the numbers matter for which they hold.

    Raises:
        OutOfTime: if the time of `time_limit` is over.
    """
    import z3

    if _thread.end is not None and time.monotonic() > _thread.end:
        raise OutOfTime
    given = list(formulas)
    if any(each is False for each in given):
        return Model("no")
    open = [each for each in given if each is not True]
    stated = [*open, *facts.about(open)]
    for tactics in _WAYS:
        solver = _solver(z3.main_ctx(), tactics, seconds)
        solver.add(*stated)
        found = solver.check()
        if found == z3.sat:
            if not shows_numbers:
                return Model("yes")
            return Model("yes", _repeatable(stated, tactics, seconds) or solver.model())
        if found == z3.unsat:
            return Model("no")
    return Model("unknown")


def _solver(context: Any, tactics: tuple[str, ...], seconds: float) -> Any:
    import z3

    solver = z3.Then(*tactics, ctx=context).solver() if tactics else z3.Solver(ctx=context)
    solver.set("random_seed", _SEED)
    solver.set("rlimit", int(seconds * _UNITS_A_SECOND))
    return solver


def _repeatable(stated: Iterable[Any], tactics: tuple[str, ...], seconds: float) -> Any:
    """A model that does not depend on what was asked before; None if there is no time for it.

    Numbers of models follow the numbers that z3 gave to terms, so they are found apart.
    """
    import z3

    context = z3.Context()
    solver = _solver(context, tactics, seconds)
    solver.add(*(each.translate(context) for each in stated))
    return solver.model().translate(z3.main_ctx()) if solver.check() == z3.sat else None
