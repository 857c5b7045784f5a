"""What the page about Apple's compiler says is what was counted, and explains what differs."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from benchmarks.apple.comparing import (
    EXECUTORCH,
    NEWER,
    SOURCE,
    TORCH_25,
    TORCH_26,
    TORCH_NEWER,
)
from benchmarks.apple.page import BEGIN, END, PAGE, STORED, with_results

BITS, TIMES = "Bits:", "Times:"


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(STORED.read_text())
    return found


@pytest.fixture(scope="module")
def prose() -> str:
    page = PAGE.read_text()
    return page[: page.index(BEGIN)] + page[page.index(END) :]


def named(text: str) -> list[str]:
    """The words in code's letters."""
    return re.findall(r"`(\w+)`", text)


def test_the_page_has_the_stored_results(results: dict[str, Any]) -> None:
    page = PAGE.read_text()
    assert with_results(page, results) == page


def test_enough_kernels_were_compared_and_nearly_all_are_equal(results: dict[str, Any]) -> None:
    ours, newer = results["compare"][SOURCE], results["compare"][NEWER]
    assert ours["compared"] >= 500
    assert ours["equal"] >= 0.98 * ours["compared"]
    assert newer["equal"] == newer["compared"]


def test_all_kernels_of_pytorch_s_files_were_compared_and_one_differs(
    results: dict[str, Any],
) -> None:
    rows = [results["compare"][against] for against in (TORCH_25, TORCH_26)]
    assert sum(row["compared"] for row in rows) == 355
    assert [row["not_compared"] for row in rows] == [0, 0]
    assert [len(row["different"]) for row in rows] == [0, 1]


@pytest.mark.parametrize("against", [SOURCE, TORCH_25, TORCH_26])
def test_each_kernel_whose_bits_differ_is_explained(
    against: str, results: dict[str, Any], prose: str
) -> None:
    explained = named(prose[prose.index(BITS) : prose.index(TIMES)])
    assert set(results["compare"][against]["different"]) <= set(explained)


@pytest.mark.parametrize("against", [SOURCE, EXECUTORCH, TORCH_25, TORCH_26])
def test_each_kernel_whose_time_differs_is_of_a_kind_that_is_explained_or_said_not_to_be(
    against: str, results: dict[str, Any], prose: str
) -> None:
    explained = named(prose[prose.index(TIMES) :])
    apart = results["compare"][against]["timed_apart"]
    assert apart
    assert [name for name in apart if not name.startswith(tuple(explained))] == []


def test_all_kernels_of_executorch_were_compared_and_are_equal(results: dict[str, Any]) -> None:
    row = results["compare"][EXECUTORCH]
    assert (row["compared"], row["equal"], row["not_compared"]) == (164, 164, 0)


def test_kernels_of_pytorch_are_alike_in_both_versions(results: dict[str, Any]) -> None:
    row = results["compare"][TORCH_NEWER]
    assert row["equal"] == row["compared"] >= 100


def test_libraries_for_macos_14_are_read_but_for_twenty_kernels(results: dict[str, Any]) -> None:
    rows = [results["import"][f"{name}14.metallib"] for name in ("mlx", "torch")]
    assert sum(row["tried"] - row["read"] for row in rows) <= 20
    assert all(row["warm_ms"] <= 60 for row in rows)
