"""Address spaces: MSL's keywords become type attributes that clang carries into the IR.

``device``, ``constant`` and ``threadgroup`` become address spaces 1, 6 and 3. ``thread`` is erased:
clang then treats a plain pointer as one to any address space, as methods and helpers of MSL need.
"""

from __future__ import annotations

import re

from ..source.attributes import Attributes
from ..source.lexer import TokenStream
from ..source.scopes import Scopes

ATTRIBUTE = {
    "device": "__attribute__((opencl_global))",
    "constant": "const __attribute__((opencl_global_host))",
    "threadgroup": "__attribute__((opencl_local))",
}
KEYWORDS = frozenset(ATTRIBUTE) | {"thread"}
_STATEMENT_START = frozenset({"{", "}", ";", ")", ":", "else", "do"})
_TYPE = re.compile(
    r"(?:packed_)?(?:u?(?:char|short|int|long)|half|bfloat|float|bool)[234]?(?:x[234])?"
)
_NO_TYPE = frozenset({"return", "case", "goto", "sizeof", "new", "typename", "using", "typedef"})
_SPECIFIERS = frozenset({"const", "constexpr", "volatile", "static", "inline"})


def rewrite_keywords(stream: TokenStream) -> None:
    """Replace every address-space keyword."""
    for index, text in enumerate(stream.texts):
        if text == "thread":
            stream.tokens[index].text = stream.tokens[index].text.replace("thread", "", 1)
        elif text in ATTRIBUTE:
            token = stream.tokens[index]
            token.text = token.text.replace(text, ATTRIBUTE[text], 1)


def make_local_variables_static(stream: TokenStream, scopes: Scopes) -> None:
    """Variables in threadgroup or constant memory that a function body declares become static.

    A threadgroup variable without an initialiser has no value, which its attribute says.
    """
    for function in scopes.all_functions():
        if function.body is None:
            continue
        first, last = function.body
        for index in range(first + 1, last):
            space = stream.texts[index]
            if space in ("threadgroup", "constant"):
                start = declaration_start(stream, index)
                if start is not None and declares_variable(stream, index):
                    _make_static(stream, start, index, space)


def declaration_start(stream: TokenStream, index: int) -> int | None:
    """Index where the declaration statement begins whose specifiers hold the token `index`."""
    texts = stream.texts
    while True:
        before = texts[index - 1]
        if before in _SPECIFIERS:
            index -= 1
        elif before == ")" and texts[stream.match[index - 1] - 1] == "alignas":
            index = stream.match[index - 1] - 1
        elif before in _STATEMENT_START:
            opener = stream.match.get(index - 1)
            is_cast = before == ")" and opener is not None and not _heads_statement(stream, opener)
            return None if is_cast else index
        elif stream.tokens[index - 1].kind == "ident" and before not in _NO_TYPE:
            index -= 1  # `float threadgroup tile[4]`
        else:
            return None


def _heads_statement(stream: TokenStream, paren: int) -> bool:
    """Whether the parenthesis belongs to if, for, while or switch."""
    return stream.texts[paren - 1] in ("if", "for", "while", "switch", "constexpr")


def declares_variable(stream: TokenStream, index: int) -> bool:
    """Whether the declarator behind an address space is an object, not a pointer or reference."""
    texts = stream.texts
    position = index + 1
    while position < len(texts):
        text = texts[position]
        if text == "<":
            close = stream.close_angle(position)
            if close is None:
                return False
            position = close
        elif text in ("*", "&", "&&"):
            return False
        elif text == "(":
            if texts[position - 1] not in ("alignas", "__attribute__", "decltype"):
                return texts[position + 1] not in ("*", "&")
            position = stream.match[position]
        elif text in (";", "=", "[", "{", ","):
            return True
        position += 1
    return False


def _make_static(stream: TokenStream, start: int, index: int, space: str) -> None:
    texts = stream.texts
    prefix = "" if "static" in texts[start:index] else "static "
    _use_attributes(stream, start)
    if space == "threadgroup" and not _has_initialiser(stream, index):
        prefix = "__attribute__((loader_uninitialized)) " + prefix
    stream.before(start, prefix)


def _use_attributes(stream: TokenStream, start: int) -> None:
    """`alignas(n)` becomes an attribute, which may stand anywhere among the specifiers."""
    texts = stream.texts
    position = start
    while texts[position] not in (";", "=", "[", "{"):
        if texts[position] == "alignas":
            close = stream.match[position + 1]
            is_type = _TYPE.fullmatch(texts[position + 2]) is not None
            stream.set(position, f"__attribute__((aligned{'(alignof' if is_type else ''}")
            stream.after(close, ")))" if is_type else "))")
        position = stream.match[position] + 1 if texts[position] == "(" else position + 1


def _has_initialiser(stream: TokenStream, index: int) -> bool:
    """Whether the declaration around the token `index` gives an initial value."""
    texts = stream.texts
    while texts[index] not in (";", "=", "{", "}"):
        index = stream.match[index] if texts[index] in ("(", "[") else index
        index += 1
    return texts[index] in ("=", "{")


def rewrite_array_parameters(stream: TokenStream, scopes: Scopes, attributes: Attributes) -> None:
    """`threadgroup float a[2][N]` as a parameter becomes `threadgroup float (*a)[N]`."""
    for function in scopes.all_functions():
        for first, last in parameter_ranges(stream, function.parameters):
            if not any(stream.texts[index] in ATTRIBUTE for index in range(first, last + 1)):
                continue
            _rewrite_array_parameter(stream, attributes, first, last)


def _rewrite_array_parameter(
    stream: TokenStream, attributes: Attributes, first: int, last: int
) -> None:
    texts = stream.texts
    index = first
    while index <= last:
        group = attributes.end_of_group(index)
        if group is not None:
            index = group + 1
            continue
        if texts[index] == "<":
            index = (stream.close_angle(index) or index) + 1
            continue
        if texts[index] in ("(", "="):
            return
        if texts[index] == "[" and stream.tokens[index - 1].kind == "ident":
            close = stream.match[index]
            more = close + 1 <= last and texts[close + 1] == "["
            more = more and attributes.end_of_group(close + 1) is None
            stream.blank(index, close)
            stream.before(index - 1, "(*" if more else "*")
            stream.after(index - 1, ")" if more else "")
            return
        index += 1


def parameter_ranges(stream: TokenStream, brackets: tuple[int, int]) -> list[tuple[int, int]]:
    """First and last token index of each parameter between brackets."""
    texts = stream.texts
    opener, closer = brackets
    ranges: list[tuple[int, int]] = []
    start = index = opener + 1
    while index < closer:
        text = texts[index]
        if text in ("(", "[", "{"):
            index = stream.match[index]
        elif text == "<":
            index = stream.close_angle(index) or index
        elif text == ",":
            ranges.append((start, index - 1))
            start = index + 1
        index += 1
    if start < closer and not (start == closer - 1 and texts[start] == "void"):
        ranges.append((start, closer - 1))
    return ranges
