"""Two reads of threadgroup memory in one call leave what two calls leave."""

import ctypes

import numpy as np
import pytest

from assay.sim.check import layout as k
from assay.sim.simt.ir.context import HANDLE_SHIFT, THREADGROUP_HANDLE, Context
from assay.sim.simt.run.watch_code import load_watch

GRANULES = 16
U32, U64, ADDRESS = ctypes.c_uint32, ctypes.c_uint64, ctypes.c_void_p
RANGE = ctypes.CFUNCTYPE(U32, ADDRESS, U32, U64, U64, U32, U32)
TWO = ctypes.CFUNCTYPE(U32, ADDRESS, U32, U64, U64, U32, U32)
EPOCH_SHIFT, SIMDGROUP_SHIFT, GROUP_SHIFT = 27, 22, 37


class Arena:
    """The shadow of some threadgroup memory, and who accesses it."""

    def __init__(self, records: np.ndarray, covered: int, simdgroup: int) -> None:
        self.records = records.copy()
        self.watch = k.Watch()
        for row, name in enumerate(("written", "read", "before")):
            pointer = self.records[row].ctypes.data_as(ctypes.POINTER(U64))
            setattr(self.watch, f"arena_{name}", pointer)
        self.watch.arena_granules, self.watch.arena_shift = GRANULES, 2
        self.watch.run, self.watch.arena_epoch, self.watch.arena_covered = 1, 3, covered
        self.context = Context()
        place = ctypes.addressof(self.context) + Context.watch.offset
        ctypes.cast(place, ctypes.POINTER(U64))[0] = ctypes.addressof(self.watch)
        self.context.simdgroup = simdgroup

    @property
    def address(self) -> int:
        return ctypes.addressof(self.context)


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
    how, base = 7 << k.HOW_SITE, THREADGROUP_HANDLE << HANDLE_SHIFT
    code = load_watch()
    apart, together = (Arena(records, covered, simdgroup) for _ in range(2))
    read = RANGE(code.address("assay_watch_range"))
    found = [
        read(apart.address, how, base + 4 * at, 4, lane, 4) for at, lane in ((one, 0), (other, 16))
    ]
    both = TWO(code.address("assay_watch_two_reads"))(
        together.address, how, base + 4 * one, base + 4 * other, 0, 16
    )
    assert bool(both) == any(found)
    assert together.records.tolist() == apart.records.tolist()


def test_what_lies_outside_is_left_to_the_lanes() -> None:
    arena = Arena(np.zeros((3, GRANULES), np.uint64), 0, 0)
    base = THREADGROUP_HANDLE << HANDLE_SHIFT
    two = TWO(load_watch().address("assay_watch_two_reads"))
    for one, other in ((0, 4 * GRANULES), (4 * GRANULES, 0), (2, 0), (0, 2)):
        assert two(arena.address, 1 << k.HOW_SITE, base + one, base + other, 0, 16) == 1
    assert not arena.records.any()
