"""From what one core did with some threadgroups to the whole dispatch."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, hypot, prod

import numpy as np
from numpy.typing import NDArray

from assay.sim.simt.recording import Recording
from assay.sim.site import Site

from ..chips import Chip
from ..instructions import instruction_set
from .code import MachineCode
from .job import TICKS
from .machine import dram_rate
from .result import CAUSES, LEVELS, CoreTimeline, DispatchTime, Occupancy, Roofline
from .sample import Sample

_LANES_PER_PARTITION = 32
_PARTITIONS = 4
# Root mean square of what extrapolated loops change, for a dispatch of nothing else; over the
# dispatches of the validation benchmark, each simulated both ways.
_EXTRAPOLATION_ERROR = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What one core did; times in ticks, those by cause, site and pipe summed over partitions.

    `skipped` instructions were counted as iterations in a steady state, not executed.
    """

    ticks: int
    skipped: int
    flops: int
    cycles: NDArray[np.int64]
    site_cycles: NDArray[np.int64]
    pipe_cycles: NDArray[np.int64]
    bytes: NDArray[np.int64]
    begins: NDArray[np.int64]
    ends: NDArray[np.int64]
    instructions: NDArray[np.int64]
    busy: NDArray[np.int64]
    marks: NDArray[np.int64]
    slices: NDArray[np.void]
    flights: NDArray[np.int64]


def whole_dispatch(
    code: MachineCode,
    recording: Recording,
    chip: Chip,
    sample: Sample,
    resident: Occupancy,
    ran: Run,
    spread: NDArray[np.float64],
    shown: Run,
) -> DispatchTime:
    """The result for all threadgroups.

    Args:
        spread: counts of instructions over the grid.
        shown: the run whose slices make the timeline, if it has any.
    """
    total = prod(recording.grid)
    cores = min(chip.cores, total)
    even = _evenness(ran, spread)
    cycles, error = _cycles(ran, total / cores, even)
    seconds = cycles / chip.clock
    times = total / len(ran.ends) * even  # threadgroups for each that was executed
    moved = {level: float(ran.bytes[i]) * times for i, level in enumerate(LEVELS)}
    flops = ran.flops * times
    extrapolated = ran.skipped / max(1, int(ran.instructions.sum()))
    error = hypot(error, _EXTRAPOLATION_ERROR * extrapolated)
    shares = cycles / max(1, ran.ticks * _PARTITIONS)
    return DispatchTime(
        chip=chip.key,
        cycles=cycles,
        seconds=seconds,
        error=error,
        occupancy=resident,
        waves=total / cores / resident.threadgroups,
        cores=cores,
        threadgroups=total,
        sampled=len(ran.ends),
        extrapolated=extrapolated,
        instructions=float(ran.instructions.sum()) * times,
        causes={cause: float(ran.cycles[i]) * shares for i, cause in enumerate(CAUSES)},
        pipes=_pipes(chip, ran, shares),
        by_site=_by_site(code, ran, shares),
        flops=flops,
        bytes=moved,
        achieved=flops / seconds if seconds else 0.0,
        achieved_bytes={level: b / seconds if seconds else 0.0 for level, b in moved.items()},
        roofline=_roofline(chip, ran, flops, moved["dram"], seconds),
        timeline=_timeline(code, shown, ran.ticks / shown.ticks) if len(shown.slices) else None,
    )


def _evenness(ran: Run, spread: NDArray[np.float64]) -> float:
    """Work of a threadgroup anywhere in the grid over that of one that was executed."""
    mean = float(ran.instructions.mean())
    return float(spread.mean()) / mean if len(spread) and mean and spread.mean() else 1.0


def _cycles(ran: Run, per_core: float, even: float) -> tuple[float, float]:
    """Cycles of the dispatch with `per_core` threadgroups on a core, and their relative error.

    What is beyond the executed threadgroups goes on at their pace.
    """
    executed = len(ran.ends)
    simulated = ran.ticks / TICKS
    dram = float(ran.cycles[CAUSES.index("dram")]) / max(1, int(ran.cycles.sum()))
    # Cores that are done leave their share of memory to the others, so memory evens out the end.
    wanted = ceil(per_core) - dram * (ceil(per_core) - per_core)
    durations = (ran.ends - ran.begins) / TICKS
    mean = float(durations.mean())
    if wanted <= executed:
        # No dispatch ends before a threadgroup of its does.
        return max(simulated - (executed - wanted) * _pace(ran), mean), 0.0
    pace = _pace(ran) * even
    cycles = simulated + (wanted - executed) * pace
    scatter = float(durations.std()) / mean / executed**0.5 if mean else 0.0
    return cycles, scatter * (1 - simulated / cycles)


def _pace(ran: Run) -> float:
    """Cycles from one threadgroup to the next in steady state.

    That is how long the middle half of the executed instructions took, since threadgroups that
    start or end together would make the beginning and the end look unlike the rest; and no less
    than what a threadgroup takes of the queue, pipe or issue slots that are busiest.
    """
    groups = len(ran.ends)
    marks = ran.marks
    low, high = len(marks) // 4, len(marks) * 3 // 4
    middle = 0.0
    if high > low:
        middle = float(marks[high] - marks[low]) * len(marks) / (high - low)
    busiest = max(float(ran.busy.max()), float(ran.pipe_cycles.max()) / _PARTITIONS)
    return float(max(middle, busiest) / groups / TICKS)


def _pipes(chip: Chip, ran: Run, shares: float) -> dict[str, float]:
    pipes = instruction_set(chip.timing).pipes
    return {pipe: float(ran.pipe_cycles[i]) * shares for i, pipe in enumerate(pipes)}


def _by_site(code: MachineCode, ran: Run, shares: float) -> dict[Site, dict[str, float]]:
    found: dict[Site, dict[str, float]] = {}
    for number, site in enumerate(code.sites):
        row = ran.site_cycles[number]
        if not row.any():
            continue
        entry = found.setdefault(site, {})
        for cause, count in zip(CAUSES, row, strict=True):
            if count:
                entry[cause] = entry.get(cause, 0.0) + float(count) * shares
    return found


def _roofline(chip: Chip, ran: Run, flops: float, dram: float, seconds: float) -> Roofline:
    known = instruction_set(chip.timing)
    half, single = known.classes["ffma16"], known.classes["ffma32"]
    separate = half.pipe != single.pipe
    busy = dict(zip(known.pipes, ran.pipe_cycles, strict=False))
    used = half if separate and busy[half.pipe] > busy[single.pipe] else single
    lanes = chip.cores * _PARTITIONS * _LANES_PER_PARTITION
    peak = 2 * lanes * chip.clock / used.interval
    bandwidth = dram_rate(chip) * chip.clock
    compute, moving = flops / peak, dram / bandwidth
    least = max(compute, moving)
    return Roofline(
        flops_per_second=peak,
        bytes_per_second=bandwidth,
        seconds=least,
        bound="compute" if compute >= moving else "dram",
        fraction=least / seconds if seconds else 0.0,
    )


def _timeline(code: MachineCode, ran: Run, stretched: float) -> CoreTimeline:
    """The slices of a run, with times that many times as long."""
    slices, ticks = ran.slices, TICKS / stretched
    return CoreTimeline(
        partition=slices["partition"].copy(),
        threadgroup=slices["threadgroup"].copy(),
        simdgroup=slices["simdgroup"].copy(),
        begin=slices["begin"] / ticks,
        end=slices["end"] / ticks,
        cause=slices["cause"].astype(np.int8),
        site=slices["place"].copy(),
        awaited=slices["awaited"].copy(),
        met=slices["met"].copy(),
        sites=code.sites,
        flights=ran.flights / (ticks, ticks, 1),
    )
