"""Statements that are all that a branch or a loop does, which have no braces around them.

What is put before one of them takes its place, and what takes it away makes the next statement the
body; an `else` goes to the nearest `if`.
"""

from __future__ import annotations

from ..edits import Edit, Node


def stands_in_block(node: Node) -> bool:
    """Whether other statements may stand before and behind a statement."""
    return node.parent is not None and node.parent.kind == "block"


def guarded(node: Node, condition: str) -> tuple[Edit, ...]:
    """A statement that runs only if a condition holds; an `else` behind it stays with its `if`."""
    if stands_in_block(node):
        return (Edit(node.start, node.start, f"if ({condition}) "),)
    before = Edit(node.start, node.start, f"{{ if ({condition}) ")
    return (before, Edit(node.end, node.end, " }"))


def removed(node: Node, source: str) -> Edit:
    """A statement taken out, with its line if nothing else is in it; a lone body becomes empty."""
    if not stands_in_block(node):
        return Edit(node.start, node.end, "{}")
    before, behind = source.rfind("\n", 0, node.start), source.find("\n", node.end)
    rest = source[node.end :] if behind < 0 else source[node.end : behind]
    is_alone = before >= 0 and not source[before : node.start].strip() and not rest.strip()
    return Edit(before if is_alone else node.start, node.end)
