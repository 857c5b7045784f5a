"""Records of runs: whatever is written and read, they say what a record for each granule would."""

import ctypes
from dataclasses import dataclass, field

import numpy as np
import pytest

from assay.sim.check import layout as k
from assay.sim.check.shadow import Shadows
from assay.sim.simt.ir.context import FIRST_BUFFER_HANDLE, HANDLE_SHIFT, Context, TableEntry
from assay.sim.simt.run.watch_code import load_watch

# As records.c has them.
FLAG_SHARED, FLAG_SECOND = 2, 4
SIMDGROUP_SHIFT, EPOCH_SHIFT, GROUP_SHIFT = 22, 27, 37
FULL = k.FULL_GRANULE << k.MASK_SHIFT
GRANULES = 300  # whose last run is not whole
HANDLE = FIRST_BUFFER_HANDLE
CALL = ctypes.CFUNCTYPE(
    ctypes.c_uint32,
    ctypes.c_void_p,
    ctypes.c_uint32,
    ctypes.c_uint64,
    ctypes.c_uint64,
    ctypes.c_uint32,
    ctypes.c_uint32,
)


@dataclass
class Plain:
    """A record for each granule, one after the other."""

    written: list[int] = field(default_factory=lambda: [0] * GRANULES)
    read: list[int] = field(default_factory=lambda: [0] * GRANULES)

    def is_suspect(self, old: int, now: int, covered: int) -> bool:
        if (old ^ now) >> k.TAG_SHIFT or old == 0:
            return False
        if (old ^ now) >> GROUP_SHIFT:
            return True
        if (old >> EPOCH_SHIFT & 1023) < covered:
            return False
        return (old ^ now) >> SIMDGROUP_SHIFT & 31 != 0

    def is_reader_suspect(self, old: int, now: int, covered: int) -> bool:
        if (old ^ now) >> k.TAG_SHIFT:
            return False
        open_ = bool((old ^ now) >> GROUP_SHIFT) or old >> EPOCH_SHIFT & 1023 >= covered
        other = (old ^ now) >> SIMDGROUP_SHIFT & 31 or (old ^ now) >> GROUP_SHIFT
        return bool((open_ or old & FLAG_SHARED) and (other or old & (FLAG_SHARED | FLAG_SECOND)))

    def joined(self, old: int, now: int, covered: int) -> int:
        if (old ^ now) >> k.TAG_SHIFT:
            return now
        if (old ^ now) >> GROUP_SHIFT:
            return old | FLAG_SHARED
        now |= old & FLAG_SHARED
        if old >> EPOCH_SHIFT & 1023 < covered:
            return now
        return now | (old & FLAG_SECOND) | ((old ^ now) >> SIMDGROUP_SHIFT & 31 and FLAG_SECOND)

    def write(
        self, at: int, count: int, step: int, now: int, covered: int, readers: bool = False
    ) -> bool:
        places = range(at, at + count)
        if any(self.is_suspect(self.written[each], now, covered) for each in places):
            return True
        if readers and any(self.is_reader_suspect(self.read[n], now, covered) for n in places):
            return True
        for each in places:
            lane = (each - at) // step if step else 0
            self.written[each] = now + (lane << k.LANE_SHIFT)
        return False

    def note_read(self, at: int, count: int, now: int, covered: int) -> bool:
        places = range(at, at + count)
        for each in places:
            self.read[each] = self.joined(self.read[each], now, covered)
        return any(self.is_suspect(self.written[each], now, covered) for each in places)


class Watched:
    """The C code on a buffer's shadow; `readers` says whether reads count."""

    def __init__(self, *, locks: bool = True, readers: bool = False) -> None:
        self.shadows = Shadows(HANDLE + 1)
        self.shadows.begin()
        self.shadows.watch(HANDLE, 4 * GRANULES, readers=readers, lanes=False)
        self.watch = k.Watch()
        self.watch.buffers = ctypes.cast(self.shadows.table, ctypes.POINTER(k.Buffer))
        if locks:
            self.watch.locks = self.shadows.locks.ctypes.data_as(ctypes.POINTER(ctypes.c_uint32))
        self.watch.tag = self.shadows.tag
        self.context = Context()
        ctypes.cast(
            ctypes.addressof(self.context) + Context.watch.offset, ctypes.POINTER(ctypes.c_uint64)
        )[0] = ctypes.addressof(self.watch)
        self.table = (TableEntry * (HANDLE + 1))()
        self.data = np.zeros(4 * GRANULES, np.uint8)  # which stores are about to change
        self.table[HANDLE].host = self.data.ctypes.data
        self.table[HANDLE].size = self.data.nbytes
        self.context.table = ctypes.addressof(self.table)
        self.call = CALL(load_watch().address("assay_watch_range"))

    def next_dispatch(self, readers: bool) -> None:
        self.shadows.begin()
        self.shadows.watch(HANDLE, 4 * GRANULES, readers=readers, lanes=False)
        self.watch.tag = self.shadows.tag

    def place(self, group: int, epoch: int, covered: int, simdgroup: int) -> int:
        """Say who accesses now; returns what its records begin with."""
        self.watch.group, self.watch.device_epoch = group, epoch
        self.watch.device_covered, self.context.simdgroup = covered, simdgroup
        return (
            self.watch.tag << k.TAG_SHIFT
            | group << GROUP_SHIFT
            | epoch << EPOCH_SHIFT
            | simdgroup << SIMDGROUP_SHIFT
        )

    def access(self, how: int, at: int, count: int, lane: int, step: int) -> bool:
        address = (HANDLE << HANDLE_SHIFT) + 4 * at
        return bool(
            self.call(ctypes.addressof(self.context), how, address, 4 * count, lane, 4 * step)
        )

    def written(self) -> list[int]:
        return self._records(0)

    def read(self) -> list[int]:
        return self._records(1)

    def _records(self, way: int) -> list[int]:
        records = self.shadows.records(HANDLE)
        assert records is not None
        return [int(each) for each in records[way]]


@pytest.mark.parametrize("readers", [True, False])
@pytest.mark.parametrize("locks", [True, False])
@pytest.mark.parametrize("seed", range(40))
def test_runs_say_what_a_record_for_each_granule_says(
    seed: int, locks: bool, readers: bool
) -> None:
    chance = np.random.default_rng(seed)
    plain, watched = Plain(), Watched(locks=locks, readers=readers)
    groups, barriers = int(chance.integers(1, 3)), 0
    for number in range(150):
        if chance.random() < 0.1:
            barriers += 1
        covered = barriers if chance.random() < 0.8 else max(barriers - 1, 0)
        now = watched.place(
            int(chance.integers(groups)), barriers, covered, int(chance.integers(3))
        )
        site = int(chance.integers(1, 1000))
        step = int(chance.choice([0, 1, 1, 1, 2, 4, 3]))
        lane = int(chance.integers(4)) if chance.random() < 0.2 else 0
        lanes = 32 - lane if chance.random() < 0.7 else int(chance.integers(1, 33 - lane))
        count = lanes * step if step else int(chance.integers(1, 5))
        most = GRANULES - count
        at = int(chance.integers(most + 1))
        if chance.random() < 0.7:
            at = min(at // 32 * 32, most)
        now |= site << k.SITE_SHIFT | lane << k.LANE_SHIFT | FULL
        how = site << k.HOW_SITE
        if chance.random() < 0.7:
            expected = plain.write(at, count, step, now, covered, readers)
            found = watched.access(how | k.HOW_WRITE, at, count, lane, step)
        else:
            expected = plain.note_read(at, count, now, covered)
            found = watched.access(how, at, count, lane, step)
        assert found == expected, number
        if chance.random() < 0.02:  # a dispatch that is not ordered with this one begins
            watched.next_dispatch(readers)
        if chance.random() < 0.05:
            assert watched.written() == plain.written, number
    assert watched.written() == plain.written
    assert watched.read() == plain.read


def test_a_run_keeps_one_record_and_touches_no_others() -> None:
    watched = Watched()
    watched.place(0, 0, 0, 0)
    assert not watched.access(k.HOW_WRITE | 5 << k.HOW_SITE, 64, 32, 0, 1)
    (runs, _), written = watched.shadows._runs[HANDLE], watched.shadows._records[HANDLE][1][0]
    assert np.flatnonzero(runs).tolist() == [2]
    assert not written.any()
    assert [each >> k.LANE_SHIFT & 31 for each in watched.written()[64:96]] == list(range(32))
    assert runs[2] == k.EXPANDED


def test_a_run_that_is_read_keeps_one_record_again_in_the_next_dispatch() -> None:
    watched = Watched(readers=True)
    for _ in range(2):
        watched.place(0, 0, 0, 0)
        assert not watched.access(5 << k.HOW_SITE, 64, 32, 0, 1)
        _, runs = watched.shadows._runs[HANDLE]
        assert np.flatnonzero(runs).tolist() == [2]
        assert runs[2] > k.EXPANDED
        assert len({*watched.read()[64:96]}) == 1
        assert runs[2] == k.EXPANDED
        watched.next_dispatch(readers=True)


def test_records_of_runs_are_forgotten_when_tags_begin_anew() -> None:
    watched = Watched()
    watched.place(0, 0, 0, 0)
    assert not watched.access(k.HOW_WRITE | 5 << k.HOW_SITE, 0, 32, 0, 1)
    watched.written()
    assert not watched.access(k.HOW_WRITE | 5 << k.HOW_SITE, 32, 32, 0, 1)
    for _ in range(k.TAGS):
        watched.shadows.begin()
    assert watched.shadows.tag == 1
    assert not any(watched.written())
