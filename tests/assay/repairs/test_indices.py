"""Guards of indices whose expressions may stand twice."""

from __future__ import annotations

import pytest

from assay.edits import Node, applied, statements
from assay.repairs.indices import extents_in, guarded_indices, widened


def guards(statement: str) -> list[str]:
    """What is offered for a statement that leaves `a`, in words."""
    source = f"kernel void k() {{\n{statement}\n}}\n"
    place = statements(source).at(source.index(statement))
    return [each.what for each in guarded_indices([place], source, {"a": "64"})]


@pytest.mark.parametrize(
    "index", ["j--", "++j", "j = i + 1", "j += 1", "j <<= 1", "next(j)", "next<uint> (j)"]
)
def test_an_index_that_changes_something_is_not_repeated(index: str) -> None:
    assert guards(f"a[{index}] = x;") == []


@pytest.mark.parametrize(
    "index", ["i + 1", "uint(i) * 2", "(i + 1) % n", "i <= j", "i == j", "i >= j", "i != j"]
)
def test_an_index_that_changes_nothing_is_guarded(index: str) -> None:
    assert guards(f"a[{index}] = x;") == ["guard the store to a in line 2"]


@pytest.mark.parametrize("store", ["a[i + 1] += x;", "a[i + 1]++;", "a[i + 1] = x == y;"])
def test_a_store_that_changes_one_thing_is_guarded(store: str) -> None:
    assert guards(store) == ["guard the store to a in line 2"]


@pytest.mark.parametrize(
    "store", ["a[i + 1] = x[j++];", "a[i + 1] = b = x;", "a[i + 1] = x, b += 2;"]
)
def test_a_store_that_changes_more_than_its_array_is_not_guarded(store: str) -> None:
    assert guards(store) == []


def test_an_index_that_changes_something_may_be_clamped() -> None:
    assert guards("y = a[j--];") == ["clamp the index of a in line 2"]


# -- arrays ---------------------------------------------------------------------------------------

_TWO = """\
kernel void one() { threadgroup float a[64]; a[0] = 1; }
kernel void two(device float* y, uint i) {
    threadgroup float a[128];
    if (i < 9) a[i] = 2; else a[i + 1] = 3;
    if (i < 9) y[i] = 2; else y[i] = a[i];
}
"""


def _functions(source: str) -> list[Node]:
    return [each for each in statements(source).walk() if each.kind == "function"]


def test_arrays_of_one_name_are_told_by_their_function() -> None:
    found = [extents_in(_TWO, each, ["a"], {})["a"] for each in _functions(_TWO)]
    assert found == ["64", "128"]


def test_the_array_of_the_function_is_widened() -> None:
    _, two = _functions(_TWO)
    candidate = next(widened(_TWO, two, ["a"]))
    assert applied(_TWO, candidate.edits) == _TWO.replace("a[128]", "a[128 + 1]")


def test_an_access_behind_else_declares_nothing() -> None:
    _, two = _functions(_TWO)
    assert extents_in(_TWO, two, ["y"], {}) == {}


def test_of_two_arrays_of_one_name_in_a_function_none_is_meant() -> None:
    source = "kernel void k() { { float a[4]; a[0] = 1; } { float a[8]; a[9] = 1; } }"
    (function,) = _functions(source)
    assert extents_in(source, function, ["a"], {}) == {}
    assert list(widened(source, function, ["a"])) == []
