"""Errors in constant expressions that clang warns of, and that it would turn into nothing.

clang computes `1 << 33`, `7 / 0` and the like while it writes its IR, to no value at all, and what
depends on that is deleted. MSL counts shifts by their low bits and calls a division by zero
unspecified, so that such operations are written as calls here, which compute as values do.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from .source.layout import columns
from .source.lexer import Token

Kind = Literal["shift-count", "division-by-zero", "constant-index", "overflow", "no-constant"]
_WARNING = re.compile(
    r"(?P<file>.+?):(?P<line>\d+):(?P<column>\d+): warning: (?P<text>.*) \[-W(?P<flag>[\w-]+)\]"
)
_KINDS: dict[str, Kind] = {
    "shift-count-overflow": "shift-count",
    "shift-count-negative": "shift-count",
    "division-by-zero": "division-by-zero",
    "array-bounds": "constant-index",
    "array-bounds-pointer-arithmetic": "constant-index",
    "integer-overflow": "overflow",
    "global-constructors": "no-constant",
}
_TOLD = ("shift-count", "division-by-zero", "constant-index")  # what is wrong for sure
_OPERATORS = ("/", "%", "<", ">")  # shifts are two tokens
_PLACE = re.compile(r"^(!\d+) = (?:distinct )?!DILocation\(line: (\d+)", re.MULTILINE)
_LOST = re.compile(
    r"  (?!.*\b(?:insertelement|shufflevector|insertvalue)\b).*\bpoison\b.*!dbg (!\d+)"
)
# What is put behind an operator, with the operator again: the same precedence, another meaning.
_NAMES = {"<<": "__assay_shift", ">>": "__assay_shift", "/": "__assay_divide"}
_NAMES["%"] = _NAMES["/"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstantError:
    """A warning of clang's: what is wrong, and where in the user's text."""

    kind: Kind
    file: str
    line: int
    column: int
    text: str


def constant_errors(diagnostics: str) -> tuple[ConstantError, ...]:
    """The warnings in what clang wrote, each once; columns are those of the compiled text."""
    found = [
        ConstantError(
            kind=_KINDS[match["flag"]],
            file=match["file"],
            line=int(match["line"]),
            column=int(match["column"]),
            text=match["text"],
        )
        for match in map(_WARNING.fullmatch, diagnostics.splitlines())
        if match and match["flag"] in _KINDS
    ]
    return tuple(dict.fromkeys(found))


def keep_operations(
    tokens: Sequence[Token], errors: Sequence[ConstantError], bitcode: bytes
) -> bool:
    """Make calls of the operations that clang would compute to nothing; whether any changed.

    Of some it does not warn; they left their mark in the `bitcode` that it made.
    """
    places = {(error.file, error.line, error.column) for error in errors}
    # An overflow in an operand hides from clang what is wrong with the operation.
    lines = {error.line for error in errors if error.kind == "overflow"}
    if _has_operators(tokens):
        lines |= _lost_lines(bitcode)
    starts = columns(tokens) if places else {}
    changed = False
    for number, token in enumerate(tokens if places or lines else ()):
        is_named = (token.file, token.line, starts.get(id(token), 0)) in places
        if is_named or (token.line in lines and token.text in _OPERATORS):
            changed = _keep(tokens, number) or changed
    return changed


def _has_operators(tokens: Sequence[Token]) -> bool:
    """Whether there are divisions or shifts; a single `<` or `>` is none."""
    last = ""
    for token in tokens:
        text = token.text
        if text in _OPERATORS and (text in _NAMES or text == last):
            return True
        last = text
    return False


def _lost_lines(bitcode: bytes) -> set[int]:
    """Lines of the source whose operations have no value in what clang made of them."""
    text = _text(bitcode)
    found = {match[1] for match in map(_LOST.match, _lines_with(text, "poison")) if match}
    return {int(line) for name, line in _PLACE.findall(text) if name in found} if found else set()


def _lines_with(text: str, word: str) -> list[str]:
    return [line for line in text.split("\n") if word in line]


def _text(bitcode: bytes) -> str:
    from assay.sim.native.llvm_host import LLVM_LOCK, start_llvm
    from assay.sim.native.llvm_modules import module_of

    start_llvm()
    with LLVM_LOCK, module_of(bitcode) as module:
        return str(module)


def _keep(tokens: Sequence[Token], number: int) -> bool:
    """Put the name behind an operator; the two characters of a shift are tokens of their own."""
    operator, last = tokens[number].text, tokens[number]
    if operator in ("<", ">") and tokens[number + 1].text == operator:
        operator, last = 2 * operator, tokens[number + 1]
    if operator == ">>" and _closes_templates(tokens, number):
        return False
    name = _NAMES.get(operator)
    if name is not None:
        last.text += f"{name}{operator}"
    return name is not None


def _closes_templates(tokens: Sequence[Token], number: int) -> bool:
    """Whether a `>` may belong to a `<` before it in the same expression."""
    depth = 0
    for token in reversed(tokens[:number]):
        depth += (token.text in (")", "]")) - (token.text in ("(", "["))
        if depth < 0 or token.text in (";", "{", "}"):
            return False
        if depth == 0 and token.text == "<":
            return True
    return False


def told(
    errors: Sequence[ConstantError], tokens: Sequence[Token], bitcode: bytes
) -> tuple[ConstantError, ...]:
    """The errors that are wrong for sure in code that got into `bitcode`, at the user's columns."""
    errors = [error for error in errors if error.kind in _TOLD]
    if not errors:
        return ()
    lines = {int(line) for _, line in _PLACE.findall(_text(bitcode))}
    return tuple(in_source(error, tokens) for error in errors if error.line in lines)


def in_source(error: ConstantError, tokens: Sequence[Token]) -> ConstantError:
    """The error at the column of the user's own text."""
    starts = columns(tokens)
    for token in tokens:
        place = (token.file, token.line, starts[id(token)])
        if place == (error.file, error.line, error.column):
            return replace(error, column=token.column)
    return error
