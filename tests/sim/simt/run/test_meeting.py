"""Simdgroups that wait alike, which are not looked at one by one, count as those that are."""

import ctypes
from dataclasses import dataclass, field

import numpy as np
import pytest

from assay.sim.check import layout as k
from assay.sim.simt.ir.context import Context
from assay.sim.simt.run.watch_code import load_watch

SIMDGROUPS = 4
ALL = 0xFFFFFFFF
U32, ADDRESS = ctypes.c_uint32, ctypes.c_void_p
WAIT = ctypes.CFUNCTYPE(None, ADDRESS, U32, U32, U32, U32, U32)
ROUND = ctypes.CFUNCTYPE(None, ADDRESS, U32)


class Watched:
    """The C code, told who waits."""

    def __init__(self) -> None:
        self.watch, self.context = k.Watch(), Context()
        self._reports = (k.Report * k.REPORT_LIMIT)()
        self.watch.reports = ctypes.cast(self._reports, ctypes.POINTER(k.Report))
        self.watch.report_limit, self.watch.simdgroups = k.REPORT_LIMIT, SIMDGROUPS
        place = ctypes.addressof(self.context) + Context.watch.offset
        ctypes.cast(place, ctypes.POINTER(ctypes.c_uint64))[0] = ctypes.addressof(self.watch)
        code = load_watch()
        self._wait = WAIT(code.address("assay_watch_wait"))
        self._round = ROUND(code.address("assay_watch_round"))

    def wait(self, simdgroup: int, waiter: tuple[int, int, int, int, int]) -> None:
        self.context.simdgroup = simdgroup
        self._wait(ctypes.addressof(self.context), *waiter)

    def round(self) -> None:
        self._round(ctypes.addressof(self.context), SIMDGROUPS)

    @property
    def found(self) -> set[tuple[int, int, int]]:
        reports = self._reports[: self.watch.report_count]
        return {(each.kind, each.site, each.other_site) for each in reports}

    @property
    def passed(self) -> tuple[int, int, int]:
        return self.watch.barriers, self.watch.arena_covered, self.watch.device_covered


@dataclass
class Plain:
    """Everybody looked at."""

    found: set[tuple[int, int, int]] = field(default_factory=set)
    passed: tuple[int, int, int] = (0, 0, 0)

    def round(self, waiting: dict[int, tuple[int, int, int, int, int]]) -> None:
        if not waiting:
            return
        site, flags, _, _, branch = waiting[min(waiting)]
        for simdgroup in range(SIMDGROUPS):
            if simdgroup not in waiting:
                self.found.add((k.SIMDGROUP_LEFT, site, branch))
                continue
            here, named, mask, live, parted = waiting[simdgroup]
            if live & ~mask:
                self.found.add((k.LANES_ELSEWHERE, here, parted))
            if here != site:
                self.found.add((k.OTHER_BARRIER, here, site))
            flags &= named
        barriers, arena, device = self.passed
        barriers += 1
        arena = barriers if flags & k.MEM_THREADGROUP else arena
        self.passed = barriers, arena, barriers if flags & k.MEM_DEVICE else device


@pytest.mark.parametrize("seed", range(200))
def test_who_meets_counts_as_if_all_were_looked_at(seed: int) -> None:
    chance = np.random.default_rng(seed)
    watched, plain = Watched(), Plain()
    for _ in range(20):
        usual = (int(chance.integers(1, 4)), int(chance.integers(4)), ALL, ALL, 0)
        waiting = {}
        for simdgroup in (int(each) for each in chance.permutation(SIMDGROUPS)):
            if chance.random() < 0.05:
                continue  # it has ended
            waiter = list(usual)
            if chance.random() < 0.1:
                change = int(chance.integers(5))
                values = (int(chance.integers(1, 4)), int(chance.integers(4)), 7, 0xFF, 3)
                waiter[change] = values[change]
            if waiter[3] != ALL and chance.random() < 0.5:
                waiter[2] = waiter[3]  # the last simdgroup has fewer lanes
            waiting[simdgroup] = tuple(waiter)
            watched.wait(simdgroup, waiting[simdgroup])
        watched.round()
        plain.round(waiting)
        assert watched.found == plain.found
        assert watched.passed == plain.passed
