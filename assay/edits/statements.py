"""The statements of MSL source as a tree, by brackets and keywords.

Clang tells at which line and column something happens; this tells which statement stands there and
what is around it. Macros are taken as they are written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_TOKEN = re.compile(
    r"(?P<blank>\s+|//[^\n]*|/\*.*?\*/|^[ \t]*\#(?:[^\n\\]|\\.)*)"
    r"|(?P<text>\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+')"
    r"|(?P<word>\w+)|(?P<mark>.)",
    re.S | re.M,
)
_OPEN = {"(": ")", "[": "]", "{": "}"}
_HEADS = {"if": "if", "for": "loop", "while": "loop", "switch": "switch"}


@dataclass(slots=True, eq=False)
class Node:
    """A statement, a function, or the whole text.

    Attributes:
        kind: `text`, `function`, `declaration` (outside of functions), `block` (in braces), `if`,
            `loop`, `switch`, or `simple`.
        start, end: its characters.
        children: statements inside, in order; of an `if` what it does, and else.
        parent: what it stands in.
    """

    kind: str
    start: int
    end: int
    children: list[Node] = field(default_factory=list)
    parent: Node | None = None

    def walk(self) -> Iterator[Node]:
        """This and all inside, outer ones first."""
        yield self
        for child in self.children:
            yield from child.walk()

    def around(self) -> Iterator[Node]:
        """This and all that it stands in, inner ones first."""
        node: Node | None = self
        while node is not None:
            yield node
            node = node.parent

    def at(self, offset: int) -> Node:
        """The innermost node that has a character."""
        for child in self.children:
            if child.start <= offset < child.end:
                return child.at(offset)
        return self


def statements(source: str) -> Node:
    """The tree of a text."""
    tokens = [
        (found[0], found.start(), found.end())
        for found in _TOKEN.finditer(source)
        if found.lastgroup != "blank"
    ]
    root = Node("text", 0, len(source), _Reader(tokens).outside(0, len(tokens)))
    for node in root.walk():
        for child in node.children:
            child.parent = node
    return root


class _Reader:
    """Reads tokens: text, start and end of each."""

    def __init__(self, tokens: list[tuple[str, int, int]]) -> None:
        self._tokens = tokens
        self._closing = self._matched()

    def _matched(self) -> dict[int, int]:
        """Where each bracket is closed; at the end if it is not."""
        found: dict[int, int] = {}
        open: list[int] = []
        for at, (text, _, _) in enumerate(self._tokens):
            if text in _OPEN:
                open.append(at)
            elif open and text == _OPEN[self._tokens[open[-1]][0]]:
                found[open.pop()] = at
        for at in open:
            found[at] = len(self._tokens) - 1
        return found

    def _node(self, kind: str, begin: int, end: int, children: list[Node] | None = None) -> Node:
        """From one token up to before another."""
        last = min(max(end - 1, begin), len(self._tokens) - 1)
        return Node(kind, self._tokens[begin][1], self._tokens[last][2], children or [])

    def outside(self, begin: int, end: int) -> list[Node]:
        """Declarations and functions."""
        found, at = [], begin
        while at < end:
            node, at = self._declaration(at, end)
            found.append(node)
        return found

    def _declaration(self, begin: int, end: int) -> tuple[Node, int]:
        at, has_arguments = begin, False
        while at < end:
            text = self._tokens[at][0]
            if text == ";":
                return self._node("declaration", begin, at + 1), at + 1
            if text == "{":
                close = self._closing[at]
                if has_arguments:
                    body = self._block(at)
                    return self._node("function", begin, close + 1, [body]), close + 1
                if self._tokens[begin][0] == "namespace":
                    inside = self.outside(at + 1, close)
                    return self._node("namespace", begin, close + 1, inside), close + 1
                at = close + 1
                continue
            has_arguments |= text == "("
            has_arguments &= text != "="
            at = self._closing[at] + 1 if text in _OPEN else at + 1
        return self._node("declaration", begin, end), end

    def _block(self, begin: int) -> Node:
        close = self._closing[begin]
        children, at = [], begin + 1
        while at < close:
            node, at = self._statement(at, close)
            children.append(node)
        return self._node("block", begin, close + 1, children)

    def _statement(self, begin: int, end: int) -> tuple[Node, int]:
        text = self._tokens[begin][0]
        if text == "{":
            return self._block(begin), self._closing[begin] + 1
        if text in _HEADS:
            return self._headed(begin, end, _HEADS[text])
        if text == "do":
            body, at = self._statement(begin + 1, end)
            at = self._semicolon(at, end)
            return self._node("loop", begin, at, [body]), at
        at = self._semicolon(begin, end)
        return self._node("simple", begin, at), at

    def _headed(self, begin: int, end: int, kind: str) -> tuple[Node, int]:
        at = begin + 1
        while at < end and self._tokens[at][0] != "(":
            at += 1  # if constexpr
        if at >= end:
            return self._node("simple", begin, end), end
        at = self._closing[at] + 1
        if at >= end:
            return self._node("simple", begin, end), end
        body, at = self._statement(at, end)
        children = [body]
        if kind == "if" and at < end and self._tokens[at][0] == "else" and at + 1 < end:
            other, at = self._statement(at + 1, end)
            children.append(other)
        return self._node(kind, begin, at, children), at

    def _semicolon(self, at: int, end: int) -> int:
        """Behind the next one that is in no bracket, or the colon of a label."""
        is_label = self._tokens[at][0] in ("case", "default") if at < end else False
        while at < end:
            text = self._tokens[at][0]
            if text == ";" or (is_label and text == ":"):
                return at + 1
            at = self._closing[at] + 1 if text in _OPEN else at + 1
        return end
