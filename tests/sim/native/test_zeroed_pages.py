"""Zeros that take no room where nobody touches them."""

import mmap

import numpy as np
import pytest

from assay.sim.native.touched_pages import touched_parts
from assay.sim.native.zeroed_pages import zeroed_pages

SIZE = 64 * mmap.PAGESIZE


@pytest.mark.parametrize("size", [0, 1, 4097, SIZE])
@pytest.mark.parametrize("large", [False, True])
def test_bytes_are_zeros_that_can_be_written(size: int, large: bool) -> None:
    found = zeroed_pages(size, large=large)
    assert found.size == size
    assert not found.any()
    found[:] = 7
    assert (found == 7).all()


def test_only_what_is_touched_takes_room() -> None:
    found = zeroed_pages(SIZE)
    found[5 * mmap.PAGESIZE] = 1
    touched = touched_parts(found, mmap.PAGESIZE)
    if not touched.all():  # else the system does not tell
        assert np.flatnonzero(touched).tolist() == [5]
