"""A dispatch under watch: its shadow memory, its order, and what its observers report."""

from __future__ import annotations

import ctypes
import math
import random
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...check import layout
from ...check.checker import Checker
from ...check.shadow import Shadows
from ...native.zeroed_pages import zeroed_pages
from ..ir import context as c
from ..ir.shape import LANES
from ..watch.needs import RACE_CHECKS
from .memory import Memory
from .uninitialised_buffers import UninitialisedBuffers

if TYPE_CHECKING:
    from .accesses import AccessLog
    from .executable import Executable

_MAX_ARGUMENT_BUFFER = 1 << 16  # bytes that are searched for the addresses of further buffers
_LINE = 64  # bytes of a line of the cache
_RECORDS = ctypes.POINTER(ctypes.c_uint64)
# Records of threadgroup memory: of each granule, and of each run of them.
_BY_GRANULE = ("written", "read", "before", "lane_written", "lane_read")
_BY_RUN = ("runs", "read_runs", "before_runs")
_DEPTH = 2  # argument buffers inside argument buffers


class WorkerWatch:
    """The structures that one worker's kernel reports through."""

    def __init__(self, observation: Observation, executable: Executable, arena: int) -> None:
        self.observation = observation
        self.executable = executable
        shift = executable.watch_needs.arena_shift
        granules = -(-arena >> shift) + 1
        runs = -(-granules // layout.RUN)
        # Written here: masked stores of nothing to pages that are not there yet take long.
        self._records = np.empty(5 * granules + 3 * runs, np.uint64)
        self._records[:] = 0
        self._reports, self._reads, self._slots, self._unsettled = _in_pages(
            layout.Report * layout.REPORT_LIMIT,
            layout.UnwrittenRead * layout.MAX_READS,
            ctypes.c_uint16 * layout.READ_SLOTS,
            layout.Unsettled * layout.UNSETTLED,
        )
        self.order = np.arange(LANES, dtype=np.uint32)
        self.watch = layout.Watch()
        self._fill(granules, shift)

    def _fill(self, granules: int, shift: int) -> None:
        watch, shadows = self.watch, self.observation.shadows
        watch.buffers = ctypes.cast(shadows.table, ctypes.POINTER(layout.Buffer))
        address = self._records.ctypes.data
        for names, count in ((_BY_GRANULE, granules), (_BY_RUN, -(-granules // layout.RUN))):
            for name in names:
                setattr(watch, f"arena_{name}", ctypes.cast(address, _RECORDS))
                address += 8 * count
        watch.arena_granules, watch.arena_shift = granules, shift
        if self.observation.has_locks:
            watch.locks = shadows.locks.ctypes.data_as(ctypes.POINTER(ctypes.c_uint32))
        watch.simdgroups = self.executable.shape.simdgroups
        watch.reports = ctypes.cast(self._reports, ctypes.POINTER(layout.Report))
        watch.reads = ctypes.cast(self._reads, ctypes.POINTER(layout.UnwrittenRead))
        watch.read_slots = ctypes.cast(self._slots, ctypes.POINTER(ctypes.c_uint16))
        watch.unsettled = ctypes.cast(self._unsettled, ctypes.POINTER(layout.Unsettled))
        watch.report_limit = layout.REPORT_LIMIT
        watch.tag = shadows.tag
        watch.lanes = "lanes" in self.observation.checker.checks
        watch.group_base = 0
        watch.run = 0
        watch.order_factor, watch.order_shift, watch.order_count = 1, 0, 1 << 62

    def permute(self, seed: int, threadgroups: int) -> None:
        """Run simdgroups and threadgroups in an order that depends on the seed."""
        chance = random.Random(seed)
        count = self.executable.shape.simdgroups
        order = list(range(count))
        chance.shuffle(order)
        self.order[:count] = order
        factor = chance.randrange(1, max(2, threadgroups))
        while math.gcd(factor, threadgroups) != 1:
            factor += 1
        watch = self.watch
        watch.order_factor, watch.order_count = factor, threadgroups
        watch.order_shift = chance.randrange(max(1, threadgroups))
        watch.flush_denormals = seed & 1

    @property
    def address(self) -> int:
        """Host address of the watch structure."""
        return ctypes.addressof(self.watch)

    @property
    def reports(self) -> list[layout.Report]:
        """What was reported so far."""
        return list(self._reports[: self.watch.report_count])


class Observation:
    """What the workers of one dispatch share.

    Without locks, one worker runs all threadgroups, and no other dispatch uses these shadows.
    """

    def __init__(
        self,
        checker: Checker,
        memory: Memory,
        arguments: Sequence[int],
        executable: Executable,
        accesses: AccessLog | None = None,
        *,
        has_locks: bool = True,
    ) -> None:
        self.checker = checker
        self.has_locks = has_locks
        self.memory = memory
        self.seed = checker.seed
        self.workers: list[WorkerWatch] = []
        self.watched: list[int] = []  # handles of buffers whose accesses are recorded
        self.shadows = shadows_of(checker, memory)
        self.shadows.begin()
        self.uninitialised = checker.state(memory.identity, UninitialisedBuffers)
        needs = executable.watch_needs
        bound = [
            value
            for parameter, value in zip(executable.program.parameters, arguments, strict=True)
            if parameter.kind == "buffer"
        ]
        reachable = self._reachable(bound) if needs.follows_pointers else []
        if "init" in checker.checks:
            self.uninitialised.refresh(memory, _handles([*bound, *reachable]))
        if checker.checks & RACE_CHECKS:
            self.shadows.keep(memory.handles())
            read = _handles([arguments[number] for number in needs.read])
            written = [arguments[number] for number in needs.written]
            if needs.follows_pointers:
                written += [*bound, *reachable]
            watched = _handles(written)
            if accesses is not None:
                watched |= {each for each in read if accesses.wants(each, memory.size(each))}
            for handle in watched:
                if memory.size(handle) > 0:
                    readers = needs.follows_pointers or handle in read
                    lanes = "lanes" in checker.checks
                    self.shadows.watch(handle, memory.size(handle), readers=readers, lanes=lanes)
            self.watched = sorted(watched)

    @property
    def fill(self) -> int:
        """The byte that memory nobody wrote holds."""
        return 0 if self.seed is None else random.Random(self.seed ^ 0x5EED).randrange(256)

    def _reachable(self, bound: list[int]) -> list[int]:
        """Addresses of buffers that lie in the bound buffers, and in those they lead to."""
        found: list[int] = []
        seen: set[int] = set()
        for _ in range(_DEPTH):
            following: list[int] = []
            for address in bound:
                handle = address >> c.HANDLE_SHIFT
                if handle in seen or self.memory.size(handle) > _MAX_ARGUMENT_BUFFER:
                    continue
                seen.add(handle)
                following += self.memory.addresses_in(handle)
            found += following
            bound = following
        return found

    def start(self, executable: Executable, arena: int, threadgroups: int) -> WorkerWatch:
        """The structures of one more worker."""
        worker = WorkerWatch(self, executable, arena)
        if self.seed is not None:
            worker.permute(self.seed, threadgroups)
        self.workers.append(worker)
        return worker


def _in_pages(*kinds: type[ctypes.Array[Any]]) -> list[ctypes.Array[Any]]:
    """Arrays of zeros, of which most is never touched."""
    sizes = [-(-ctypes.sizeof(kind) // _LINE) * _LINE for kind in kinds]
    room, at, found = zeroed_pages(sum(sizes)).data, 0, []
    for kind, size in zip(kinds, sizes, strict=True):
        found.append(kind.from_buffer(room, at))
        at += size
    return found


def _handles(addresses: Sequence[int]) -> set[int]:
    return {address >> c.HANDLE_SHIFT for address in addresses}


def shadows_of(checker: Checker, memory: Memory) -> Shadows:
    """The shadow memory that a checker has of a device's buffers."""
    shadows: Shadows = checker.state(memory.identity, _make_shadows)
    return shadows


def _make_shadows() -> Shadows:
    return Shadows(c.TABLE_ENTRIES)
