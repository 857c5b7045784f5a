"""Memory of which some bytes are known."""

import numpy as np
import pytest

from assay.hal.torq.known import KnownLram


@pytest.mark.parametrize(
    ("address", "first", "last"),
    [(-6, 0, 2), (-8, 0, 0), (-9, 0, 0), (0, 0, 8), (60, 60, 64), (64, 0, 0)],
)
def test_what_is_written_beyond_the_memory_is_left_out(address: int, first: int, last: int) -> None:
    lram = KnownLram(64)
    data = np.arange(1, 9, dtype=np.uint8)
    lram.write(address, data, np.ones(8, np.bool_))
    assert lram.known.sum() == last - first
    np.testing.assert_array_equal(lram.bytes[first:last], data[first - address : last - address])
