"""Findings name the user's columns, whatever became of the words before them."""

from __future__ import annotations

import textwrap

import pytest

from assay.compiler.msl import CompileError, compile_library

HEAD = "#include <metal_stdlib>\nusing namespace metal;\n"


def places(source: str, name: str = "k") -> set[tuple[int, int]]:
    """Lines and columns of what a kernel does, of its own file."""
    kernel = compile_library(HEAD + source, file_name="k.metal").function(name)
    sites = [each.site for each in kernel.program().function.instructions()]
    return {(site.line - 2, site.column) for site in sites if site is not None and site.line > 2}


def column(source: str, word: str, line: int = 1) -> tuple[int, int]:
    """Where a word stands."""
    return line, source.split("\n")[line - 1].index(word) + 1


ONE_LINE = (
    "kernel void k(device float* x [[buffer(0)]], constant uint& n [[buffer(1)]], "
    "uint i [[thread_position_in_grid]]) { x[i + n] = 1; }"
)
SHARED = textwrap.dedent("""\
    kernel void k(device float* x [[buffer(0)]], uint i [[thread_position_in_threadgroup]]) {
        threadgroup float t[64]; t[i] = x[i]; threadgroup_barrier(mem_flags::mem_threadgroup);
        device float* y = x + 64; y[i] = t[63 - i]; threadgroup float* p = t; x[i] = p[i ^ 1];
    }""")


def test_a_body_on_the_line_of_its_signature_has_its_columns() -> None:
    found = places(ONE_LINE)
    assert column(ONE_LINE, "= 1") in found
    assert column(ONE_LINE, "+ n") in found
    assert all(1 <= at <= len(ONE_LINE) for _, at in found)


@pytest.mark.parametrize(
    ("word", "line"),
    [("= x[i]; thread", 2), ("threadgroup_barrier", 2), ("t[63", 3), ("p[i ^ 1]", 3)],
)
def test_words_that_become_longer_move_nothing_behind_them(word: str, line: int) -> None:
    assert column(SHARED, word, line) in places(SHARED)


def test_columns_of_methods_and_templates_are_right() -> None:
    source = textwrap.dedent("""\
        template <typename T> struct Box { device T* at; void put(T v) thread { at[0] = v; } };
        kernel void k(device float* x [[buffer(0)]]) { Box<float> b{x}; b.put(2); }""")
    assert column(source, "= v") in places(source)


def test_columns_are_right_behind_a_conditional_that_is_repaired() -> None:
    source = (
        "kernel void k(device float4* x [[buffer(0)]], uint i [[thread_position_in_grid]]) "
        "{ float4 v = i > 3 ? x[i] : float4(0); x[i + 9] = v; }"
    )
    assert column(source, "= v;") in places(source)


def test_a_message_of_the_compiler_is_where_the_word_stands_behind_what_was_moved() -> None:
    source = (
        "kernel void k(device float* x [[buffer(0)]], uint i [[thread_position_in_grid]]) "
        "{ threadgroup float t[4]; t[i] = 1; x[i] = nosuch; }"
    )
    at = HEAD.count("\n") + 1, column(source, "nosuch")[1]
    with pytest.raises(CompileError, match=rf"k\.metal:{at[0]}:{at[1]}: error: .*'nosuch'"):
        compile_library(HEAD + source, file_name="k.metal").function("k")
