"""Best kernels, fronts and fixed choices, by numbers that can be seen through."""

from __future__ import annotations

from typing import Any

import pytest

from assay.sweeps.compare import best, fixed_choices, front, label_of
from assay.sweeps.rows import Row


def row(kernel: str, chip: str, seconds: float | None, **more: Any) -> Row:
    return {
        "key": f"{kernel} {chip}",
        "variant": kernel,
        "policy": "fp4_128",
        "chip": chip,
        "m": 1,
        "n": 64,
        "k": 128,
        "status": "ok" if seconds else "failed",
        "reason": None if seconds else "it cannot",
        "seconds": seconds,
        "threadgroup_memory": 0,
        "resident_simdgroups": 8,
        **more,
    }


ROWS = [
    row("a", "m1", 1.0),
    row("b", "m1", 2.0),
    row("c", "m1", 4.0),
    row("a", "m2", 8.0),
    row("b", "m2", 2.0),
    row("c", "m2", None),
]


def test_the_best_is_the_fastest_of_a_target_and_of_equal_ones_the_smallest() -> None:
    assert [each["variant"] for each in best(ROWS).values()] == ["a", "b"]
    equal = [row("a", "m1", 1.0, threadgroup_memory=64), row("b", "m1", 1.0)]
    assert [each["variant"] for each in best(equal).values()] == ["b"]


def test_a_fixed_choice_costs_what_it_loses_against_the_best_of_each_target() -> None:
    found = {each.kernel: each for each in fixed_choices(ROWS)}
    assert list(found) == ["b", "a", "c"]
    assert found["b"].mean == pytest.approx(2**0.5) and found["b"].worst == 2
    assert found["a"].mean == pytest.approx(2) and found["a"].where[1] == "m2"
    assert (found["c"].missing, found["b"].missing) == (1, 0)


def test_a_front_has_what_no_other_beats_in_all_aims() -> None:
    rows = [
        row("fast", "m1", 1.0, threadgroup_memory=64, resident_simdgroups=4),
        row("small", "m1", 2.0, threadgroup_memory=32, resident_simdgroups=4),
        row("resident", "m1", 3.0, threadgroup_memory=64, resident_simdgroups=8),
        row("beaten", "m1", 3.0, threadgroup_memory=64, resident_simdgroups=4),
        row("fast too", "m1", 1.0, threadgroup_memory=64, resident_simdgroups=4),
    ]
    found = [each["variant"] for each in front(rows)]
    assert found == ["fast", "small", "resident", "fast too"]


def test_a_label_has_the_knobs_that_were_chosen() -> None:
    assert label_of(row("gemm", "m1", 1.0, tile="64x64x32", stages=None)) == "gemm tile=64x64x32"
