"""Predictions that are made up, for what stands around the model; nothing is simulated."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from assay.hal.metal.emulated import MTLDevice
from assay.hal.metal.emulated.commands.commands import DispatchCommand
from assay.hal.metal.emulated.commands.timing import threadgroups_in
from assay.hal.metal.timed import Prediction
from assay.hal.metal.timed.keys import DispatchKey, Keys
from assay.hw.apple.core.result import (
    CAUSES,
    CoreTimeline,
    DispatchTime,
    Occupancy,
    PartitionSlices,
    Roofline,
)
from assay.sim.site import Site

CLOCK = 1e9
FILE = "program_source.metal"
LOAD = Site(FILE, 3, 5, "load_tile", (Site(FILE, 9, 5, "gemm"),))
COMPUTE = (Site(FILE, 6, 5, "compute"), Site(FILE, 10, 5, "gemm"))
LIBRARY = Site("/metal_stdlib", 100, 1, "fma", COMPUTE)
BARRIER = Site(FILE, 11, 5, "gemm")
SITES = (LOAD, LIBRARY, BARRIER)


def timeline(groups: int, simdgroups: int, epochs: int) -> CoreTimeline:
    """Loads, computes and waits; simdgroup n takes n * 10 cycles longer to load."""
    rows = []
    longest = 100 + 10 * (simdgroups - 1)
    for group in range(groups):
        start = group // 2 * epochs * (longest + 83) + 0.3
        for simdgroup in range(simdgroups):
            at = start
            for epoch in range(epochs):
                load = at + 20 + 10 * simdgroup
                release = at + longest + 33
                steps = [
                    ("issue", 0, at, at + 20),
                    ("dram", 0, at + 20, load + 80),
                    ("barrier", 2, load + 80, release),
                    ("issue", 1, release, release + 30.5),
                    ("dependency", 1, release + 30.5, release + 50),
                ]
                rows += [
                    (group, simdgroup, CAUSES.index(c), s, b, e, epoch + (number > 1))
                    for number, (c, s, b, e) in enumerate(steps)
                ]
                at = release + 50
    columns = list(zip(*rows, strict=True))
    return CoreTimeline(
        partition=np.zeros(len(rows), np.int32),
        threadgroup=np.array(columns[0], np.int32),
        simdgroup=np.array(columns[1], np.int32),
        begin=np.array(columns[4], np.float64),
        end=np.array(columns[5], np.float64),
        cause=np.array(columns[2], np.int8),
        site=np.array(columns[3], np.int32),
        awaited=np.where(
            np.array(columns[2]) == CAUSES.index("barrier"), simdgroups - 1, -1
        ).astype(np.int32),
        met=np.array(columns[6], np.int32),
        sites=SITES,
        partitions=no_partitions(),
    )


def no_partitions() -> PartitionSlices:
    """Nothing about partitions."""
    return PartitionSlices(
        partition=np.zeros(0, np.int32),
        begin=np.zeros(0),
        end=np.zeros(0),
        cause=np.zeros(0, np.int8),
    )


def dispatch_time(threadgroups: int, *, shown: CoreTimeline | None = None) -> DispatchTime:
    """A dispatch of 1000 cycles at 1 GHz for each threadgroup."""
    cycles = 1000.0 * threadgroups
    seconds = cycles / CLOCK
    return DispatchTime(
        chip="m1",
        kind="memory",
        cycles=cycles,
        seconds=seconds,
        error=0.01,
        occupancy=Occupancy(threadgroups=2, simdgroups=8, limiter="registers"),
        waves=1.5,
        cores=8,
        threadgroups=threadgroups,
        sampled=min(threadgroups, 4),
        extrapolated=0.0,
        instructions=10.0 * threadgroups,
        causes={"issue": 0.5 * cycles, "dram": 0.3 * cycles, "barrier": 0.2 * cycles},
        pipes={"fp": 0.4 * cycles},
        by_site={
            LOAD: {"issue": 0.1 * cycles, "dram": 0.3 * cycles},
            LIBRARY: {"issue": 0.4 * cycles},
            BARRIER: {"barrier": 0.2 * cycles},
        },
        flops=1e6 * threadgroups,
        bytes={"dram": 1e5 * threadgroups, "l1": 4e5 * threadgroups},
        achieved=1e6 * threadgroups / seconds,
        achieved_bytes={"dram": 1e5 * threadgroups / seconds, "l1": 4e5 * threadgroups / seconds},
        peak_bytes={"dram": 2e11, "slc": 3e11, "l2": 4e11, "l1": 8e11, "threadgroup_memory": 1e12},
        banks=None,
        roofline=Roofline(
            flops_per_second=2e12,
            bytes_per_second=2e11,
            seconds=seconds / 2,
            bound="dram",
            fraction=0.5,
        ),
        timeline=shown,
    )


class MadeUp:
    """A predictor that notes what it was asked; equal dispatches get the same prediction."""

    def __init__(self, *, timelines: bool = False) -> None:
        self.asked: list[DispatchKey] = []
        self._timelines = timelines
        self._keys = Keys()
        self._known: dict[DispatchKey, Prediction] = {}

    def __call__(self, device: MTLDevice, command: DispatchCommand) -> Prediction:
        key = self._keys.key_of(device, command)
        self.asked.append(key)
        if key not in self._known:
            simdgroups = -(-math.prod(command.threads_per_threadgroup) // 32)
            shown = timeline(4, simdgroups, 3) if self._timelines else None
            time = dispatch_time(math.prod(threadgroups_in(command)), shown=shown)
            self._known[key] = Prediction(time=time, share=0.5)
        return self._known[key]

    def later(self, device: MTLDevice, command: DispatchCommand) -> Callable[[], Prediction]:
        prediction = self(device, command)
        return lambda: prediction
