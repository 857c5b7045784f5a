"""Parts of large arrays that nobody has written to are told without reading them."""

from __future__ import annotations

import mmap
from pathlib import Path

import numpy as np
import pytest

from assay.sim.native import touched_pages
from assay.sim.native.touched_pages import touched_parts

_COUNT = 1 << 16


def large() -> np.ndarray:
    return np.frombuffer(mmap.mmap(-1, 8 * 10 * _COUNT + 4096), np.uint64)[: 10 * _COUNT - 7]


def test_parts_that_hold_something_are_all_among_those_that_were_touched() -> None:
    array = large()
    array[[5, 3 * _COUNT - 1, 3 * _COUNT, array.size - 1]] = 1
    touched = np.flatnonzero(touched_parts(array, _COUNT)).tolist()
    assert set(touched) >= {0, 2, 3, 9}
    if Path("/proc/self/pagemap").exists():
        assert touched == [0, 2, 3, 9]


def test_where_the_system_does_not_tell_all_parts_count(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(touched_pages, "_PAGES", tmp_path / "none")
    assert touched_parts(large(), _COUNT).all()


def test_arrays_that_end_within_a_page_are_looked_at_whole() -> None:
    array = np.zeros(10, np.uint64)
    array[9] = 1
    assert touched_parts(array, 4)[2]
