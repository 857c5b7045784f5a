"""Member functions qualified by address space (`T& get() device`), which C++ does not have.

The `thread` form becomes the plain member function. The others become member functions with an
explicit object parameter of that address space (C++23), whose bodies name their members through it.
Of constructors that differ in the address space alone, one is kept.
"""

from __future__ import annotations

from ..source.lexer import TokenStream
from ..source.scopes import ClassScope, Function, Scopes
from .address_spaces import ATTRIBUTE, KEYWORDS

_SELF = "self_"


def rewrite_methods(stream: TokenStream, scopes: Scopes) -> None:
    """Rewrite the qualified member functions of every class."""
    for owner in scopes.classes:
        names: set[str] | None = None
        seen: set[str] = set()
        _drop_defaulted_constructors(stream, owner)
        for function in owner.functions:
            qualifiers = _qualifiers(stream, function)
            space = next((stream.texts[i] for i in qualifiers if stream.texts[i] in KEYWORDS), None)
            is_constructor = function.name == owner.name
            if is_constructor:
                _take_any_space(stream, owner, function)
                _keep_first(stream, function, seen, qualifiers)
            if space is None:
                continue
            if space == "thread" or is_constructor:
                _drop_spaces(stream, qualifiers)
            else:
                names = _member_names(stream, owner) if names is None else names
                _explicit_object(stream, owner, function, qualifiers, space, names)


def _drop_defaulted_constructors(stream: TokenStream, owner: ClassScope) -> None:
    """Constructors that are all `= default` go: they keep a class of C++20 from braces."""
    constructors = [f for f in owner.functions if f.name == owner.name and not _destroys(stream, f)]
    if all(stream.texts[f.end - 1] == "default" for f in constructors):
        for function in constructors:
            stream.blank(function.start, function.end)


def _destroys(stream: TokenStream, function: Function) -> bool:
    return stream.texts[function.name_index - 1] == "~"


def _qualifiers(stream: TokenStream, function: Function) -> list[int]:
    """Indices of const, volatile and address spaces behind the parameter list."""
    found: list[int] = []
    index = function.parameters[1] + 1
    while index < len(stream.texts) and (
        stream.texts[index] in KEYWORDS or stream.texts[index] in ("const", "volatile")
    ):
        found.append(index)
        index += 1
    return found


def _drop_spaces(stream: TokenStream, qualifiers: list[int]) -> None:
    for index in qualifiers:
        if stream.texts[index] in KEYWORDS:
            stream.blank(index, index)


def _take_any_space(stream: TokenStream, owner: ClassScope, function: Function) -> None:
    """`S(device const S& other)` takes any object, or C++ would have no constructor that copies."""
    first, last = function.parameters
    words = stream.texts[first + 1 : last]
    if owner.name in words and "&" in words and "," not in words:
        _drop_spaces(stream, list(range(first + 1, last)))


def _keep_first(
    stream: TokenStream, function: Function, seen: set[str], qualifiers: list[int]
) -> None:
    """Blank a constructor whose parameters were seen already, whatever their address space."""
    first, last = function.parameters
    kept = [
        stream.texts[index]
        for index in range(first, last + 1)
        if stream.texts[index] not in KEYWORDS
    ]
    signature = " ".join(kept)
    spaced = bool(qualifiers) or any(t in KEYWORDS for t in stream.texts[first : last + 1])
    if signature in seen and spaced:
        stream.blank(function.start, function.end)
    seen.add(signature)


def _member_names(stream: TokenStream, owner: ClassScope) -> set[str]:
    """Names of the data members and member functions of a class."""
    names = {function.name for function in owner.functions if function.name != "operator"}
    declarations = {function.start for function in owner.functions}
    for first, last in owner.statements:
        if first in declarations:
            continue
        if stream.texts[first] not in ("using", "typedef", "friend", "template", "static_assert"):
            names |= _declared_names(stream, first, last)
    names.discard(owner.name)
    return names


def _declared_names(stream: TokenStream, first: int, last: int) -> set[str]:
    """Names that a statement of a class body declares, up to its first initialiser."""
    names: set[str] = set()
    depth = 0
    for index in range(first, last):
        text = stream.texts[index]
        depth += (text == "<") - (text == ">")
        if text == "=":
            break
        following = stream.texts[index + 1]
        if depth == 0 and stream.tokens[index].kind == "ident":
            is_name = following in (";", ",", "[", "=", "{", ":")
            if is_name and stream.texts[index - 1] not in ("::", "struct", "class", "union"):
                names.add(text)
    return names


def _explicit_object(
    stream: TokenStream,
    owner: ClassScope,
    function: Function,
    qualifiers: list[int],
    space: str,
    names: set[str],
) -> None:
    """Turn `f(args) const device {...}` into `f(this const device Owner& self_, args) {...}`."""
    texts = stream.texts
    const = "const " if any(texts[i] == "const" for i in qualifiers) else ""
    first, last = function.parameters
    separator = "" if last == first + 1 else ", "
    stream.after(first, f"this {const}{ATTRIBUTE[space]} {owner.name}& {_SELF}{separator}")
    stream.blank(qualifiers[0], qualifiers[-1])
    if texts[function.end - 1] == "default":
        # C++ has no defaulted assignment to an object of one address space.
        operand = texts[last - 1]
        stream.blank(function.end - 2, function.end)
        body = f"{{ static_cast<{owner.name}&>({_SELF}) = {operand}; return {_SELF}; }}"
        stream.after(function.end, body)
    if function.body is None:
        return
    hidden = set(texts[first + 1 : last])
    for index in range(function.body[0] + 1, function.body[1]):
        text = texts[index]
        if text == "this":
            stream.set(index, f"(&{_SELF})")
        elif text in names and text not in hidden and texts[index - 1] not in (".", "->", "::"):
            stream.before(index, f"{_SELF}.")
