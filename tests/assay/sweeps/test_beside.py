"""Estimates for sizes that were not tried: cores that have one threadgroup more than others."""

from __future__ import annotations

import pytest

from assay.sweeps.beside import beside
from assay.sweeps.point import Recipe
from assay.sweeps.rows import Row

LARGE, SMALL = (Recipe(variant=name) for name in ("large", "small"))


def row(threadgroups: int, *, dram: float = 0.0) -> Row:
    return {"seconds": 1.0, "threadgroups": threadgroups, "causes": {"dram": dram}}


def test_threadgroups_that_came_out_even_do_not_with_more_rows() -> None:
    # 40 cores: 3 large ones each, and 12 small ones.
    rows = {(1, 3840, 512): {LARGE: row(120), SMALL: row(480)}}
    found = beside(rows, "m4-max")
    assert found[1, 4096, 512] == {LARGE: 4 / 3, SMALL: 13 / 12}
    assert found[1, 3584, 512] == {LARGE: 1, SMALL: 12 / 12}
    assert len(found) == 4


def test_what_waits_for_dram_is_even_anyhow() -> None:
    found = beside({(1, 3840, 512): {LARGE: row(120, dram=1.0)}}, "m4-max")
    assert found[1, 4096, 512][LARGE] == pytest.approx(4096 / 3840)


def test_the_nearest_size_tells_and_what_was_tried_needs_no_estimate() -> None:
    near, far = {LARGE: row(120)}, {SMALL: row(480)}
    rows = {(1, 3840, 512): near, (1, 3584, 512): far}
    found = beside(rows, "m4-max")
    assert (1, 3584, 512) not in found and (1, 3840, 512) not in found
    assert list(found[1, 4096, 512]) == [LARGE]
