"""Terms of the solver, read without an object of Python for each part of them.

Proofs ask thousands of times which symbols a formula has; z3's own objects cost some ten times as
much to go through.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


class Reader:
    """Reads terms by their plain handles, which are good as long as the whole formula is.

    Args:
        context: the handle of z3's context.
    """

    def __init__(self, context: Any) -> None:
        import z3

        self._context = context
        self._library: Any = z3
        self._application = z3.Z3_APP_AST
        self._unknown = z3.Z3_OP_UNINTERPRETED

    def number(self, term: Any) -> int:
        """What tells a term from others, as `get_id` does."""
        return int(self._library.Z3_get_ast_id(self._context, term))

    def parts(self, term: Any) -> Iterator[Any]:
        """What an operation is applied to."""
        library, context = self._library, self._context
        if library.Z3_get_ast_kind(context, term) != self._application:
            return
        for at in range(library.Z3_get_app_num_args(context, term)):
            yield library.Z3_get_app_arg(context, term, at)

    def is_unknown(self, term: Any) -> bool:
        """Whether it is a symbol, or the result of a function of which nothing is known."""
        library, context = self._library, self._context
        if library.Z3_get_ast_kind(context, term) != self._application:
            return False
        function = library.Z3_get_app_decl(context, term)
        return bool(library.Z3_get_decl_kind(context, function) == self._unknown)
