"""What may be removed from MSL source, in one go each: larger parts first."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence

from ..edits import Node, statements
from .pieces import Pieces, Range, Unit
from .simpler import matching

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
_PREPROCESSOR = re.compile(r"^[ \t]*#(?:[^\n\\]|\\.)*", re.S | re.M)
_CONDITION = re.compile(
    r"^[ \t]*#[ \t]*(if|ifdef|ifndef|el\w+|endif)\b(?:[^\n\\]|\\.)*", re.S | re.M
)
_BLANK = re.compile(r"(?:(?<=\n)|\A)[ \t]*\n|[ \t]+(?=\n)")
_CALL = re.compile(r"\b[A-Za-z_]\w*\(")
_FIRST = re.compile(r"for\s*\(([^;()]*;)")
_OPERATOR = re.compile(r" (?:[-+*/%&|^]|<<|>>|&&|\|\||[<>]=?|[!=]=) ")
_BREAK = re.compile(r"\s*\n\s*")


def levels(source: str) -> Iterator[Sequence[Unit]]:
    """Declarations and functions, then their statements level by level, then what is around
    statements, then arguments.
    """
    tree = statements(source)
    yield [(node.start, node.end) for node in tree.children]
    yield [found.span() for found in _PREPROCESSOR.finditer(source)]
    yield from ([each] for each in _conditionals(source))
    level = tree.children
    while level:
        inside = [child for node in level for child in node.children]
        removable = [each for each in inside if each.kind not in ("block",) or _is_free(each)]
        if removable:
            yield [(node.start, node.end) for node in removable]
        level = inside
    yield from ([each] for node in tree.walk() for each in _headers(node, source))
    yield from ([each] for node in tree.walk() for each in _braces(node))
    for node in tree.walk():
        head = _head(node)
        if head is not None:
            yield list(_operands(source, *head))
            yield from ([each] for each in _calls(source, *head))
    for node in tree.walk():
        if node.kind == "function":
            yield list(_arguments(node, source))


def _conditionals(source: str) -> Iterator[tuple[Range, ...]]:
    """Conditions of the preprocessor around what stays, inner ones first."""
    open: list[list[Range]] = []
    for found in _CONDITION.finditer(source):
        if found[1].startswith("if"):
            open.append([])
        if open:
            open[-1].append(found.span())
        if found[1] == "endif" and open:
            yield tuple(open.pop())


def decoration(source: str) -> list[Range]:
    """Comments."""
    return [found.span() for found in _COMMENT.finditer(source)]


def blanks(pieces: Pieces) -> list[Range]:
    """Lines of which nothing is left, and breaks of lines in brackets and before what is done in a
    branch without braces, as ranges of the text.
    """
    text = pieces.text
    found = [each.span() for each in _BLANK.finditer(text)]
    for opening in re.finditer(r"\(", text):
        close = matching(text, opening.start())
        found += [each.span() for each in _BREAK.finditer(text, opening.end(), close)]
    for node in statements(text).walk():
        if node.kind in ("if", "loop") and node.children and node.children[0].kind == "simple":
            body = node.children[0].start
            gap = len(text[:body].rstrip())
            if "\n" in text[gap:body]:
                found.append((gap, body - 1))  # one blank stays
    return [(pieces.place(start), pieces.place(end - 1) + 1) for start, end in found]


def _is_free(block: Node) -> bool:
    """Whether a block is a statement of its own."""
    return block.parent is not None and block.parent.kind == "block"


def _headers(node: Node, source: str) -> Iterator[tuple[Range, ...]]:
    """What is around the statements of a branch or a loop."""
    if node.kind not in ("if", "loop", "switch") or not node.children:
        return
    body = node.children[0]
    start, end = body.start, body.end
    if body.kind == "block":
        start, end = start + 1, end - 1
    yield (node.start, start), (end, node.end)
    first = _FIRST.match(source, node.start, start)
    if first is not None:  # for (uint i = 0; ...): its first part stays
        yield (node.start, first.start(1)), (first.end(1), start), (end, node.end)


def _braces(node: Node) -> Iterator[tuple[Range, ...]]:
    """Braces around the only statement of a branch or a loop."""
    is_inside = node.parent is not None and node.parent.kind in ("if", "loop")
    if node.kind == "block" and is_inside and len(node.children) == 1:
        yield (node.start, node.start + 1), (node.end - 1, node.end)


def _head(node: Node) -> Range | None:
    """What has operands of its own: a statement, or what a branch or a loop depends on."""
    if node.kind == "simple":
        return node.start, node.end
    if node.kind in ("if", "loop", "switch") and node.children:
        return node.start, node.children[0].start
    return None


def _operands(source: str, start: int, end: int) -> Iterator[Range]:
    """Each operand of sums, products and the like, with the operator before or behind it."""
    text = source[start:end]
    for operator in _OPERATOR.finditer(text):
        left = _end_of_operand(text, operator.start() - 1, -1)
        right = _end_of_operand(text, operator.end(), 1)
        yield start + operator.start(), start + right
        yield start + left, start + operator.end()


def _calls(source: str, start: int, end: int) -> Iterator[tuple[Range, ...]]:
    """What calls a function around its arguments."""
    for found in _CALL.finditer(source, start, end):
        close = matching(source, found.end() - 1)
        yield found.span(), (close, close + 1)


def _end_of_operand(text: str, at: int, step: int) -> int:
    """Where an operand ends that begins at a character, forwards or backwards."""
    depth = 0
    while 0 <= at < len(text):
        depth += step * {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(text[at], 0)
        if depth < 0 or (depth == 0 and text[at] in ",;=?:"):
            break
        if depth == 0 and _OPERATOR.match(text, at if step > 0 else at - 1):
            break
        at += step
    return at if step > 0 else at + 1


def _arguments(function: Node, source: str) -> Iterator[Range]:
    """Each argument of a function, with the comma before or behind it."""
    body = function.children[0]
    open = source.find("(", function.start, body.start)
    if open < 0:
        return
    close = matching(source, open)
    commas, depth = [], 0
    for at in range(open, close + 1):
        depth += {"(": 1, "[": 1, "{": 1, "<": 1, ")": -1, "]": -1, "}": -1, ">": -1}.get(
            source[at], 0
        )
        if source[at] == "," and depth == 1:
            commas.append(at)
    ends = [open, *commas, close]
    for number, (start, end) in enumerate(itertools.pairwise(ends)):
        if number == 0 and len(ends) > 2:
            yield start + 1, end + 1
        elif number == 0:
            yield start + 1, end
        else:
            yield start, end
