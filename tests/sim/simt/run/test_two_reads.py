"""Two reads of threadgroup memory in one call leave what two calls leave."""

import numpy as np
import pytest

from assay.sim.check import layout as k
from tests.support.watched_arena import EPOCH_SHIFT, GROUP_SHIFT, SIMDGROUP_SHIFT, WatchedArena

GRANULES = 16


def arena(records: np.ndarray, covered: int, simdgroup: int) -> WatchedArena:
    """One whose granules have records of their own."""
    made = WatchedArena(GRANULES)
    made.records[:] = records
    made.runs[:2] = k.EXPANDED
    made.place(1, 3, covered, simdgroup)
    return made


@pytest.mark.parametrize("seed", range(60))
def test_two_reads_leave_what_one_after_the_other_leaves(seed: int) -> None:
    chance = np.random.default_rng(seed)
    records = np.zeros((3, GRANULES), np.uint64)
    for row in range(3):
        for at in range(GRANULES):
            who = int(chance.integers(2)) << GROUP_SHIFT | int(chance.integers(4)) << EPOCH_SHIFT
            who |= int(chance.integers(2)) << SIMDGROUP_SHIFT | int(chance.integers(4)) << 1
            records[row, at] = who | 15 << k.MASK_SHIFT if chance.random() < 0.8 else 0
    covered, simdgroup = int(chance.integers(4)), int(chance.integers(2))
    one, other = (int(each) for each in chance.integers(GRANULES, size=2))
    how = 7 << k.HOW_SITE
    apart, together = (arena(records, covered, simdgroup) for _ in range(2))
    found = [apart.access(how, at, 1, lane, 1) for at, lane in ((one, 0), (other, 16))]
    both = together.read_two(how, one, other, (0, 16))
    assert both == any(found)
    assert together.records.tolist() == apart.records.tolist()


def test_what_lies_outside_is_left_to_the_lanes() -> None:
    made = arena(np.zeros((3, GRANULES), np.uint64), 0, 0)
    for one, other in ((0, GRANULES), (GRANULES, 0), (0.5, 0), (0, 0.5)):
        assert made.read_two(1 << k.HOW_SITE, one, other, (0, 16))
    assert not made.records.any()
