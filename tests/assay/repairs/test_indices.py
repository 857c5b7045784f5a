"""Guards of indices whose expressions may stand twice."""

from __future__ import annotations

import pytest

from assay.edits import statements
from assay.repairs.indices import guarded_indices


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
