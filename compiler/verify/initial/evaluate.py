"""The solver's terms on arrays of numbers, to guess from; what is guessed is proved later."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from functools import cache, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..terms import Expression

Numbers = NDArray[np.int64] | NDArray[np.bool_]


class Unknown(Exception):
    """A term has a symbol that no numbers are given for."""


def evaluate(
    term: Expression, given: Mapping[str, Numbers], otherwise: int | None = None
) -> Numbers:
    """A term's numbers.

    Args:
        term: integers or a condition.
        given: numbers of symbols by name; their shapes are broadcast.
        otherwise: the number of all other symbols.

    Raises:
        Unknown: if a symbol is not given and there is no number for others.
    """
    if isinstance(term, int):
        return np.asarray(term)
    return _Evaluation(given, otherwise).of(term)


class _Evaluation:
    def __init__(self, given: Mapping[str, Numbers], otherwise: int | None) -> None:
        self._given = given
        self._otherwise = otherwise
        self._known: dict[int, Numbers] = {}

    def of(self, term: Any) -> Numbers:
        key = term.get_id()
        if key not in self._known:
            self._known[key] = self._found(term)
        return self._known[key]

    def _found(self, term: Any) -> Numbers:
        import z3

        if z3.is_int_value(term):
            return np.asarray(term.as_long())
        kind = term.decl().kind()
        if kind == z3.Z3_OP_UNINTERPRETED:
            name = term.decl().name()
            if term.num_args() == 0 and name in self._given:
                return self._given[name]
            if self._otherwise is None:
                raise Unknown(name)
            return np.asarray(self._otherwise)
        build = _operations().get(kind)
        if build is None:
            raise Unknown(str(term.decl()))
        return build(*(self.of(each) for each in term.children()))


@cache
def _operations() -> dict[int, Callable[..., Numbers]]:
    import z3

    return {
        z3.Z3_OP_ADD: lambda *parts: reduce(operator.add, parts),
        z3.Z3_OP_MUL: lambda *parts: reduce(operator.mul, parts),
        z3.Z3_OP_SUB: lambda *parts: reduce(operator.sub, parts),
        z3.Z3_OP_UMINUS: operator.neg,
        z3.Z3_OP_IDIV: lambda a, b: np.where(b == 0, 0, a // np.where(b == 0, 1, b)),
        z3.Z3_OP_MOD: lambda a, b: np.where(b == 0, a, a % np.where(b == 0, 1, b)),
        z3.Z3_OP_ITE: np.where,
        z3.Z3_OP_TRUE: lambda: np.asarray(True),
        z3.Z3_OP_FALSE: lambda: np.asarray(False),
        z3.Z3_OP_AND: lambda *parts: reduce(np.logical_and, parts),
        z3.Z3_OP_OR: lambda *parts: reduce(np.logical_or, parts),
        z3.Z3_OP_NOT: np.logical_not,
        **comparisons(),
    }


@cache
def comparisons() -> dict[int, Callable[[Any, Any], Any]]:
    """What compares two terms' numbers, by the solver's kinds of terms."""
    import z3

    return {
        z3.Z3_OP_EQ: operator.eq,
        z3.Z3_OP_DISTINCT: operator.ne,
        z3.Z3_OP_LT: operator.lt,
        z3.Z3_OP_LE: operator.le,
        z3.Z3_OP_GT: operator.gt,
        z3.Z3_OP_GE: operator.ge,
    }
