"""String literals: in MSL they lie in constant memory, in C++ in no address space at all."""

from __future__ import annotations

from ..source.lexer import TokenStream

_LITERAL = ("(__assay_literal<", ">::value.text)")
_FUNCTION = "(__assay_function_name<__builtin_FUNCTION()>::value.text)"
_FUNCTION_NAMES = frozenset({"__func__", "__FUNCTION__", "__PRETTY_FUNCTION__"})
# What takes a literal by C++'s grammar, in parentheses or right behind.
_GRAMMAR = frozenset(
    {"static_assert", "_Static_assert", "asm", "__asm", "__asm__", "__attribute__", "_Pragma"}
)
_QUALIFIERS = frozenset({"const", "constant", "device", "thread", "threadgroup", "volatile"})
_PREFIXES = frozenset({"extern", "operator", "asm", "__asm", "__asm__"})


def rewrite_strings(stream: TokenStream) -> None:
    """Put each string literal that is a value into a constant of its own."""
    enclosing: list[int] = []
    index, end = 0, len(stream.tokens)
    while index < end:
        text = stream.texts[index]
        if text in ("(", "[", "{"):
            enclosing.append(index)
        elif text in (")", "]", "}") and enclosing:
            enclosing.pop()
        elif text in _FUNCTION_NAMES:
            stream.set(index, _FUNCTION)
        elif _is_string(stream, index):
            last = index
            while _is_string(stream, last + 1):
                last += 1
            if _is_value(stream, index, enclosing):
                stream.before(index, _LITERAL[0])
                stream.after(last, _LITERAL[1])
            index = last
        index += 1


def _is_string(stream: TokenStream, index: int) -> bool:
    """Whether a token is a string literal of plain characters."""
    return index < len(stream.tokens) and stream.texts[index].startswith('"')


def _is_value(stream: TokenStream, index: int, enclosing: list[int]) -> bool:
    """Whether the literal at `index` is an expression, not part of a declaration's grammar."""
    texts = stream.texts
    if index and texts[index - 1] in _PREFIXES:
        return False
    for opener in enclosing:
        is_attribute = texts[opener] == "[" and texts[opener + 1] == "["
        if is_attribute or (opener and _is_grammar(texts[opener - 1])):
            return False
    return not _fills_characters(stream, index, enclosing)


def _is_grammar(name: str) -> bool:
    """Whether what `name` has in parentheses must be literals; NAN is `__builtin_nanf("")`."""
    return name in _GRAMMAR or name.startswith("__builtin_")


def _fills_characters(stream: TokenStream, index: int, enclosing: list[int]) -> bool:
    """Whether the literal initialises an array of characters, as in `char s[] = "abc"`.

    In braces it does unless they are those of an array of pointers.
    """
    texts = stream.texts
    if enclosing and texts[enclosing[-1]] == "{" and texts[index - 1] in ("{", ","):
        before = enclosing[-1] - 1
        before -= texts[before] == "="
        return texts[before] != "]" or not _holds_pointers(stream, before)
    return texts[index - 1] == "=" and texts[index - 2] == "]"


def _holds_pointers(stream: TokenStream, bracket: int) -> bool:
    """Whether the array whose declarator ends with `bracket` has elements that are pointers."""
    place = stream.match[bracket] - 2
    while place > 0 and stream.texts[place] in _QUALIFIERS:
        place -= 1
    return stream.texts[place] == "*"
