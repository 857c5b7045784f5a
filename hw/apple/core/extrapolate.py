"""From what one core did with some threadgroups to the whole dispatch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, hypot, prod

import numpy as np
from numpy.typing import NDArray

from assay.sim.lanes import LANES
from assay.sim.simt.emit.tape import Tape
from assay.sim.site import Site

from ..facts.chips import Chip
from ..facts.instructions import instruction_set
from ..lower.code import MachineCode
from .kind import kind_of
from .machine import peak_bytes
from .result import (
    CAUSES,
    LEVELS,
    BankUse,
    CoreTimeline,
    DispatchTime,
    Occupancy,
    PartitionSlices,
    Roofline,
)
from .sample import Sample
from .shared import BANKS, PARTITIONS, QUEUES, TICKS

# Root mean square of what extrapolated loops change, for a dispatch of nothing else; over the
# dispatches of the validation benchmark, each simulated both ways.
_EXTRAPOLATION_ERROR = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What one core did; times in ticks, those by cause, site and pipe summed over partitions.

    `skipped` instructions were counted as iterations in a steady state, not executed. `held_back`
    are bytes that it wrote and that caches still hold when it ends.
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
    banks: NDArray[np.int64]
    worst_ways: int
    held_back: int
    marks: NDArray[np.int64]
    slices: NDArray[np.void]
    flights: NDArray[np.int64]


def whole_dispatch(
    code: MachineCode,
    tape: Tape,
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
    total = prod(tape.grid)
    cores = min(chip.cores, total)
    even = _evenness(ran, spread)
    times = total / len(ran.ends) * even  # threadgroups for each that was executed
    moved = {level: float(ran.bytes[i]) * times for i, level in enumerate(LEVELS)}
    moved["dram"] = max(0.0, moved["dram"] - ran.held_back * min(cores, times))
    peaks = peak_bytes(chip)
    cycles, error = _cycles(ran, total / cores, even)
    # Threadgroups that were not executed may seem to go on faster than memory does.
    shared = max(moved[level] / peaks[level] for level in ("slc", "dram"))
    cycles = max(cycles, shared * chip.clock)
    seconds = cycles / chip.clock
    flops = ran.flops * times
    extrapolated = ran.skipped / max(1, int(ran.instructions.sum()))
    error = hypot(error, _EXTRAPOLATION_ERROR * extrapolated)
    late = _late(ran, cycles)
    shares = (cycles - late.cycles) / max(1, ran.ticks * PARTITIONS)
    causes = {
        cause: float(ran.cycles[i]) * shares + (late.cycles if cause == late.cause else 0.0)
        for i, cause in enumerate(CAUSES)
    }
    return DispatchTime(
        chip=chip.key,
        kind=kind_of(code, causes),
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
        causes=causes,
        pipes=_pipes(chip, ran, cycles / max(1, ran.ticks * PARTITIONS)),
        by_site=_by_site(code, ran, shares, late),
        flops=flops,
        bytes=moved,
        achieved=flops / seconds if seconds else 0.0,
        achieved_bytes={level: b / seconds if seconds else 0.0 for level, b in moved.items()},
        peak_bytes=peaks,
        banks=_banks(ran, times),
        roofline=_roofline(chip, code, ran, flops, moved, peaks, seconds),
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
    return max(_middle(ran), _busiest(ran)[1]) / len(ran.ends) / TICKS


def _middle(ran: Run) -> float:
    """Ticks that all instructions would take as the middle half of them did."""
    marks = ran.marks
    low, high = len(marks) // 4, len(marks) * 3 // 4
    return float(marks[high] - marks[low]) * len(marks) / (high - low) if high > low else 0.0


def _busiest(ran: Run) -> tuple[str, float]:
    """The cause that stands for the queue or pipe that is busiest, and its ticks."""
    queue = int(ran.busy.argmax())
    pipe = float(ran.pipe_cycles.max()) / PARTITIONS
    return (QUEUES[queue], float(ran.busy[queue])) if ran.busy[queue] > pipe else ("issue", pipe)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Late:
    """Cycles for which a dispatch will wait for what the executed threadgroups did not yet."""

    cause: str
    cycles: float


def _late(ran: Run, cycles: float) -> _Late:
    """Those beyond what was executed that its busiest queue or pipe adds to the pace."""
    cause, busy = _busiest(ran)
    beyond = max(0.0, cycles - ran.ticks / TICKS)
    return _Late(cause=cause, cycles=beyond * max(0.0, 1 - _middle(ran) / busy) if busy else 0.0)


def _pipes(chip: Chip, ran: Run, shares: float) -> dict[str, float]:
    pipes = instruction_set(chip.timing).pipes
    return {pipe: float(ran.pipe_cycles[i]) * shares for i, pipe in enumerate(pipes)}


def _by_site(
    code: MachineCode, ran: Run, shares: float, late: _Late
) -> dict[Site, dict[str, float]]:
    cycles = ran.site_cycles * shares
    known = ran.site_cycles[:, CAUSES.index(late.cause)]
    weights = known if known.any() else ran.site_cycles.sum(axis=1)
    cycles[:, CAUSES.index(late.cause)] += late.cycles * weights / max(1, int(weights.sum()))
    found: dict[Site, dict[str, float]] = {}
    for number in np.flatnonzero(cycles.any(axis=1)):
        entry = found.setdefault(code.sites[number], {})
        for cause, count in zip(CAUSES, cycles[number], strict=True):
            if count:
                entry[cause] = entry.get(cause, 0.0) + float(count)
    return found


def _banks(ran: Run, times: float) -> BankUse | None:
    """Accesses to threadgroup memory; `times` as many as those that were executed."""
    accesses, served, ways = (ran.banks[BANKS.index(name)] for name in BANKS)
    if not accesses:
        return None
    return BankUse(
        accesses=float(accesses) * times,
        cycles=float(served) / TICKS / float(accesses),
        ways=float(ways) / TICKS / float(accesses),
        worst=ran.worst_ways / TICKS,
    )


def _roofline(
    chip: Chip,
    code: MachineCode,
    ran: Run,
    flops: float,
    moved: Mapping[str, float],
    peaks: Mapping[str, float],
    seconds: float,
) -> Roofline:
    known = instruction_set(chip.timing)
    half, single = known.classes["ffma16"], known.classes["ffma32"]
    busy = dict(zip(known.pipes, ran.pipe_cycles, strict=False))
    if half.pipe != single.pipe:
        used = half if busy[half.pipe] > busy[single.pipe] else single
    else:
        used = half if _computes_in_half(code) else single
    lanes = chip.cores * PARTITIONS * LANES
    peak = 2 * lanes * chip.clock / used.interval
    bounds = {"compute": flops / peak}
    bounds |= {level: moved[level] / peaks[level] for level in reversed(LEVELS)}
    bound = max(bounds, key=lambda each: bounds[each])
    least = bounds[bound]
    return Roofline(
        flops_per_second=peak,
        bytes_per_second=peaks["dram"],
        seconds=least,
        bound=bound,
        fraction=least / seconds if seconds else 0.0,
    )


def _computes_in_half(code: MachineCode) -> bool:
    """Whether any floating-point operation has 16 bits."""
    counted = {code.classes[kind] for kind in np.unique(code.kinds[code.flops > 0])}
    return any(name.startswith("f") and name.endswith("16") for name in counted)


def _timeline(code: MachineCode, ran: Run, stretched: float) -> CoreTimeline:
    """The slices of a run, with times that many times as long."""
    ticks = TICKS / stretched
    of_simdgroup = ran.slices["simdgroup"] >= 0
    slices, others = ran.slices[of_simdgroup], ran.slices[~of_simdgroup]
    partitions = PartitionSlices(
        partition=others["partition"].copy(),
        begin=others["begin"] / ticks,
        end=others["end"] / ticks,
        cause=others["cause"].astype(np.int8),
    )
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
        partitions=partitions,
        flights=ran.flights / (ticks, ticks, 1),
    )
