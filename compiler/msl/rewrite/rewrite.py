"""Turns preprocessed MSL into C++ that clang compiles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..source.attributes import Attributes
from ..source.layout import rendered
from ..source.lexer import Token, TokenStream
from ..source.scopes import Scopes
from . import (
    address_spaces,
    air,
    casts,
    function_constants,
    graphics,
    kernels,
    literals,
    methods,
    pragmas,
    strict,
    strings,
    templates,
    thread_pointers,
)
from .function_constants import ConstantValue, FunctionConstant
from .kernels import EntryPoint
from .refused import refuse_foreign
from .unsupported import refuse_unsupported


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewritten:
    """C++ text, and what the library offers."""

    text: str
    entries: tuple[EntryPoint, ...]
    constants: tuple[FunctionConstant, ...]
    defined: frozenset[str]
    tokens: list[Token]

    @property
    def is_unchanged(self) -> bool:
        """Whether nobody has repaired the tokens since."""
        return rendered(self.tokens) == self.text


def rewrite(preprocessed: str, values: Mapping[int | str, ConstantValue]) -> Rewritten:
    """Rewrite a preprocessed library with these function constants; raises CompileError."""
    stream = TokenStream(preprocessed)
    made = rewritten(stream, values)
    stream.raise_problems()
    return made


def rewritten(
    stream: TokenStream,
    values: Mapping[int | str, ConstantValue],
    *,
    with_rendering: bool = False,
) -> Rewritten:
    """What `rewrite` makes, even where rules of MSL are broken: `stream.problems` says how.

    With `with_rendering` vertex and fragment functions stay, as functions that anybody could call.

    Raises CompileError where nobody could go on.
    """
    refuse_foreign(stream)
    attributes = Attributes(stream)
    scopes = Scopes(stream, attributes)
    leave_out = graphics.demote_rendering if with_rendering else graphics.remove_rendering
    if leave_out(stream, scopes, attributes):
        stream.refresh()
        attributes = Attributes(stream)
        scopes = Scopes(stream, attributes)
    refuse_unsupported(stream)
    stream.raise_problems()  # of words that nobody knows, clang would say no more
    strict.check_rules(stream, scopes, attributes)
    air.define_labels(stream)
    constants = function_constants.find_constants(stream, scopes, attributes)
    resolved = function_constants.resolve(constants, values)
    entries = kernels.find_entry_points(stream, scopes, attributes)
    function_constants.rewrite_constants(stream, constants, resolved)
    literals.rewrite_literals(stream)
    strings.rewrite_strings(stream)
    casts.rewrite_casts(stream)
    templates.rewrite_vector_counts(stream)
    address_spaces.make_local_variables_static(stream, scopes)
    address_spaces.rewrite_array_parameters(stream, scopes, attributes)
    methods.rewrite_methods(stream, scopes)
    kernels.remove_kernel_keywords(stream)
    thread_pointers.refuse_other_memory(stream, scopes)
    address_spaces.rewrite_keywords(stream)
    pragmas.rewrite_pragmas(stream)
    return Rewritten(
        text=rendered(stream.all),
        entries=entries,
        constants=constants,
        defined=frozenset(resolved),
        tokens=stream.all,
    )
