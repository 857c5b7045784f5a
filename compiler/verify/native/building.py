"""Terms of integers and conditions, built with a call or two of z3's library each.

They are terms of z3 like those that its own functions and operators build, equal to them, and may
be mixed with them. Proofs build some hundred thousand; z3's operators find the sorts of operands
anew each time, and cost about ten times as much.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any

import z3

from .calls import ADD_REFERENCE, DROP_REFERENCE, Call, call, call_of_many, typed

_MAIN = z3.main_ctx()
_CONTEXT = _MAIN.ref()
_INTEGERS = z3.IntSort()
_MANY = 4096  # numbers that are kept
_SYMBOLS = 1 << 14


class Number(z3.ArithRef):  # type: ignore[misc]
    """An integer of z3's main context."""

    def __init__(self, ast: Any) -> None:
        _keep(self, ast)

    # At the end of Python, what is global may be gone before the last terms.
    def __del__(self, drop: Call = DROP_REFERENCE, context: Any = _CONTEXT) -> None:
        if self.ast:
            drop(context, self.ast)

    def get_id(self) -> int:
        """What tells it from other terms."""
        return int(_ID(_CONTEXT, self.ast))

    def is_int(self) -> bool:
        """That it is no real number."""
        return True

    def __add__(self, other: Any) -> Any:
        return _of_many(_ADD, self, other)

    def __radd__(self, other: Any) -> Any:
        return _of_many(_ADD, other, self)

    def __sub__(self, other: Any) -> Any:
        return _of_many(_SUB, self, other)

    def __rsub__(self, other: Any) -> Any:
        return _of_many(_SUB, other, self)

    def __mul__(self, other: Any) -> Any:
        return _of_many(_MUL, self, other)

    def __rmul__(self, other: Any) -> Any:
        return _of_many(_MUL, other, self)

    def __truediv__(self, other: Any) -> Any:
        return Number(_DIV(_CONTEXT, self.ast, _handle(other)))

    def __mod__(self, other: Any) -> Any:
        return Number(_MOD(_CONTEXT, self.ast, _handle(other)))

    def __neg__(self) -> Any:
        return Number(_NEGATIVE(_CONTEXT, self.ast))

    def __lt__(self, other: Any) -> Any:
        return Truth(_LT(_CONTEXT, self.ast, _handle(other)))

    def __le__(self, other: Any) -> Any:
        return Truth(_LE(_CONTEXT, self.ast, _handle(other)))

    def __gt__(self, other: Any) -> Any:
        return Truth(_GT(_CONTEXT, self.ast, _handle(other)))

    def __ge__(self, other: Any) -> Any:
        return Truth(_GE(_CONTEXT, self.ast, _handle(other)))

    def __eq__(self, other: object) -> Any:
        return Truth(_EQ(_CONTEXT, self.ast, _handle(other)))

    def __ne__(self, other: object) -> Any:
        return _unlike(self.ast, _handle(other))

    __hash__ = z3.ArithRef.__hash__


class Literal(Number, z3.IntNumRef):  # type: ignore[misc]
    """A number that is known."""


class Truth(z3.BoolRef):  # type: ignore[misc]
    """A condition of z3's main context."""

    def __init__(self, ast: Any) -> None:
        _keep(self, ast)

    # At the end of Python, what is global may be gone before the last terms.
    def __del__(self, drop: Call = DROP_REFERENCE, context: Any = _CONTEXT) -> None:
        if self.ast:
            drop(context, self.ast)

    def get_id(self) -> int:
        """What tells it from other terms."""
        return int(_ID(_CONTEXT, self.ast))

    def __eq__(self, other: object) -> Any:
        return Truth(_EQ(_CONTEXT, self.ast, _condition(other)))

    def __ne__(self, other: object) -> Any:
        return _unlike(self.ast, _condition(other))

    __hash__ = z3.BoolRef.__hash__


def _keep(term: Any, ast: Any) -> None:
    term.ast, term.ctx = ast, _MAIN
    if not ast:  # of what is not of its sort
        raise z3.Z3Exception("no term was made")
    ADD_REFERENCE(_CONTEXT, ast)


@lru_cache(_SYMBOLS)
def integer(name: str) -> Number:
    """The integer of a name."""
    return Number(z3.Int(name).ast)


@lru_cache(_MANY)
def literal(number: int) -> Literal:
    """A number."""
    return Literal(z3.IntVal(number).ast)


def applied(name: str, arguments: Sequence[Any]) -> Number:
    """The result of a function of integers of which nothing is known but its name."""
    count = len(arguments)
    given = (z3.Ast * count)(*[_handle(each) for each in arguments])
    return Number(_APPLIED(_CONTEXT, _function(name, count).ast, count, given))


@cache
def _function(name: str, count: int) -> Any:
    return z3.Function(name, *[_INTEGERS] * (count + 1))


def known(handle: Any) -> Any:
    """A number or condition of the main context, by the handle of one that somebody keeps."""
    if _AST_KIND(_CONTEXT, handle) == z3.Z3_NUMERAL_AST:
        return Literal(handle)
    sort = _SORT_KIND(_CONTEXT, _SORT(_CONTEXT, handle))
    return Truth(handle) if sort == z3.Z3_BOOL_SORT else Number(handle)


def all_of(conditions: Sequence[Any]) -> Truth:
    """That all conditions hold."""
    return Truth(_AND(_CONTEXT, len(conditions), _array(conditions)))


def any_of(conditions: Sequence[Any]) -> Truth:
    """That one of several conditions holds."""
    return Truth(_OR(_CONTEXT, len(conditions), _array(conditions)))


def negated(condition: Any) -> Truth:
    """That a condition does not hold."""
    return Truth(_NOT(_CONTEXT, condition.ast))


def chosen(condition: Any, yes: Any, no: Any) -> Number:
    """One of two numbers."""
    return Number(_ITE(_CONTEXT, condition.ast, _handle(yes), _handle(no)))


def _handle(number: Any) -> Any:
    """A number's term; ctypes refuses what has none."""
    return literal(number).ast if isinstance(number, int) else number.ast


def _condition(condition: Any) -> Any:
    return z3.BoolVal(condition).ast if isinstance(condition, bool) else condition.ast


def _of_many(function: Call, a: Any, b: Any) -> Number:
    return Number(function(_CONTEXT, 2, _Pair(_handle(a), _handle(b))))


def _unlike(a: Any, b: Any) -> Truth:
    return Truth(_DISTINCT(_CONTEXT, 2, _Pair(a, b)))


def _array(conditions: Sequence[Any]) -> Any:
    return (z3.Ast * len(conditions))(*[each.ast for each in conditions])


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
