"""What of MSL source may be replaced by something simpler."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator

from ..edits import Node, statements
from .pieces import Change, Range

_DECLARED = re.compile(r"[A-Za-z_][\w:]*(?:<[^;={}()]*>)?(?:[\s*&]+[A-Za-z_]\w*)*?[\s*&]+(\w+)\s*=")
_ASSIGNED = re.compile(r"([A-Za-z_]\w*)\s*[-+*/%&|^]?=(?!=)")
_WRITTEN = r"(?<![\w.]){0}\b\s*(?:(?:[-+*/%&|^]|<<|>>)?=(?!=)|\+\+|--)|(?:\+\+|--|&)\s*\b{0}\b"
_ATOM = re.compile(r"\w+(?:\.\w+)?")
_CALLED = re.compile(r"([A-Za-z_]\w*)\s*\(")
_RETURN = re.compile(r"\{\s*return\b(.*);\s*\}", re.S)
_SIMPLE = ("0", "1")
_OPEN, _CLOSE = "([{", ")]}"
Find = Callable[[str, Node], Iterator[tuple[Change, ...]]]


def inlined(text: str, tree: Node) -> Iterator[tuple[Change, ...]]:
    """Variables of which each use, behind a statement that sets them, is what they are set to."""
    for function in _functions(tree):
        for node in function.walk():
            found = _set(text, node)
            if found is None:
                continue
            name, start = found
            behind = text[node.end : function.end]
            if re.search(_WRITTEN.format(name), behind):
                continue
            value = _trimmed(text, start, node.end - 1)
            parts = _bracketed(text, value)
            uses = re.finditer(rf"(?<![\w.])(?<!->){name}\b", behind)
            yield (
                Change(node.start, node.end),
                *(Change(node.end + u.start(), node.end + u.end(), parts) for u in uses),
            )


def called(text: str, tree: Node) -> Iterator[tuple[Change, ...]]:
    """Calls of functions that the body takes the place of, or what it returns."""
    functions = {_name(text, each): each for each in _functions(tree)}
    for caller in _functions(tree):
        for call in _CALLED.finditer(text, caller.children[0].start, caller.end):
            function = functions.get(call[1])
            if function is None or function is caller:
                continue
            close = matching(text, call.end() - 1)
            given = [_trimmed(text, *each) for each in separated(text, call.end(), close)]
            is_statement = text[close + 1 : close + 2] == ";"
            body, end = _body(text, function), close + 1
            if body is None:
                if not is_statement:
                    continue
                block = function.children[0]
                body, end = (block.start, block.end), close + 2
            yield (Change(call.start(), end, _with_arguments(text, function, body, given)),)


def constants(text: str, tree: Node) -> Iterator[tuple[Change, ...]]:
    """Expressions that a number takes the place of."""
    for start, end in sorted(set(_expressions(text, tree))):
        value = text[start:end]
        if value and value not in _SIMPLE:
            for simple in _SIMPLE:
                yield (Change(start, end, (simple,)),)


KINDS: tuple[Find, ...] = (called, inlined, constants)


def candidates(find: Find, text: str) -> list[tuple[Change, ...]]:
    """What may be replaced, the last first."""
    return sorted(find(text, statements(text)), key=lambda each: -each[0].start)


def matching(text: str, open: int) -> int:
    """Where a bracket is closed; the text's end if it is not."""
    depth = 0
    for at in range(open, len(text)):
        depth += (text[at] in _OPEN) - (text[at] in _CLOSE)
        if depth == 0:
            return at
    return len(text)


def separated(text: str, start: int, end: int) -> list[Range]:
    """What commas separate that are in no bracket."""
    commas, depth = [], 0
    for at in range(start, end):
        depth += (text[at] in _OPEN) - (text[at] in _CLOSE)
        if text[at] == "," and depth == 0:
            commas.append(at)
    if not text[start:end].strip():
        return []
    ends = [start - 1, *commas, end]
    return [(one + 1, other) for one, other in itertools.pairwise(ends)]


def _functions(tree: Node) -> Iterator[Node]:
    return (each for each in tree.walk() if each.kind == "function" and each.children)


def _set(text: str, node: Node) -> tuple[str, int] | None:
    """The variable that a statement sets, and where its value begins."""
    if node.kind != "simple":
        return None
    for form in (_DECLARED, _ASSIGNED):
        found = form.match(text, node.start, node.end)
        if found is not None:
            alone = len(separated(text, found.end(), node.end - 1)) == 1
            return (found[1], found.end()) if alone else None
    return None


def _name(text: str, function: Node) -> str:
    found = _CALLED.search(text, function.start, function.end)
    return "" if found is None else found[1]


def _body(text: str, function: Node) -> Range | None:
    """What a function returns, if it does nothing else."""
    block = function.children[0]
    found = _RETURN.fullmatch(text, block.start, block.end)
    return None if found is None or ";" in found[1] else found.span(1)


def _with_arguments(
    text: str, function: Node, body: Range, given: list[Range]
) -> tuple[str | Range, ...]:
    """A function's body, or a value of it, with what is given for its parameters."""
    open = text.index("(", function.start)
    names = [
        text[start:end].split("[")[0].split()[-1].lstrip("*&")
        for start, end in separated(text, open + 1, matching(text, open))
    ]
    values = dict(zip(names, given, strict=False))
    parts: list[str | Range] = []
    at = body[0]
    for word in re.finditer(r"(?<![\w.])[A-Za-z_]\w*", text[slice(*body)]):
        if word[0] in values:
            parts += [(at, body[0] + word.start()), *_bracketed(text, values[word[0]])]
            at = body[0] + word.end()
    parts.append((at, body[1]))
    return tuple(parts) if text[body[0]] == "{" else ("(", *parts, ")")


def _bracketed(text: str, value: Range) -> tuple[str | Range, ...]:
    whole = text[slice(*value)]
    opens = re.match(r"\w*[(\[]", whole)
    alone = opens is not None and matching(whole, opens.end() - 1) == len(whole) - 1
    return (value,) if alone or _ATOM.fullmatch(whole) else ("(", value, ")")


def _expressions(text: str, tree: Node) -> Iterator[Range]:
    """Values of assignments, conditions, indices and arguments in functions."""
    for function in _functions(tree):
        block = function.children[0]
        for at in range(block.start, block.end):
            if text[at] in "([":
                yield from (
                    _trimmed(text, *each) for each in separated(text, at + 1, matching(text, at))
                )
        for node in block.walk():
            found = _set(text, node)
            if found is None and node.kind == "simple":
                equals = re.compile(r"[^=!<>]=(?!=)").search(text, node.start, node.end)
                found = None if equals is None else ("", equals.end())
            if found is not None:
                yield _trimmed(text, found[1], node.end - 1)


def _trimmed(text: str, start: int, end: int) -> Range:
    inner = text[start:end]
    begin = start + len(inner) - len(inner.lstrip())
    return begin, max(begin, start + len(inner.rstrip()))
