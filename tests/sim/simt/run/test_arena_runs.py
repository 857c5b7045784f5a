"""Records of runs of threadgroup memory say what a record for each granule would."""

from dataclasses import dataclass, field

import numpy as np
import pytest

from assay.sim.check import layout as k
from tests.support.watched_arena import (
    EPOCH_SHIFT,
    FLAG_SECOND,
    FULL,
    GROUP_SHIFT,
    SIMDGROUP_SHIFT,
    WatchedArena,
)

GRANULES = 141  # whose last run is not whole


@dataclass
class Plain:
    """A record for each granule, one after the other."""

    written: list[int] = field(default_factory=lambda: [0] * GRANULES)
    read: list[int] = field(default_factory=lambda: [0] * GRANULES)
    before: list[int] = field(default_factory=lambda: [0] * GRANULES)

    def is_open(self, old: int, now: int, covered: int) -> bool:
        return old >> GROUP_SHIFT == now >> GROUP_SHIFT and old >> EPOCH_SHIFT & 1023 >= covered

    def is_suspect(self, old: int, now: int, covered: int) -> bool:
        return self.is_open(old, now, covered) and (old ^ now) >> SIMDGROUP_SHIFT & 31 != 0

    def write(self, at: int, count: int, step: int, now: int, covered: int) -> bool:
        for each in range(at, at + count):
            reader = self.read[each]
            twice = self.is_open(reader, now, covered) and reader & FLAG_SECOND
            if twice or self.is_suspect(reader, now, covered):
                return True
            if self.is_suspect(self.written[each], now, covered):
                return True
        for each in range(at, at + count):
            lane = (each - at) // step if step else 0
            self.written[each] = now + (lane << k.LANE_SHIFT)
        return False

    def note_read(self, at: int, count: int, now: int, covered: int) -> bool:
        for each in range(at, at + count):
            old = self.read[each]
            second = old & FLAG_SECOND if self.is_open(old, now, covered) else 0
            if self.is_suspect(old, now, covered):
                self.before[each], second = old, FLAG_SECOND
            self.read[each] = now | second
        return any(self.is_suspect(each, now, covered) for each in self.written[at : at + count])


def access(chance: np.random.Generator) -> tuple[int, int, int, int]:
    """(first granule, granules, first lane, granules of each lane), mostly of whole simdgroups."""
    step = int(chance.choice([0, 1, 1, 1, 1, 2, 4, 3]))
    lane = int(chance.integers(4)) if chance.random() < 0.2 else 0
    lanes = 32 - lane if chance.random() < 0.7 else int(chance.integers(1, 33 - lane))
    count = lanes * step if step else int(chance.choice([1, 1, 2, 32, 96]))
    most = GRANULES - count
    at = int(chance.integers(most + 1))
    if chance.random() < 0.7:
        at = min(at // 32 * 32, most)
    return at, count, lane, step


@pytest.mark.parametrize("shift", [2, 0])
@pytest.mark.parametrize("seed", range(60))
def test_runs_say_what_a_record_for_each_granule_says(seed: int, shift: int) -> None:
    chance = np.random.default_rng(seed)
    plain, watched = Plain(), WatchedArena(GRANULES, shift)
    group, barriers, simdgroups = 1, 0, int(chance.integers(1, 4))
    for number in range(200):
        if chance.random() < 0.2:
            barriers += 1
        if chance.random() < 0.02:
            group, barriers = group + 1, 0
        covered = barriers if chance.random() < 0.8 else max(barriers - 1, 0)
        start = watched.place(group, barriers, covered, int(chance.integers(simdgroups)))
        site = int(chance.integers(1, 1000))
        how = site << k.HOW_SITE
        at, count, lane, step = access(chance)
        now = start | site << k.SITE_SHIFT | lane << k.LANE_SHIFT | FULL
        kind = chance.random()
        if kind < 0.4:
            expected = plain.write(at, count, step, now, covered)
            found = watched.access(how | k.HOW_WRITE, at, count, lane, step)
        elif kind < 0.9:
            expected = plain.note_read(at, count, now, covered)
            found = watched.access(how, at, count, lane, step)
        else:
            other = int(chance.integers(GRANULES))
            found = watched.read_two(how, at, other, (lane, 16))
            expected = plain.note_read(at, 1, now, covered)
            now = start | site << k.SITE_SHIFT | 16 << k.LANE_SHIFT | FULL
            expected |= plain.note_read(other, 1, now, covered)
        assert found == expected, number
        assert watched.written() == plain.written, number
        assert watched.read() == plain.read, number
        assert watched.before() == plain.before, number


def test_a_run_keeps_one_record_until_a_part_of_it_is_accessed() -> None:
    arena = WatchedArena(GRANULES)
    arena.place(1, 0, 0, 0)
    assert not arena.access(5 << k.HOW_SITE | k.HOW_WRITE, 32, 32, 0, 1)
    assert not arena.access(6 << k.HOW_SITE, 32, 32, 0, 1)
    assert np.flatnonzero(arena.runs[0]).tolist() == np.flatnonzero(arena.runs[1]).tolist() == [1]
    assert not arena.records.any()
    assert not arena.access(7 << k.HOW_SITE, 40, 8, 0, 1)
    assert arena.runs[0, 1] > k.EXPANDED
    assert arena.runs[1, 1] == k.EXPANDED
    arena.place(1, 1, 1, 1)
    assert not arena.access(8 << k.HOW_SITE, 32, 32, 0, 1)
    assert arena.runs[1, 1] > k.EXPANDED
    assert not arena.access(9 << k.HOW_SITE | k.HOW_WRITE, 63, 1, 0, 1)
    assert arena.runs[0, 1] == k.EXPANDED
