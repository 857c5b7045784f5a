"""Conditions handed to solvers, of the context that they are of or of another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import z3

from .calls import ADD_REFERENCE, call


def tell(solver: Any, conditions: Iterable[Any]) -> None:
    """Have a solver take that conditions hold; z3's own way casts each to be one first.

    Raises z3.Z3Exception for one of another context.
    """
    context = solver.ctx.ref()
    for each in conditions:
        if each.ctx is not solver.ctx:
            raise z3.Z3Exception("a condition of another context than the solver's")
        _ASSERT(context, solver.solver, each.ast)


class Translated:
    """Conditions in a context of their own, with which they go.

    Args:
        conditions: of another context.
    """

    def __init__(self, conditions: Sequence[Any]) -> None:
        self.context = z3.Context()
        self._own = self.context.ref()
        self._terms = []
        for each in conditions:
            term = _TRANSLATE(each.ctx.ref(), each.ast, self._own)
            if not term:
                raise z3.Z3Exception("no term was made")
            ADD_REFERENCE(self._own, term)
            self._terms.append(term)

    def tell(self, solver: Any) -> None:
        """Have a solver of that context take that they hold."""
        for each in self._terms:
            _ASSERT(self._own, solver.solver, each)


_ASSERT = call("Z3_solver_assert", None, 3)
_TRANSLATE = call("Z3_translate", z3.Ast, 3)
