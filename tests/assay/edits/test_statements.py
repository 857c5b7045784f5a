"""Statements of MSL source as a tree."""

from __future__ import annotations

import pytest

from assay.edits import Edit, applied, offset_of, statements
from tests.checks.mutation.campaign import KERNELS

SOURCE = """\
#define TWO(a) { a; a; }
namespace n { constant int table[2] = {1, 2}; }
struct Pair { int a; int b; };
kernel void k(device int* x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    // if (a brace { in a comment
    int y[2] = {0, 0};
    if (i < 4) x[i] = 1; else { x[i] = 2; }
    for (uint j = 0; j < 2; ++j) y[j] += x[j];
    do { x[0]--; } while (x[0] > ';');
}
"""


def test_statements_stand_in_what_is_around_them() -> None:
    tree = statements(SOURCE)
    assert [each.kind for each in tree.children] == ["namespace", "declaration", "function"]
    (body,) = tree.children[2].children
    assert [each.kind for each in body.children] == ["simple", "if", "loop", "loop"]
    assert [SOURCE[each.start : each.end] for each in body.children[1].children] == [
        "x[i] = 1;",
        "{ x[i] = 2; }",
    ]
    node = tree.at(offset_of(SOURCE, 8, 36))
    assert SOURCE[node.start : node.end] == "y[j] += x[j];"
    assert [each.kind for each in node.around()] == ["simple", "loop", "block", "function", "text"]


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)
def test_statements_of_the_corpus_do_not_overlap_and_end_like_statements(path: object) -> None:
    source = path.read_text()  # type: ignore[attr-defined]
    for node in statements(source).walk():
        ends = [each.end for each in node.children]
        assert all(a <= b.start for a, b in zip(ends, node.children[1:], strict=False))
        if node.kind == "simple":
            assert source[node.end - 1] == ";"


@pytest.mark.parametrize("text", ["", "kernel void k(", "if (", "}", "for (;;) {", "x = {"])
def test_damaged_text_has_a_tree_too(text: str) -> None:
    assert statements(text).end == len(text)
    assert statements(f"void f() {{ {text}").kind == "text"


def test_edits_are_applied_together() -> None:
    assert applied("abcdef", [Edit(1, 2), Edit(3, 3, "x"), Edit(5, 6, "yz")]) == "acxdeyz"
