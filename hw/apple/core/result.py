"""What the core model says of one dispatch: how long it takes, and what every cycle went into."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from assay.sim.site import Site

# What a partition of a core does, or waits for, in a cycle. `issue` is work: an instruction is
# issued or the unit it needs is busy with an earlier one; all others are waits but `idle`, which
# is a partition that has no simdgroup at all.
CAUSES = (
    "issue",
    "dependency",
    "l1",
    "l2",
    "slc",
    "dram",
    "threadgroup_memory",
    "barrier",
    "atomic",
    "launch",
    "idle",
)
# What a simdgroup does or waits for: also for the turn of others, whose instructions occupy the
# partition or the unit that it needs; to the partition that is `issue`.
SIMDGROUP_CAUSES = (*CAUSES, "unit")
# Where bytes come from or go to.
LEVELS = ("threadgroup_memory", "l1", "l2", "slc", "dram")


@dataclass(frozen=True, slots=True, kw_only=True)
class Occupancy:
    """How many threadgroups are resident on a core at a time.

    Attributes:
        threadgroups: per core.
        simdgroups: per core.
        limiter: what keeps it from being more: "simdgroups", "registers", "threadgroups" (their
            number), "threadgroup memory" or "grid" (there are no more threadgroups).
        spilled: share of a thread's registers that does not fit and lives in memory.
    """

    threadgroups: int
    simdgroups: int
    limiter: str
    spilled: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Roofline:
    """The bounds of a dispatch; `bound` names the nearest: "compute" or one of `LEVELS`.

    Attributes:
        flops_per_second: peak of the active precision's arithmetic units.
        bytes_per_second: sustained bandwidth of DRAM.
        seconds: the least time that the bounds allow for this dispatch's flops and bytes; 0 if it
            has none.
        bound: which of them.
        fraction: `seconds` over the predicted time; 1 is at the roof.
    """

    flops_per_second: float
    bytes_per_second: float
    seconds: float
    bound: str
    fraction: float


@dataclass(frozen=True, slots=True, kw_only=True)
class BankUse:
    """Loads and stores of threadgroup memory.

    Attributes:
        accesses: of simdgroups, of the whole dispatch.
        cycles: for which the memory's port serves one of them, on average.
        ways: how often as long the bank that most lanes name takes as without a conflict; on
            average. 1 is no conflict.
        worst: the most ways of any access that was executed.
    """

    accesses: float
    cycles: float
    ways: float
    worst: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionSlices:
    """What the partitions of a core spend their time on; arrays of one length.

    Short times are gathered into slices, one for each cause, so that the sums by cause are exact.

    Attributes:
        partition: 0 to 3.
        begin: first cycle.
        end: the cycle after the last.
        cause: index into `CAUSES`.
    """

    partition: NDArray[np.int32]
    begin: NDArray[np.float64]
    end: NDArray[np.float64]
    cause: NDArray[np.int8]


@dataclass(frozen=True, slots=True, kw_only=True)
class CoreTimeline:
    """What the simdgroups of one core did, slice by slice; all arrays are of one length.

    Slices of one simdgroup follow each other without gap or overlap, from its launch to its end.

    Attributes:
        partition: partition 0 to 3 that runs the simdgroup.
        threadgroup: number of the taped threadgroup.
        simdgroup: number of the simdgroup in its threadgroup.
        begin: first cycle.
        end: the cycle after the last.
        cause: index into `SIMDGROUP_CAUSES`.
        site: index into `sites`; -1 where no instruction is at stake.
        awaited: for a wait at a barrier the simdgroup of the threadgroup that came last; else -1.
        met: barriers that the simdgroup had come to when the slice began, the one that it waits at
            among them.
        sites: places in the user's source.
        partitions: what the time of the core's partitions goes into.
        flights: what the core fetches from beyond its L1, a row each: the cycle in which it is
            asked for, the cycle in which it is there, and bytes.
    """

    partition: NDArray[np.int32]
    threadgroup: NDArray[np.int32]
    simdgroup: NDArray[np.int32]
    begin: NDArray[np.float64]
    end: NDArray[np.float64]
    cause: NDArray[np.int8]
    site: NDArray[np.int32]
    awaited: NDArray[np.int32]
    met: NDArray[np.int32]
    sites: tuple[Site, ...]
    partitions: PartitionSlices
    flights: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 3)))


@dataclass(frozen=True, slots=True, kw_only=True)
class DispatchTime:
    """How long one dispatch takes on the GPU, without what it costs to start it.

    Attributes:
        chip: key of the chip.
        kind: what kind of kernel it is (`kind.KINDS`).
        cycles: of the core's clock, from the first threadgroup's launch to the last one's end.
        seconds: the same at the chip's clock.
        error: standard error of `cycles` that comes from sampling alone, relative; 0 if all was
            executed. Loops that were extrapolated add to it. The model's own error is larger, and
            `accuracy.model_error(kind)`.
        occupancy: what is resident on a core.
        waves: threadgroups per core over those that are resident at a time.
        cores: cores that get at least one threadgroup.
        threadgroups: of the whole dispatch.
        sampled: threadgroups whose instructions were simulated.
        extrapolated: part of those instructions that were not simulated one by one, but as
            iterations of loops in a steady state.
        instructions: simdgroup instructions of the whole dispatch.
        causes: cycles by cause, the mean of a core's partitions; they sum to `cycles`.
        pipes: cycles in which each execution unit of a partition is occupied.
        by_site: for each place in the source, cycles by cause; in the same measure as `causes`.
            A wait for memory is the load's, one at a barrier the barrier's, any other wait is of
            the instruction that waits.
        flops: floating-point operations of the whole dispatch.
        bytes: of the whole dispatch, by level (`LEVELS`). What was written and is still in the
            caches when it ends does not count for DRAM.
        achieved: flops per second.
        achieved_bytes: bytes per second by level.
        peak_bytes: what all cores together get of a level at most, bytes per second.
        banks: accesses to threadgroup memory, None if there are none.
        roofline: the bounds.
        timeline: one core's slices, if asked for.
    """

    chip: str
    kind: str
    cycles: float
    seconds: float
    error: float
    occupancy: Occupancy
    waves: float
    cores: int
    threadgroups: int
    sampled: int
    extrapolated: float
    instructions: float
    causes: Mapping[str, float]
    pipes: Mapping[str, float]
    by_site: Mapping[Site, Mapping[str, float]]
    flops: float
    bytes: Mapping[str, float]
    achieved: float
    achieved_bytes: Mapping[str, float]
    peak_bytes: Mapping[str, float]
    banks: BankUse | None
    roofline: Roofline
    timeline: CoreTimeline | None = None

    @property
    def microseconds(self) -> float:
        """`seconds` in millionths."""
        return self.seconds * 1e6
