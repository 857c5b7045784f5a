"""Functions that do not compile, emptied: an error in one kernel is that kernel's alone.

Each body becomes a call of a function that nobody defines, whose name shows in the bitcode of the
kernels that use it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ..errors import CompileError, split_errors
from ..source.attributes import Attributes
from ..source.lexer import TokenStream
from ..source.scopes import Function, Scopes

_NAME = "assay_does_not_compile_"
_USED = re.compile(rb"assay_does_not_compile_(\d+)")
_PLACE = re.compile(r"^(?P<file>[^\n]+?):(?P<line>\d+):(?P<column>\d+): ", re.MULTILINE)
_REQUESTED = re.compile(
    r"^(?P<file>[^\n]+?):(?P<line>\d+):(?P<column>\d+): note: in instantiation of", re.MULTILINE
)


def quarantined(text: str, error: str, known: int) -> tuple[str, dict[int, str]]:
    """The text with those functions emptied that `error` tells of, and why by their numbers.

    Args:
        text: preprocessed MSL.
        error: what is wrong with it.
        known: how many functions were emptied before.

    Raises:
        CompileError: `error`, if some of it lies in no function's body.
    """
    try:
        stream = TokenStream(text)
        functions = list(Scopes(stream, Attributes(stream)).all_functions())
    except CompileError:
        raise CompileError(error) from None
    errors: dict[int, list[str]] = {}
    for one in split_errors(error) or [error]:  # of no place: the compiler broke off
        at = _blamed(one, stream, functions)
        if at is None:
            raise CompileError(error)
        errors.setdefault(at, []).append(one)
    found: dict[int, str] = {}
    stream = TokenStream(text)  # with the attributes, which the search for functions takes out
    for at, texts in errors.items():
        number = known + len(found)
        _empty(stream, functions[at], number)
        found[number] = "\n".join(texts)
    return stream.render(), found


def problem_in(bitcode: bytes, problems: Mapping[int, str]) -> str:
    """Why code cannot run: the errors of the emptied functions that it calls; "" if of none."""
    numbers = sorted({int(number) for number in _USED.findall(bitcode)})
    return "\n".join(problems[number] for number in numbers if number in problems)


def _blamed(error: str, stream: TokenStream, functions: list[Function]) -> int | None:
    """Number of the function that asked for what is wrong, or in which it stands."""
    requests = list(_REQUESTED.finditer(error))
    place = requests[-1] if requests else _PLACE.match(error)
    if place is None:
        return None
    file, line, column = place["file"], int(place["line"]), int(place["column"])
    best = None
    for number, function in enumerate(functions):
        if function.body is None:
            continue
        first, last = (stream.tokens[index] for index in function.body)
        begins, ends = (first.line, first.column), (last.line, last.column)
        if first.file == file and begins <= (line, column) <= ends:
            best = number
    return best


def _empty(stream: TokenStream, function: Function, number: int) -> None:
    assert function.body is not None
    first, last = function.body
    for index in range(first + 1, last):
        stream.set(index, "")
    name = f"{_NAME}{number}"
    stream.after(first, f" void {name}(); {name}(); ")
