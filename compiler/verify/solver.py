"""Asks z3, always in the same way, so that answers repeat."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from assay.traces.garbage import no_collection

from .facts import Facts
from .terms import Expression

Answer = Literal["yes", "no", "unknown"]
_SEED: Final = 17
_UNITS_A_SECOND: Final = 400_000  # z3 counts its own work, which unlike time repeats


@dataclass(frozen=True, slots=True)
class _Way:
    """How z3 is asked.

    Attributes:
        tactics: what it does in turn; its usual ones if there are none.
        share: of the work that is allowed, how much.
        is_simplex: whether sums are solved by its older simplex, which gives up soon or never does.
    """

    tactics: tuple[str, ...] = ()
    share: float = 1
    is_simplex: bool = False


# The first decides nine questions of ten, most in a few thousandths of a second; z3's usual way is
# slower at these, and decides nearly all of the rest. Quotients as numbers of their own are what
# most get easy by that cannot hold, and hard that can.
_FIRST: Final = _Way(("smt",), is_simplex=True)
_USUAL: Final = _Way()
_PURIFIED: Final = _Way(("purify-arith", "smt"))
_SOON: Final = replace(_PURIFIED, share=0.25)
_LAST: Final = _Way(
    ("simplify", "propagate-values", "solve-eqs", "elim-uncnstr", "purify-arith", "smt")
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


@contextmanager
def own_terms() -> Iterator[None]:
    """Have the solver's terms in a context of their own, so that what was asked before, of other
    kernels, changes no answer.
    """
    from .native.building import own_terms

    # Terms live as long as their context: to look for cycles among them would be in vain.
    with no_collection(), own_terms():
        yield


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

    def named(self) -> list[tuple[Any, Any]]:
        """Symbols and functions that the model has, by name, each with what it is."""
        found = [(each, self.numbers[each]) for each in self.numbers.decls()]
        return sorted((each for each in found if each[1] is not None), key=_name)


def _name(found: tuple[Any, Any]) -> str:
    return str(found[0].name())


def solve(
    formulas: Iterable[Expression],
    facts: Facts,
    seconds: float = 4.0,
    *,
    shows_numbers: bool = True,
    is_doubted: bool = False,
) -> Model:
    """Whether formulas can hold together, with all that is known of their symbols.

    Args:
        formulas: conditions.
        facts: what is known of symbols.
        seconds: about how long it may take, in units of work so that results repeat.
        shows_numbers: whether the numbers matter for which they hold.
        is_doubted: whether they are more likely not to hold.

    Raises:
        OutOfTime: if the time of `time_limit` is over.
    """
    import z3

    from .native.asking import tell
    from .native.building import now

    if _thread.end is not None and time.monotonic() > _thread.end:
        raise OutOfTime
    given = list(formulas)
    if any(each is False for each in given):
        return Model("no")
    open = [each for each in given if each is not True]
    stated = [*open, *facts.about(open)]
    solver = _solver(now().context, _FIRST, seconds)
    tell(solver, stated)
    found = solver.check()
    if found == z3.unsat:
        return Model("no")
    if found == z3.unknown:
        ways = (_SOON, _USUAL, _PURIFIED, _LAST) if is_doubted else (_USUAL, _PURIFIED, _LAST)
        return _apart(stated, ways, seconds) or Model("unknown")
    return Model("yes", solver.model() if shows_numbers else None)


def _apart(stated: Sequence[Any], ways: Iterable[_Way], seconds: float) -> Model | None:
    """What is found by the first way that finds something; None if none does.

    How far z3 comes follows the numbers that it gave to terms, and so what was asked before of the
    same kernel. Here it is asked in a context of its own, where hard questions have the same answer
    whatever came before.
    """
    import z3

    from .native.asking import Translated
    from .native.building import now

    formulas = Translated(stated)
    for way in ways:
        solver = _solver(formulas.context, way, seconds)
        formulas.tell(solver)
        found = solver.check()
        if found == z3.sat:
            return Model("yes", solver.model().translate(now().context))
        if found == z3.unsat:
            return Model("no")
    return None


def _solver(context: Any, way: _Way, seconds: float) -> Any:
    import z3

    steps = [z3.Tactic(each, ctx=context) for each in way.tactics]
    if steps:
        solver = (z3.Then(*steps, ctx=context) if len(steps) > 1 else steps[0]).solver()
    else:
        solver = z3.Solver(ctx=context)
    solver.set("random_seed", _SEED)
    solver.set("rlimit", int(seconds * way.share * _UNITS_A_SECOND))
    if way.is_simplex:
        solver.set("arith.solver", 2)
    return solver
