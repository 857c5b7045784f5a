"""Assumptions in comments of MSL source."""

from __future__ import annotations

import pytest

from assay.compiler.msl.opening import compile_library
from assay.launches.errors import LaunchInputError
from assay.proofs.comments import Stated, assumptions_in, assumptions_of

SOURCE = """\
// assay: assume(n > 0)
kernel void first(constant uint& n) {
    // "a brace {" opens nothing
    // assay: assume(n % 32 == 0)
}
// assay: assume(grid.x <= m)
kernel void second(constant uint& m,
                   // assay: assume(m < 10)
                   uint i [[thread_position_in_grid]]) {}
"""
LINES = {"first": 2, "second": 7}


def test_comments_belong_to_the_kernel_around_them_or_behind() -> None:
    found = assumptions_in(SOURCE, "k.metal", LINES, set)
    assert found == {
        "first": [Stated("n > 0", "k.metal:1"), Stated("n % 32 == 0", "k.metal:4")],
        "second": [Stated("grid.x <= m", "k.metal:6"), Stated("m < 10", "k.metal:8")],
    }


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("// assay: asume(n > 0)", "k.metal:2: '// assay: asume(n > 0)' is not understood"),
        ("// assay: assume(n > 0", "k.metal:2: '// assay: assume(n > 0' is not understood"),
        ("// assay: assume(n > 0)", "k.metal:2: no kernel begins behind this comment"),
    ],
)
def test_a_damaged_comment_is_told_with_its_line(line: str, message: str) -> None:
    with pytest.raises(LaunchInputError) as caught:
        assumptions_in(f"kernel void k() {{}}\n{line}\n", "k.metal", {"k": 1}, set)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "source",
    [
        "/* // assay: assume(n > 0) */\n",
        "/*\n// assay: assume(n > 0)\n*/\n",
        "// by hand: // assay: assume(n > 0)\n",
        'constant char text[] = "// assay: assume(n > 0)";\n',
    ],
)
def test_what_only_quotes_an_assumption_is_none(source: str) -> None:
    line = source.count("\n") + 1
    assert assumptions_in(f"{source}kernel void k() {{}}\n", "k.metal", {"k": line}, set) == {}


ELSEWHERE = {
    "before a helper": "// assay: assume(n > 0)\nvoid f() {}\nkernel void k() {}\n",
    "before a variable": "// assay: assume(n > 0)\nconstant int X = 1;\nkernel void k() {}\n",
    "in a helper": "void f() {\n// assay: assume(n > 0)\n}\nkernel void k() {}\n",
    "in a helper behind": "kernel void k() {\n}\nvoid f() {\n// assay: assume(n > 0)\n}\n",
    "in a part that is left out": "#if 0\n// assay: assume(n > 0)\n#endif\nkernel void k() {}\n",
    "in another part": "#if A\n// assay: assume(n > 0)\n#else\nkernel void k() {}\n#endif\n",
    "in a part of the kernel": "kernel void k() {\n#ifdef A\n// assay: assume(n > 0)\n#endif\n}\n",
}


@pytest.mark.parametrize("source", ELSEWHERE.values(), ids=ELSEWHERE)
def test_an_assumption_that_may_be_about_something_else_is_refused(source: str) -> None:
    line = next(i for i, each in enumerate(source.split("\n"), 1) if each.startswith("kernel"))
    with pytest.raises(
        LaunchInputError, match=r"k\.metal:\d: (no kernel begins|it cannot be told)"
    ):
        assumptions_in(source, "k.metal", {"k": line}, set)


def test_a_file_that_is_guarded_as_a_whole_may_assume() -> None:
    source = "#ifndef K\n#define K\n// assay: assume(n > 0)\nkernel void k() {}\n#endif\n"
    assert assumptions_in(source, "k.metal", {"k": 4}, set) == {"k": [Stated("n > 0", "k.metal:3")]}


def test_an_assumption_in_a_namespace_belongs_to_the_kernel_behind_it() -> None:
    source = "namespace a {\nkernel void j() {}\n// assay: assume(n > 0)\nkernel void k() {}\n}\n"
    found = assumptions_in(source, "k.metal", {"j": 2, "k": 4}, set)
    assert found == {"k": [Stated("n > 0", "k.metal:3")]}


def test_an_assumption_in_a_template_is_one_of_all_kernels_made_of_it() -> None:
    source = "template <typename T> kernel void k() {\n// assay: assume(n > 0)\n}\n"
    found = assumptions_in(source, "k.metal", {"kf": 1, "kh": 1}, set)
    assert set(found) == {"kf", "kh"}


@pytest.mark.parametrize(("condition", "is_assumed"), [("0", False), ("1", True)])
def test_an_assumption_counts_if_the_compiler_sees_the_line_behind_it(
    condition: str, is_assumed: bool
) -> None:
    source = (
        f"kernel void k(device int* a\n#if {condition}\n// assay: assume(n > 0)\n"
        ", constant int& n\n#endif\n) { a[0] = 1; }\n"
    )
    library = compile_library(source, file_name="k.metal")
    assert ("k" in assumptions_of(library)) == is_assumed


HIDDEN = {
    "a digraph": "%:if 0\n// assay: assume(n > 0)\n%:endif\n",
    "a directive in two lines": "#\\\nif 0\n// assay: assume(n > 0)\n#endif\n",
    "a name in two lines": "#i\\\nf 0\n// assay: assume(n > 0)\n#endif\n",
    "a comment behind the sign": "#/*\n*/if 0\n// assay: assume(n > 0)\n#endif\n",
    "an end that is none": "#if 0\nint x = 1; \\\n#endif\n// assay: assume(n > 0)\n#endif\n",
    "a comment that begins in two lines": "/\\\n*\n// assay: assume(n > 0)\n*/\n",
    "a sign behind a comment": "#if 0\nx /*\n*/ #endif\n// assay: assume(n > 0)\n#endif\n",
    "a raw text": 'constant char t[] = R"(\n// assay: assume(n > 0)\n)";\n',
}


@pytest.mark.parametrize("source", HIDDEN.values(), ids=HIDDEN)
def test_what_the_preprocessor_may_leave_out_unseen_is_refused(source: str) -> None:
    lines = {"k": source.count("\n") + 1}
    with pytest.raises(LaunchInputError, match=r"k\.metal:\d: it cannot be told what"):
        assumptions_in(f"{source}kernel void k() {{}}\n", "k.metal", lines, set)


def test_definitions_in_several_lines_hide_nothing() -> None:
    source = '#define S(x) #x\\\n""\n// assay: assume(n > 0)\nkernel void k() {}\n'
    assert list(assumptions_in(source, "k.metal", {"k": 4}, set)) == ["k"]


def test_a_comment_that_goes_on_in_the_next_line_swallows_it() -> None:
    source = "kernel void k() {\n// see \\\n// assay: assume(n > 0)\n}\n"
    assert assumptions_in(source, "k.metal", {"k": 1}, set) == {}


@pytest.mark.parametrize("number", ["1'000", "0xAB'CDu", "1'0.0'0f"])
def test_quotes_in_numbers_are_no_characters(number: str) -> None:
    source = f"kernel void k() {{\nint a = {number}; }} int b = 1'0;\n// assay: assume(n > 0)\n"
    with pytest.raises(LaunchInputError, match="no kernel begins behind this comment"):
        assumptions_in(source, "k.metal", {"k": 1}, set)


def test_braces_in_characters_open_nothing() -> None:
    source = "kernel void k() {\nchar a = '{', b = L'{', c = u8'}';\n// assay: assume(n > 0)\n}\n"
    assert list(assumptions_in(source, "k.metal", {"k": 1}, set)) == ["k"]
