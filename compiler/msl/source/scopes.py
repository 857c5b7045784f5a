"""Finds the declarations of a text: namespaces, classes, functions and statements, by brackets.

This is no parser of C++: it walks namespace and class scopes statement by statement and tells a
function body from a class body and an initialiser by the tokens in front of the brace.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from .attributes import Attributes
from .lexer import TokenStream

_CLASS_KEYS = frozenset({"struct", "class", "union"})
# Words before a parenthesis that is no parameter list.
_NO_FUNCTIONS = frozenset(
    {
        "decltype",
        "alignas",
        "__attribute__",
        "__declspec",
        "noexcept",
        "requires",
        "explicit",
        "typeof",
        "asm",
        "__asm",
        "__asm__",
    }
)


@dataclass(slots=True, kw_only=True)
class Function:
    """A function's declaration: token indices of its parts, inclusive.

    `parameters` are the brackets' indices, `body` those of the braces (None without a body),
    `template` those of the angle brackets of the innermost template header.
    """

    name: str
    start: int
    name_index: int
    parameters: tuple[int, int]
    body: tuple[int, int] | None
    end: int
    template: tuple[int, int] | None
    namespace: tuple[str, ...]
    owner: ClassScope | None = None


@dataclass(slots=True, kw_only=True)
class ClassScope:
    """A class body: its name, braces, and the statements and functions right inside it."""

    name: str
    start: int
    body: tuple[int, int]
    template: tuple[int, int] | None
    namespace: tuple[str, ...]
    functions: list[Function] = field(default_factory=list)
    statements: list[tuple[int, int]] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class Statement:
    """A statement at namespace scope that ends in a semicolon."""

    start: int
    end: int
    namespace: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Where:
    """Where a declaration begins and what it lies in."""

    start: int
    template: tuple[int, int] | None
    namespace: tuple[str, ...]
    owner: ClassScope | None


@dataclass(slots=True)
class _Seen:
    """What the tokens of a declaration have told so far."""

    parameters: tuple[int, int] | None = None
    name_index: int = -1
    class_key: int = -1
    assigned: bool = False
    is_enum: bool = False


class Scopes:
    """Every function, class and namespace-level statement of a token stream."""

    def __init__(self, stream: TokenStream, attributes: Attributes) -> None:
        self._stream = stream
        self._attributes = attributes
        self.functions: list[Function] = []
        self.classes: list[ClassScope] = []
        self.statements: list[Statement] = []
        self._walk(0, len(stream.texts), (), None)

    def all_functions(self) -> Iterator[Function]:
        """Free functions, then the member functions of all classes."""
        yield from self.functions
        for owner in self.classes:
            yield from owner.functions

    def _walk(
        self, index: int, end: int, namespace: tuple[str, ...], owner: ClassScope | None
    ) -> None:
        while index < end:
            index = self._declaration(index, end, namespace, owner)

    def _declaration(
        self, start: int, end: int, namespace: tuple[str, ...], owner: ClassScope | None
    ) -> int:
        """Read one declaration from `start`; the index after it."""
        texts, match = self._stream.texts, self._stream.match
        first = texts[start]
        if first == ";" or first == "}":
            return start + 1
        if owner is not None and first in ("public", "private", "protected"):
            return start + 2
        index, template = self._template_headers(start, end)
        if (
            index < end
            and texts[index] in ("namespace", "inline")
            and self._namespace(index) is not None
        ):
            return self._enter_namespace(index, namespace)
        if index + 2 < end and texts[index] == "extern" and texts[index + 2] == "{":
            self._walk(index + 3, match[index + 2], namespace, owner)
            return match[index + 2] + 1
        where = _Where(start=start, template=template, namespace=namespace, owner=owner)
        return self._plain(where, index, end)

    def _namespace(self, index: int) -> int | None:
        """Index of the `namespace` keyword of a namespace definition at `index`."""
        texts = self._stream.texts
        index += texts[index] == "inline"
        return index if index < len(texts) and texts[index] == "namespace" else None

    def _enter_namespace(self, index: int, namespace: tuple[str, ...]) -> int:
        texts = self._stream.texts
        position = (self._namespace(index) or index) + 1
        names: list[str] = []
        while texts[position] not in ("{", ";", "="):
            skipped = self._attributes.end_of_group(position)
            if skipped is not None:
                position = skipped
            elif texts[position] not in ("::", "inline"):
                names.append(texts[position])
            position += 1
        if texts[position] != "{":
            while texts[position] != ";":
                position += 1
            return position + 1
        close = self._stream.match[position]
        self._walk(position + 1, close, (*namespace, *names), None)
        return close + 1

    def _template_headers(self, index: int, end: int) -> tuple[int, tuple[int, int] | None]:
        """Skip attributes, `template <...>` and `requires (...)` in front of a declaration."""
        texts = self._stream.texts
        template: tuple[int, int] | None = None
        while index < end:
            group = self._attributes.end_of_group(index)
            if group is not None:
                index = group + 1
            elif texts[index] == "template" and index + 1 < end and texts[index + 1] == "<":
                close = self._stream.close_angle(index + 1)
                if close is None:
                    raise self._stream.error(index + 1, "expected '>' to end the template header")
                template = (index + 1, close)
                index = close + 1
            else:
                break
        return index, template

    def _plain(self, where: _Where, index: int, end: int) -> int:
        """Read a declaration that is no namespace: up to its semicolon or closing brace."""
        texts, match = self._stream.texts, self._stream.match
        seen = _Seen()
        position = index
        while position < end and texts[position] != ";":
            if texts[position] != "{":
                position = self._advance(position, seen)
                continue
            if seen.is_enum or seen.assigned or self._is_member_initialiser(position, seen):
                position = match[position] + 1
            elif seen.parameters is not None:
                body = (position, match[position])
                return self._function(where, seen.name_index, seen.parameters, body, body[1])
            else:
                if seen.class_key >= 0:
                    self._class(where, seen.class_key, position)
                position = match[position] + 1
        if seen.parameters is not None:
            self._function(where, seen.name_index, seen.parameters, None, position)
        if where.owner is not None:
            where.owner.statements.append((where.start, min(position, end - 1)))
        else:
            last = min(position, len(texts) - 1)
            self.statements.append(
                Statement(start=where.start, end=last, namespace=where.namespace)
            )
        return position + 1

    def _advance(self, position: int, seen: _Seen) -> int:
        """Take note of the token at `position`, which is no brace; the index of the next."""
        texts, match = self._stream.texts, self._stream.match
        text = texts[position]
        group = self._attributes.end_of_group(position)
        if group is not None:
            return group + 1
        if text == "operator" and seen.parameters is None:
            return self._behind_symbol(position + 1)
        if text == "<" and seen.parameters is None and not seen.assigned:
            close = self._stream.close_angle(position)
            return position + 1 if close is None else close + 1
        if text == "(" and seen.parameters is None and not seen.assigned:
            if self._names_function(position):
                seen.name_index, seen.parameters = self._function_name(position)
                return seen.parameters[1] + 1
            return match[position] + 1
        if text in ("(", "["):
            return match[position] + 1
        if text == "=" and texts[position - 1] != "operator":
            seen.assigned = True
        elif text in _CLASS_KEYS and seen.parameters is None and not seen.assigned:
            seen.class_key = position
        elif text == "enum":
            seen.is_enum = True
        return position + 1

    def _behind_symbol(self, position: int) -> int:
        """Behind an operator's symbol, such as `>=`, which is no assignment and opens no angle."""
        tokens = self._stream.tokens
        while tokens[position].kind != "ident" and tokens[position].original not in ("(", ";"):
            position += 1
        return position

    def _names_function(self, paren: int) -> bool:
        """Whether the parenthesis may open a parameter list: a name stands before it."""
        token = self._stream.tokens[paren - 1]
        before = token.original
        if before in _NO_FUNCTIONS:
            return False
        if token.kind == "ident" or before == ">":
            return True
        return self._operator_at(paren) is not None

    def _operator_at(self, paren: int) -> int | None:
        """Index of `operator` when the parenthesis follows an operator's symbol or type."""
        texts = self._stream.texts
        for index in range(paren - 1, max(paren - 24, -1), -1):
            if texts[index] == "operator":
                return index
            if texts[index] in (";", "{", "}", "(", ")"):
                return None
        return None

    def _function_name(self, paren: int) -> tuple[int, tuple[int, int]]:
        """Index of the name in front of a parameter list and the list's parentheses."""
        texts, match = self._stream.texts, self._stream.match
        if texts[paren - 1] == "operator":
            paren = match[paren] + 1
            return paren - 3, (paren, match[paren])
        name = paren - 1
        if texts[name] == ">":
            depth = 0
            while name > 0:
                depth += (texts[name] == ">") - (texts[name] == "<")
                if depth == 0:
                    break
                name -= 1
            name -= 1
        operator = self._operator_at(paren)
        return (operator if operator is not None else name), (paren, match[paren])

    def _is_member_initialiser(self, brace: int, seen: _Seen) -> bool:
        """Whether the brace belongs to `: member{...}` of a constructor, not to its body."""
        texts, match = self._stream.texts, self._stream.match
        if seen.parameters is None:
            return False
        position = seen.parameters[1] + 1
        while position < brace and texts[position] != ":":
            position = match[position] + 1 if texts[position] in ("(", "[") else position + 1
        if position >= brace:
            return False
        before = self._stream.tokens[brace - 1]
        return before.kind == "ident" or before.original == ">"

    def _function(
        self,
        where: _Where,
        name_index: int,
        parameters: tuple[int, int],
        body: tuple[int, int] | None,
        end: int,
    ) -> int:
        function = Function(
            name=self._stream.texts[name_index],
            start=where.start,
            name_index=name_index,
            parameters=parameters,
            body=body,
            end=end,
            template=where.template,
            namespace=where.namespace,
            owner=where.owner,
        )
        (self.functions if where.owner is None else where.owner.functions).append(function)
        return end + 1

    def _class(self, where: _Where, key: int, brace: int) -> None:
        texts, close = self._stream.texts, self._stream.match[brace]
        name_index = key + 1
        while name_index < brace:
            group = self._attributes.end_of_group(name_index)
            if group is not None:
                name_index = group + 1
            elif texts[name_index] in ("alignas", "__attribute__"):
                name_index = self._stream.match[name_index + 1] + 1
            else:
                break
        name = texts[name_index] if self._stream.tokens[name_index].kind == "ident" else ""
        scope = ClassScope(
            name=name,
            start=where.start,
            body=(brace, close),
            template=where.template,
            namespace=where.namespace,
        )
        self.classes.append(scope)
        self._walk(brace + 1, close, where.namespace, scope)
