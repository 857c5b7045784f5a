"""Terms of the solver, read without an object of Python for each part of them."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import z3

from .calls import call, typed


class Reader:
    """Reads terms by their plain handles, which are good as long as the whole formula is.

    Args:
        context: the handle of z3's context.
    """

    def __init__(self, context: Any) -> None:
        self._context = context

    def number(self, term: Any) -> int:
        """What tells a term from others, as `get_id` does."""
        return int(_ID(self._context, term))

    def parts(self, term: Any) -> Iterator[Any]:
        """What an operation is applied to."""
        context = self._context
        if _KIND(context, term) != z3.Z3_APP_AST:
            return
        for at in range(_COUNT(context, term)):
            yield _PART(context, term, at)

    def all_parts(self, term: Any) -> Iterator[Any]:
        """A term and all that it is made of, each once."""
        seen, work = set(), [term]
        while work:
            each = work.pop()
            number = self.number(each)
            if number not in seen:
                seen.add(number)
                yield each
                work += self.parts(each)

    def literal(self, term: Any) -> int | None:
        """The number that a term stands for as it is; None of others."""
        if not self.is_literal(term):
            return None
        return int(_LITERAL(self._context, term))

    def is_literal(self, term: Any) -> bool:
        """Whether a term is a number that is known."""
        return bool(_KIND(self._context, term) == z3.Z3_NUMERAL_AST)

    def operation(self, term: Any) -> int | None:
        """What is done with a term's parts, by z3's number of it; None of a number."""
        context = self._context
        if _KIND(context, term) != z3.Z3_APP_AST:
            return None
        return int(_OPERATION(context, _FUNCTION(context, term)))

    def is_unknown(self, term: Any) -> bool:
        """Whether it is a symbol, or the result of a function of which nothing is known."""
        return bool(self.operation(term) == z3.Z3_OP_UNINTERPRETED)

    def name(self, term: Any) -> str:
        """The name of a symbol, or of such a function."""
        symbol = _NAME(self._context, _FUNCTION(self._context, term))
        return str(_TEXT(self._context, symbol).decode())


_ID = call("Z3_get_ast_id", ctypes.c_uint, 2)
_KIND = call("Z3_get_ast_kind", ctypes.c_int, 2)
_COUNT = call("Z3_get_app_num_args", ctypes.c_uint, 2)
_FUNCTION = call("Z3_get_app_decl", z3.FuncDecl, 2)
_OPERATION = call("Z3_get_decl_kind", ctypes.c_int, 2)
_LITERAL = call("Z3_get_numeral_string", ctypes.c_char_p, 2)
_NAME = call("Z3_get_decl_name", z3.Symbol, 2)
_TEXT = call("Z3_get_symbol_string", ctypes.c_char_p, 2)
_PART = typed("Z3_get_app_arg", z3.Ast, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint)
