"""Generated sources that name the texts they were made of with #line."""

from __future__ import annotations

import pytest

from assay.compiler.msl import CompileError, compile_library
from assay.compiler.msl.source.line_directives import named_texts, unescaped


def test_each_text_has_its_lines_at_the_numbers_of_diagnostics() -> None:
    source = 'a\n#line 3 "x"\nb\nc\n  # 1 "y \\"z\\""\nd\n#line 2 "x"\ne'
    assert named_texts(source, "main") == {"main": "a", "x": "\ne\nb\nc", 'y "z"': "d"}


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("x", "x"),
        (r"u/\303\251.metal", "u/é.metal"),
        (r"a\\b\"c", 'a\\b"c'),
        (r"\tx", "\tx"),
        (r"a\8", "a8"),
    ],
)
def test_names_are_what_the_preprocessor_means(written: str, name: str) -> None:
    assert unescaped(written) == name


def test_enormous_line_numbers_are_not_taken_for_lines() -> None:
    assert named_texts('#line 4000000000 "x"\na', "main") == {"main": '#line 4000000000 "x"\na'}


def test_a_mistake_is_quoted_from_the_text_that_has_it() -> None:
    source = 'constant int one = 1;\n#line 5 "body"\nkernel void k(device int* x) { *x = y; }\n'
    with pytest.raises(CompileError) as caught:
        compile_library(source)
    assert str(caught.value).splitlines() == [
        "body:5:37: error: use of undeclared identifier 'y'",
        "kernel void k(device int* x) { *x = y; }",
        " " * 36 + "^",
    ]


def test_the_preprocessor_s_complaints_keep_the_names_too() -> None:
    with pytest.raises(CompileError, match=r"^body:5:2: error: no\n#error no\n \^$"):
        compile_library('#line 5 "body"\n#error no\n')


def test_names_that_could_be_files_of_this_machine_show_nothing() -> None:
    with pytest.raises(CompileError, match="the source cannot be preprocessed"):
        compile_library('#line 1 "/etc/hosts"\n#error no\n')


@pytest.mark.parametrize("fast", [True, False])
def test_fast_math_is_seen_by_the_preprocessor(fast: bool) -> None:
    from assay.compiler.msl import CompileOptions

    source = "#ifdef __FAST_MATH__\nkernel void fast() {}\n#else\nkernel void safe() {}\n#endif"
    library = compile_library(source, options=CompileOptions(fast_math=fast))
    assert library.function_names == (("fast",) if fast else ("safe",))
