"""Terms of integers and conditions, built with a call or two of z3's library each.

They are terms of z3 like those that its own functions and operators build, equal to them. Proofs
build some hundred thousand; z3's operators find the sorts of operands anew each time, and cost
about ten times as much.

Terms of a proof are in a context of their own, and live as long as it does. So the numbers that z3
gives them, by which it orders its work, follow from the kernel and not from what was asked before
or from when Python frees something: answers repeat.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import z3

from .calls import ADD_REFERENCE, Call, call, call_of_many, typed


class Terms:
    """A context for terms, and those of its terms that are come by again and again.

    Args:
        context: z3's.
    """

    def __init__(self, context: Any) -> None:
        self.context = context
        self.handle = context.ref()
        self._integers = z3.IntSort(context)
        self._literals: dict[int, Literal] = {}
        self._symbols: dict[str, Number] = {}
        self._functions: dict[tuple[str, int], Any] = {}

    def literal(self, number: int) -> Literal:
        """A number."""
        found = self._literals.get(number)
        if found is None:
            made = z3.IntVal(number, self.context)
            found = self._literals[number] = Literal(made.ast, self)
        return found

    def integer(self, name: str) -> Number:
        """The integer of a name."""
        found = self._symbols.get(name)
        if found is None:
            made = z3.Int(name, self.context)
            found = self._symbols[name] = Number(made.ast, self)
        return found

    def applied(self, name: str, arguments: Sequence[Any]) -> Number:
        """The result of a function of integers of which nothing is known but its name."""
        count = len(arguments)
        if (name, count) not in self._functions:
            sorts = [self._integers] * (count + 1)
            self._functions[name, count] = z3.Function(name, *sorts)
        function = self._functions[name, count].ast
        given = (z3.Ast * count)(*[self.number(each) for each in arguments])
        return Number(_APPLIED(self.handle, function, count, given), self)

    def number(self, number: Any) -> Any:
        """The handle of a number."""
        if isinstance(number, int):
            return self.literal(number).ast
        return self.handle_of(number)

    def condition(self, condition: Any) -> Any:
        """The handle of a condition."""
        if isinstance(condition, bool):
            condition = z3.BoolVal(condition, self.context)
            ADD_REFERENCE(self.handle, condition.ast)
        return self.handle_of(condition)

    def handle_of(self, term: Any) -> Any:
        """The handle of a term of this context; of others it would be read as what it is not."""
        if term.ctx is not self.context:
            raise z3.Z3Exception("terms of two contexts were put together")
        return term.ast

    def handles_of(self, terms: Sequence[Any]) -> Any:
        """The handles of several."""
        return (z3.Ast * len(terms))(*[self.handle_of(each) for each in terms])


class _Now(threading.local):
    def __init__(self) -> None:
        self.terms = _OUTSIDE


_OUTSIDE = Terms(z3.main_ctx())
_now = _Now()


def now() -> Terms:
    """Those of the proof that is being looked for; outside of proofs, of z3's main context."""
    return _now.terms


@contextmanager
def own_terms() -> Iterator[None]:
    """Have terms in a context of their own."""
    outer, _now.terms = _now.terms, Terms(z3.Context())
    try:
        yield
    finally:
        _now.terms = outer


class _Own:
    """What is the same of numbers and conditions: where they live, and how long."""

    ast: Any
    ctx: Any

    def __init__(self, ast: Any, terms: Terms) -> None:
        if not ast:  # of what is not of its sort
            raise z3.Z3Exception("no term was made")
        self.ast, self.ctx, self.terms = ast, terms.context, terms
        ADD_REFERENCE(terms.handle, ast)

    def __del__(self) -> None:
        """It goes with its context."""

    def get_id(self) -> int:
        """What tells it from other terms."""
        return int(_ID(self.terms.handle, self.ast))


class Number(_Own, z3.ArithRef):  # type: ignore[misc]
    """An integer."""

    def is_int(self) -> bool:
        """That it is no real number."""
        return True

    def __add__(self, other: Any) -> Any:
        return _of_many(_ADD, self.terms, self, other)

    def __radd__(self, other: Any) -> Any:
        return _of_many(_ADD, self.terms, other, self)

    def __sub__(self, other: Any) -> Any:
        return _of_many(_SUB, self.terms, self, other)

    def __rsub__(self, other: Any) -> Any:
        return _of_many(_SUB, self.terms, other, self)

    def __mul__(self, other: Any) -> Any:
        return _of_many(_MUL, self.terms, self, other)

    def __rmul__(self, other: Any) -> Any:
        return _of_many(_MUL, self.terms, other, self)

    def __truediv__(self, other: Any) -> Any:
        terms = self.terms
        return Number(_DIV(terms.handle, self.ast, terms.number(other)), terms)

    def __mod__(self, other: Any) -> Any:
        terms = self.terms
        return Number(_MOD(terms.handle, self.ast, terms.number(other)), terms)

    def __neg__(self) -> Any:
        return Number(_NEGATIVE(self.terms.handle, self.ast), self.terms)

    def __lt__(self, other: Any) -> Any:
        return _compared(_LT, self, other)

    def __le__(self, other: Any) -> Any:
        return _compared(_LE, self, other)

    def __gt__(self, other: Any) -> Any:
        return _compared(_GT, self, other)

    def __ge__(self, other: Any) -> Any:
        return _compared(_GE, self, other)

    def __eq__(self, other: object) -> Any:
        return _compared(_EQ, self, other)

    def __ne__(self, other: object) -> Any:
        return _unlike(self.terms, self.ast, self.terms.number(other))

    __hash__ = z3.ArithRef.__hash__


class Literal(Number, z3.IntNumRef):  # type: ignore[misc]
    """A number that is known."""


class Truth(_Own, z3.BoolRef):  # type: ignore[misc]
    """A condition."""

    def __eq__(self, other: object) -> Any:
        terms = self.terms
        return Truth(_EQ(terms.handle, self.ast, terms.condition(other)), terms)

    def __ne__(self, other: object) -> Any:
        return _unlike(self.terms, self.ast, self.terms.condition(other))

    __hash__ = z3.BoolRef.__hash__


def integer(name: str) -> Number:
    """The integer of a name."""
    return now().integer(name)


def applied(name: str, arguments: Sequence[Any]) -> Number:
    """The result of a function of integers of which nothing is known but its name."""
    return now().applied(name, arguments)


def known(term: Any) -> Any:
    """A number or condition that z3 gave."""
    terms = terms_of(term)
    if isinstance(term, z3.IntNumRef):
        return Literal(term.ast, terms)
    return Truth(term.ast, terms) if isinstance(term, z3.BoolRef) else Number(term.ast, terms)


def part(handle: Any, terms: Terms) -> Any:
    """A number or condition by the handle of one that somebody keeps."""
    if _AST_KIND(terms.handle, handle) == z3.Z3_NUMERAL_AST:
        return Literal(handle, terms)
    sort = _SORT_KIND(terms.handle, _SORT(terms.handle, handle))
    return Truth(handle, terms) if sort == z3.Z3_BOOL_SORT else Number(handle, terms)


def all_of(conditions: Sequence[Any]) -> Truth:
    """That all conditions hold."""
    terms = terms_of(conditions[0])
    return Truth(_AND(terms.handle, len(conditions), terms.handles_of(conditions)), terms)


def any_of(conditions: Sequence[Any]) -> Truth:
    """That one of several conditions holds."""
    terms = terms_of(conditions[0])
    return Truth(_OR(terms.handle, len(conditions), terms.handles_of(conditions)), terms)


def negated(condition: Any) -> Truth:
    """That a condition does not hold."""
    terms = terms_of(condition)
    return Truth(_NOT(terms.handle, condition.ast), terms)


def chosen(condition: Any, yes: Any, no: Any) -> Number:
    """One of two numbers."""
    terms = terms_of(condition)
    made = _ITE(terms.handle, condition.ast, terms.number(yes), terms.number(no))
    return Number(made, terms)


def terms_of(term: Any) -> Terms:
    """Those that a term is one of; z3's own are of its main context."""
    found = getattr(term, "terms", None)
    if found is not None:
        return found  # type: ignore[no-any-return]
    return _now.terms if term.ctx is _now.terms.context else _OUTSIDE


def _of_many(function: Call, terms: Terms, a: Any, b: Any) -> Number:
    pair = _Pair(terms.number(a), terms.number(b))
    return Number(function(terms.handle, 2, pair), terms)


def _compared(function: Call, a: Number, b: object) -> Truth:
    terms = a.terms
    return Truth(function(terms.handle, a.ast, terms.number(b)), terms)


def _unlike(terms: Terms, a: Any, b: Any) -> Truth:
    return Truth(_DISTINCT(terms.handle, 2, _Pair(a, b)), terms)


_Pair = z3.Ast * 2
_ID = call("Z3_get_ast_id", ctypes.c_uint, 2)
_ADD, _SUB, _MUL, _AND, _OR, _DISTINCT = (
    call_of_many(f"Z3_mk_{each}", z3.Ast) for each in ("add", "sub", "mul", "and", "or", "distinct")
)
_DIV, _MOD, _LT, _LE, _GT, _GE, _EQ = (
    call(f"Z3_mk_{each}", z3.Ast, 3) for each in ("div", "mod", "lt", "le", "gt", "ge", "eq")
)
_AST_KIND = call("Z3_get_ast_kind", ctypes.c_int, 2)
_SORT, _SORT_KIND = call("Z3_get_sort", z3.Sort, 2), call("Z3_get_sort_kind", ctypes.c_int, 2)
_NEGATIVE, _NOT = (call(f"Z3_mk_{each}", z3.Ast, 2) for each in ("unary_minus", "not"))
_ITE = call("Z3_mk_ite", z3.Ast, 4)
_APPLIED = typed(
    "Z3_mk_app", z3.Ast, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint, ctypes.c_void_p
)
