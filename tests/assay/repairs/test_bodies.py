"""Edits of statements that are all that a branch or a loop does."""

from __future__ import annotations

import pytest

from assay.edits import Node, applied, statements
from assay.repairs.barriers import moved
from assay.repairs.bodies import guarded, removed
from assay.repairs.indices import guarded_indices, guarded_statements

BARRIER = "threadgroup_barrier(mem_flags::mem_threadgroup);"


def function(body: str) -> str:
    return f"kernel void k(uint t [[thread_index_in_threadgroup]]) {{\n{body}\n}}\n"


def simple(source: str, text: str) -> Node:
    """The statement that is some text."""
    return next(
        node
        for node in statements(source).walk()
        if node.kind == "simple" and source[node.start : node.end] == text
    )


def all_moved(body: str) -> list[str]:
    source = function(body)
    (kernel,) = statements(source).children
    return [applied(source, each.edits) for each in moved(kernel, source)]


def test_a_statement_of_a_block_is_guarded_without_braces() -> None:
    source = function("x = 1;")
    assert applied(source, guarded(simple(source, "x = 1;"), "c")) == function("if (c) x = 1;")


@pytest.mark.parametrize(
    ("before", "behind"),
    [("if (b) ", " else y = 2;"), ("if (b) y = 2; else ", ""), ("do ", " while (b);")],
)
def test_braces_keep_what_is_around_a_guarded_body(before: str, behind: str) -> None:
    source = function(f"{before}x = 1;{behind}")
    expected = function(f"{before}{{ if (c) x = 1; }}{behind}")
    assert applied(source, guarded(simple(source, "x = 1;"), "c")) == expected


def test_a_guarded_store_leaves_the_else_to_its_branch() -> None:
    source = function("if (b) a[t + 1] = 1;\nelse z[t] = 2;")
    (found,) = guarded_indices([simple(source, "a[t + 1] = 1;")], source, {"a": "64"})
    guard = "{ if (uint(t + 1) < uint(64)) a[t + 1] = 1; }"
    assert applied(source, found.edits) == function(f"if (b) {guard}\nelse z[t] = 2;")


def test_a_statement_guarded_by_a_thread_leaves_the_else_to_its_branch() -> None:
    source = function("threadgroup uint y;\nif (b) y = 1;\nelse z = 2;")
    (kernel,) = statements(source).children
    (found,) = guarded_statements([simple(source, "y = 1;")], kernel, source, "", {})
    expected = function("threadgroup uint y;\nif (b) { if (t == 0) y = 1; }\nelse z = 2;")
    assert applied(source, found.edits) == expected


@pytest.mark.parametrize("head", ["if (b)", "for (;;)", "while (b)"])
def test_a_body_that_is_taken_out_leaves_an_empty_one(head: str) -> None:
    source = function(f"{head} x = 1;\ny = 2;")
    edit = removed(simple(source, "x = 1;"), source)
    assert applied(source, [edit]) == function(f"{head} {{}}\ny = 2;")


def test_a_statement_is_taken_out_with_its_line() -> None:
    source = function("w = 0;\n    x = 1;\ny = 2;")
    edit = removed(simple(source, "x = 1;"), source)
    assert applied(source, [edit]) == function("w = 0;\ny = 2;")


def test_what_follows_a_statement_in_its_line_does_not_get_into_a_comment() -> None:
    source = function("// why\n    x = 1; y = 2;")
    edit = removed(simple(source, "x = 1;"), source)
    assert applied(source, [edit]) == function("// why\n     y = 2;")


def test_a_barrier_moved_out_of_a_branch_without_braces_leaves_the_next_statement() -> None:
    assert all_moved(f"if (b) {BARRIER}\ny = 2;") == [
        function(f"if (b) {{}}\n{BARRIER}\ny = 2;"),
        function(f"{BARRIER}\nif (b) {{}}\ny = 2;"),
    ]


def test_a_barrier_moved_out_of_an_else_leaves_the_next_statement() -> None:
    before = function(f"{BARRIER}\nif (b) x = 1; else {{}}\ny = 2;")
    assert before in all_moved(f"if (b) x = 1; else {BARRIER}\ny = 2;")


@pytest.mark.parametrize("head", ["if (b) x = 1; else", "for (;;)", "if (c)"])
def test_a_barrier_does_not_become_the_body_of_what_is_further_out(head: str) -> None:
    assert all_moved(f"{head} if (d) {{ {BARRIER} y = 2; }}\nz = 3;") == [
        function(f"{head} if (d) {{  y = 2; }}\n{BARRIER}\nz = 3;"),
        function(f"{BARRIER}\n{head} if (d) {{  y = 2; }}\nz = 3;"),
    ]


@pytest.mark.parametrize(
    "more",
    [
        "#define ADD(x) atomic_fetch_add_explicit(x, 1u, memory_order_relaxed)\n",
        '#include "mine.h"\n',
        "void put(texture2d<float, access::read_write> to);\n",
    ],
)
def test_a_barrier_stays_where_the_text_has_what_no_race_is_told_of(more: str) -> None:
    body = f"kernel void k() {{\nif (b) {{ {BARRIER} }}\n}}\n"
    (kernel,) = statements(body).children
    assert list(moved(kernel, body))
    assert list(moved(kernel, body, [more])) == []
    *_, last = statements(more + body).children
    assert list(moved(last, more + body)) == []
