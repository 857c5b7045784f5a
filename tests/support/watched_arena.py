"""Some threadgroup memory that the C code of the checks watches, and what it says of it."""

from __future__ import annotations

import ctypes

import numpy as np

from assay.sim.check import layout as k
from assay.sim.simt.ir.context import HANDLE_SHIFT, THREADGROUP_HANDLE, Context
from assay.sim.simt.run.watch_code import load_watch

# As records.c has them.
FLAG_SHARED, FLAG_SECOND = 2, 4
SIMDGROUP_SHIFT, EPOCH_SHIFT, GROUP_SHIFT = 22, 27, 37
FULL = k.FULL_GRANULE << k.MASK_SHIFT
U32, U64 = ctypes.c_uint32, ctypes.c_uint64
_CALL = ctypes.CFUNCTYPE(U32, ctypes.c_void_p, U32, U64, U64, U32, U32)


class WatchedArena:
    """The shadow of so many granules, of `1 << shift` bytes each."""

    def __init__(self, granules: int, shift: int = 2) -> None:
        self.shift = shift
        self.records = np.zeros((3, granules), np.uint64)  # written, read, before
        self.runs = np.zeros((3, -(-granules // k.RUN)), np.uint64)
        self.watch = k.Watch()
        for rows, names in ((self.records, "written read before"), (self.runs, "runs read_runs")):
            self._show(rows, names.split())
        self._show(self.runs[2:], ["before_runs"])
        self.watch.arena_granules, self.watch.arena_shift = granules, shift
        self.context = Context()
        place = ctypes.addressof(self.context) + Context.watch.offset
        ctypes.cast(place, ctypes.POINTER(U64))[0] = ctypes.addressof(self.watch)
        code = load_watch()
        self._range = _CALL(code.address("assay_watch_range"))
        self._two = _CALL(code.address("assay_watch_two_reads"))

    def _show(self, rows: np.ndarray, names: list[str]) -> None:
        for row, name in zip(rows, names, strict=False):
            setattr(self.watch, f"arena_{name}", row.ctypes.data_as(ctypes.POINTER(U64)))

    def place(self, group: int, epoch: int, covered: int, simdgroup: int) -> int:
        """Say who accesses now; returns what its records begin with."""
        self.watch.run, self.watch.arena_epoch, self.watch.arena_covered = group, epoch, covered
        self.context.simdgroup = simdgroup
        return group << GROUP_SHIFT | epoch << EPOCH_SHIFT | simdgroup << SIMDGROUP_SHIFT

    def access(self, how: int, at: int, count: int, lane: int, step: int) -> bool:
        """An access to granules, `step` of each lane's; whether it looks like a race."""
        length, lane_bytes = count << self.shift, step << self.shift
        return bool(self._range(self._context, how, self._address(at), length, lane, lane_bytes))

    def read_two(self, how: int, one: float, other: float, lanes: tuple[int, int]) -> bool:
        """Two reads of one granule each."""
        return bool(self._two(self._context, how, self._address(one), self._address(other), *lanes))

    @property
    def _context(self) -> int:
        return ctypes.addressof(self.context)

    def _address(self, at: float) -> int:
        return (THREADGROUP_HANDLE << HANDLE_SHIFT) + int(at * (1 << self.shift))

    def written(self) -> list[int]:
        """The record of each granule's last write."""
        found = [int(each) for each in self.records[0]]
        for number, run in enumerate(map(int, self.runs[0])):
            if run > k.EXPANDED:
                shift = (run >> k.MASK_SHIFT & k.FULL_GRANULE) - 1
                for n in range(k.RUN):
                    found[number * k.RUN + n] = (run | FULL) + (n >> shift << k.LANE_SHIFT)
        return found

    def read(self) -> list[int]:
        """The record of each granule's last read."""
        return self._of_runs(self.records[1], self.runs[1])

    def before(self) -> list[int]:
        """The record of the last read before one of another simdgroup between two barriers."""
        return self._of_runs(self.records[2], self.runs[2])

    def _of_runs(self, records: np.ndarray, runs: np.ndarray) -> list[int]:
        found = [int(each) for each in records]
        for number, reader in enumerate(map(int, self.runs[1])):
            if reader > k.EXPANDED and runs[number]:
                found[number * k.RUN : (number + 1) * k.RUN] = [int(runs[number])] * k.RUN
        return found
