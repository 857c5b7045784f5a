"""What the text of a statement tells of what it changes."""

from __future__ import annotations

import pytest

from assay.edits import statements
from assay.repairs.effects import accesses, blanked, is_one_atomic, is_one_store, is_read
from assay.repairs.indices import extents_in
from assay.repairs.names import has_fours, is_kept, is_shared

OWN = "uint mix(device uint* p, uint x) { return p[0]++; }\n"


def reads(text: str) -> bool:
    """Whether the first access to `s` can only load."""
    start, _, end = accesses(text, "s")[0]
    return is_read(text, start, end, text)


@pytest.mark.parametrize(
    "text",
    [
        "y[i] = s[j + 1];",
        "x += s[j].x * 2;",
        "if (b && s[j] > 3) x = 1;",
        "if (a < s[j]) x = 1;",
        "b = s[j] == 3;",
        "x = max(s[j], s[k]);",
        "x = b ? s[j] : 0;",
        "x = simd_sum(s[j]);",
    ],
)
def test_what_is_only_loaded_is_a_read(text: str) -> None:
    assert reads(text)


@pytest.mark.parametrize(
    "text",
    [
        "s[j] = 1;",
        "s[j] <<= 1;",
        "s[j][k].x >>= 1;",
        "s[j]++;",
        "--s[j];",
        "++(s[j]);",
        "(s[j]) = 1;",
        "(b ? s[j] : x) = 1;",
        "uint v = s[j] = j;",
        "threadgroup uint* p = &s[j];",
        "threadgroup uint& r = s[j];",
        "x = a & s[j];",
        "bump(s[j]);",
        "x = bump<uint>(2, s[j].x);",
        "s[j].reset();",
        "s[j] SETS 1;",
    ],
)
def test_what_may_be_changed_is_no_read(text: str) -> None:
    assert not reads(text)


@pytest.mark.parametrize("text", ["s[0] = max(x, 1);", "s[0] += as_type<uint>(x);", "++s[0];"])
def test_a_statement_that_changes_one_thing_is_one_store(text: str) -> None:
    assert is_one_store(text, text)


@pytest.mark.parametrize(
    "text",
    [
        "s[0] = simd_sum(t);",
        "s[0] = next<vec<uint, 2>>(t);",
        "s[0] = m += 5;",
        "return x = 1;",
        "bump(s);",
        "s[0];",
    ],
)
def test_a_statement_that_does_more_or_nothing_is_not(text: str) -> None:
    assert not is_one_store(text, text)


def test_a_function_of_the_text_is_not_taken_for_one_of_the_library() -> None:
    assert is_one_store("s[0] = mix(x, y, z);", "")
    assert not is_one_store("s[0] = mix(y, x);", OWN)


def test_comments_and_directives_are_no_text() -> None:
    source = "// a = 1\n#define B \\\n 2\nx /* = */ ;"
    assert blanked(source).split() == ["x", ";"]
    assert len(blanked(source)) == len(source)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("atomic_fetch_add_explicit(&s[t + 1], x, memory_order_relaxed);", True),
        ("atomic_store_explicit(&s[t].x, max(x, 1), memory_order_relaxed);", True),
        ("v = atomic_fetch_add_explicit(&s[t], 1, memory_order_relaxed);", False),
        ("atomic_store_explicit(&s[t], simd_sum(x), memory_order_relaxed);", False),
        ("atomic_store_explicit(&s[t], x++, memory_order_relaxed);", False),
        ("atomic_store_explicit(&r[0], s[t], memory_order_relaxed);", False),
        ("bump(&s[t]);", False),
    ],
)
def test_an_atomic_operation_without_result_is_one_store(text: str, expected: bool) -> None:
    assert is_one_atomic(text, accesses(text, "s")[0][0], text) is expected


# -- names ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["{ y[t] = n; }", "{ if (t == 0 && t < n) x.t = 1; }", "{ x = min(t, n); }"]
)
def test_a_name_that_is_only_used_is_kept(text: str) -> None:
    assert is_kept("t", text, text)


@pytest.mark.parametrize(
    "text",
    [
        "{ t = t + 64; }",
        "{ t <<= 1; }",
        "{ t.x -= 1; }",
        "{ t[0] = 1; }",
        "{ x = t++; }",
        "{ --t; }",
        "{ thread uint* p = &t; }",
        "{ thread uint& r = t; r = 1; }",
        "{ bump(x, t); }",
        "{ for (uint t = 0; t < 2; ++t) {} }",
        "{ uint t; }",
        "{ uint a = 1, t(5); }",
        "{ device uint* t; }",
        "{ const auto [a, t] = both; }",
    ],
)
def test_a_name_that_may_be_changed_is_not(text: str) -> None:
    assert not is_kept("t", text, text)


def test_elements_behind_a_pointer_are_no_part_of_it() -> None:
    assert is_kept("y", "{ y[0] = 1; f(y[2]); p = &y[3]; }", "", pointer=True)
    assert not is_kept("y", "{ y += 1; }", "", pointer=True)


@pytest.mark.parametrize(
    ("argument", "expected"),
    [
        ("device float* y", True),
        ("device const float* y", True),
        ("const device metal::uint *restrict y", True),
        ("constant float& y", True),
        ("device atomic_uint* y [[buffer(0)]]", True),
        ("device half2* y", True),
        ("device ushort* y", False),
        ("device T* y", False),
        ("device float2* y", False),
        ("device float** y", False),
        ("device float* x, device half* y", False),
    ],
)
def test_the_size_of_elements_is_told_by_their_type(argument: str, expected: bool) -> None:
    assert has_fours("y", f"kernel void k({argument}, uint i)") is expected


SHARED = """\
kernel void k(device uint* y, uint2 v, uint t) {
    threadgroup uint s[64], r[8], total;
    device uint* p = y + t;
    uint own[4];
    BODY
}
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("s[0] = t;", True),
        ("r[0] += t;", True),
        ("total = t;", True),
        ("y[0].x = t;", True),
        ("*p = t;", True),
        ("++s[0];", True),
        ("p = y;", False),
        ("own[0] = s[0];", False),
        ("v[0] = s[0];", False),
        ("v.x += s[0];", False),
        ("uint w = s[0];", False),
    ],
)
def test_only_memory_of_others_is_shared(text: str, expected: bool) -> None:
    source = SHARED.replace("BODY", text)
    (kernel,) = statements(source).children
    assert is_shared(text, source, kernel) is expected


@pytest.mark.parametrize(
    ("length", "body", "expected"),
    [
        ("4*n", "y[i] = 1;", "n"),
        ("4 * n * (m + 1)", "y[i] = 1;", "n * (m + 1)"),
        ("4*n//2", "y[i] = 1;", "n/2"),
        ("4*n + 8", "y[i] = 1;", None),
        ("4*n", "uint n = 3; y[i] = 1;", None),
        ("4*n", "y += n; y[i] = 1;", None),
    ],
)
def test_elements_of_a_buffer_are_told_by_its_length(
    length: str, body: str, expected: str | None
) -> None:
    source = f"kernel void k(device uint* y, constant uint& n, uint i) {{ {body} }}"
    (kernel,) = statements(source).children
    assert extents_in(source, kernel, ["y"], {"y": length}).get("y") == expected


def test_elements_of_an_array_are_not_told_by_a_name_that_changes_behind_it() -> None:
    source = "kernel void k() { threadgroup int s[N]; for (int N = 0; N < 9; ++N) s[N] = 1; }"
    (kernel,) = statements(source).children
    assert extents_in(source, kernel, ["s"], {}) == {}
