"""Compiling functions that only compiled functions call: once, and as little as that needs.

numba would optimise each of them, and make machine code of it, for its own sake and again in each
function around it; and do so for every constant that it is called with.
"""

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.types import unliteral


class _Part(JITCodeLibrary):
    """Code that is linked into that of others and optimised there, and never runs by itself.

    Where numba asks for its machine code, there is none.
    """

    @property
    def codegen(self) -> "_Nowhere":
        """Who would note where its constants are."""
        return _Nowhere()

    def get_pointer_to_function(self, name: str) -> int:
        """Zero, as of a function that does not exist."""
        self._ensure_finalized()  # type: ignore[no-untyped-call]  # numba's own
        return 0

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()  # type: ignore[no-untyped-call]  # numba's own
        self._finalized = True


class _Nowhere:
    """Stands for the place of machine code that is not there."""

    def set_env(self, name: str, environment: object) -> None:
        """Does nothing."""


class PartCompiler(Compiler):
    """A pipeline for `numba.njit` whose result is a part of others."""

    def __init__(self, typing: Any, target: Any, library: Any, *more: Any) -> None:
        part = library or _Part(target.codegen(), "part")  # type: ignore[no-untyped-call]  # numba's
        super().__init__(typing, target, part, *more)  # type: ignore[no-untyped-call]  # numba's own


def for_all_constants(dispatcher: Any) -> object:
    """Lets a function be compiled for types alone, not for each constant that it is called with."""
    template = dispatcher.get_call_template

    def of_types(arguments: Any, names: dict[str, Any]) -> Any:
        return template(
            [_type_of(a) for a in arguments], {n: _type_of(a) for n, a in names.items()}
        )

    dispatcher.get_call_template = of_types
    return dispatcher


def _type_of(argument: Any) -> Any:
    return unliteral(argument)  # type: ignore[no-untyped-call]  # numba's own
