"""`thread` pointers and references take objects of the thread alone.

To clang a pointer without an address space is one to any memory, so a function of a `thread`
pointer would take a `device` one. Beside each such function an overload for every other address
space is declared that must not be called: clang then tells the mistake at the call.
"""

from __future__ import annotations

from collections import Counter

from ..source.lexer import Token, TokenStream
from ..source.scopes import Function, Scopes
from .address_spaces import ATTRIBUTE, parameter_ranges

_LEFT_OUT = frozenset({"extern", "friend", "operator", "kernel", "typedef", "[", "...", "="})


def refuse_other_memory(stream: TokenStream, scopes: Scopes) -> None:
    """Declare the overloads; must come before anything else is put in front of functions."""
    counts = Counter(function.name for function in scopes.functions)
    values = _used_as_values(stream)
    added: dict[int, str] = {}
    for function in scopes.functions:
        if counts[function.name] == 1 and function.name not in values and function.body is not None:
            text = _overloads(stream, function)
            if text:
                added[id(stream.tokens[function.start])] = text
    if added:
        stream.all[:] = [
            each
            for token in stream.all
            for each in (*_inserted(token, added.get(id(token), "")), token)
        ]


def _inserted(token: Token, text: str) -> list[Token]:
    return [Token("space", text, "", token.file, token.line, token.column)] if text else []


def _used_as_values(stream: TokenStream) -> set[str]:
    """Names that stand somewhere without a parameter list behind: perhaps functions as values."""
    found: set[str] = set()
    for index, token in enumerate(stream.tokens[:-1]):
        if token.kind == "ident" and stream.texts[index + 1] not in ("(", "<"):
            found.add(token.original)
        elif token.kind == "ident" and stream.texts[index + 1] == "<":
            close = stream.close_angle(index + 1)
            if close is None or stream.texts[close + 1] != "(":
                found.add(token.original)
    return found


def _overloads(stream: TokenStream, function: Function) -> str:
    """The deleted declarations for one function, or "" if it has no parameter that needs them."""
    if _LEFT_OUT & set(stream.texts[function.start : function.parameters[1]]):
        return ""
    head = _text(stream, function.start, function.parameters[0] - 1, {})
    ranges = parameter_ranges(stream, function.parameters)
    out: list[str] = []
    for number, (first, last) in enumerate(ranges):
        space = _thread_keyword(stream, first, last)
        if space is None:
            continue
        for name, attribute in ATTRIBUTE.items():
            parameters = [
                _text(stream, start, end, {space: attribute} if place == number else {})
                for place, (start, end) in enumerate(ranges)
            ]
            reason = f"the argument lies in {name} memory, not in the thread's"
            out.append(f'{head}({", ".join(parameters)}) = delete("{reason}"); ')
    return "".join(out)


def _thread_keyword(stream: TokenStream, first: int, last: int) -> int | None:
    """Index of `thread` in `thread T* p` or `thread T& r`, if nothing else points."""
    words = stream.texts[first : last + 1]
    points = [word for word in words if word in ("*", "&", "&&", "(")]
    if words.count("thread") != 1 or points not in (["*"], ["&"]):
        return None
    if points == ["&"] and "const" in words:
        return None
    return first + words.index("thread")


def _text(stream: TokenStream, first: int, last: int, replaced: dict[int, str]) -> str:
    """Tokens as C++ text, some of them replaced."""
    out: list[str] = []
    for index in range(first, last + 1):
        word = stream.texts[index]
        if index in replaced:
            out.append(replaced[index])
        elif word in ATTRIBUTE:
            out.append(ATTRIBUTE[word])
        elif word != "thread":
            out.append(stream.tokens[index].text)
    return " ".join(out)
