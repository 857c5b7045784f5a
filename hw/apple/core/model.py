"""The core model: how long a taped dispatch takes on a chip."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.sim.simt.emit.tape import LINE_BYTES, Tape

from ..facts.chips import Chip
from ..facts.memory import memory
from ..lower.code import MachineCode
from . import job as j
from .extrapolate import Run, whole_dispatch
from .machine import class_tables, numbers, ticks
from .occupancy import occupancy
from .result import CAUSES, LEVELS, DispatchTime, Occupancy
from .sample import Sample
from .shared import BANKS, MARKS, QUEUES
from .sharing import CATEGORIES, Lines, Machine, Sharing, sharing

_SLICES = 1 << 20  # of a timeline, at most
_PIPES = 8
Arrays = dict[str, NDArray[np.generic]]


class TimingError(ValueError):
    """A tape cannot be simulated; the message says why."""


def simulate(
    code: MachineCode,
    tape: Tape,
    chip: Chip,
    *,
    sample: Sample | None = None,
    warm: bool = True,
    footprint: int | None = None,
    timeline: bool = False,
    extrapolate: bool = True,
) -> DispatchTime:
    """Predict one dispatch.

    Args:
        code: the kernel's instructions.
        tape: what some of its threadgroups did.
        chip: the chip.
        sample: which threadgroups were taped; without it all run on one core, in order.
        warm: whether the caches hold what an earlier run of the same dispatch left there.
        footprint: bytes that the dispatch can touch at most: those of its buffers.
        timeline: whether the result has a core's slices. If loops were extrapolated, all is
            executed once more for them, and what that took is stretched to the prediction.
        extrapolate: whether loops in a steady state are extrapolated. Otherwise every instruction
            of the tape is executed.

    Raises:
        TimingError: if the tape does not belong to the code or the sample, or is empty or
            cut short.
        SpecError: if the chip's tables lack an instruction class of the code.
    """
    chosen = sample or Sample(positions=tape.threadgroups, core=len(tape.threadgroups))
    _check(code, tape, chosen)
    total = tape.grid[0] * tape.grid[1] * tape.grid[2]
    cores = min(chip.cores, total)
    resident = occupancy(
        chip,
        registers=code.registers,
        simdgroups=tape.simdgroups,
        threadgroup_memory=tape.threadgroup_memory,
        threadgroups=total,
    )
    work = _Work(code, tape, chip, cores, resident, _inputs(code, tape))
    shared = work.share(chosen, footprint, warm=warm)
    slices = _SLICES if timeline else 0
    ran = shown = work.run(chosen.core, shared, extrapolate=extrapolate, slices=slices)
    if timeline and ran.skipped:
        shown = work.run(chosen.core, shared, extrapolate=False, slices=slices)
    counted = work.instruction_counts(chosen, ran)
    return whole_dispatch(code, tape, chip, chosen, resident, ran, counted, shown)


def _check(code: MachineCode, tape: Tape, sample: Sample) -> None:
    if not tape.threadgroups:
        raise TimingError("the tape has no threadgroups")
    if tape.truncated:
        raise TimingError(
            "the tape was cut short because it grew too large; sample fewer threadgroups "
            "(choose_sample with fewer waves) or allow it more memory"
        )
    if sample.positions != tape.threadgroups:
        raise TimingError("the tape is not of the threadgroups that the sample names")
    blocks = len(code.starts) - 1
    counts = np.diff(tape.known_starts)
    if len(tape.known_starts) - 1 != blocks:
        raise TimingError(
            f"the code has {blocks} blocks and the tape {len(tape.known_starts) - 1}: "
            "they are not of the same function"
        )
    if (code.accesses >= counts[code.block_of()]).any():
        raise TimingError("the code has accesses that the tape lacks: not the same function")


@dataclass(slots=True)
class _Work:
    """One dispatch on one chip: the arrays that the compiled core reads."""

    code: MachineCode
    tape: Tape
    chip: Chip
    cores: int
    resident: Occupancy
    inputs: Arrays

    def share(self, sample: Sample, footprint: int | None, *, warm: bool) -> Sharing:
        """Which lines the threadgroups have in common."""
        bare = j.job(self.inputs, {})
        per_group = self.tape.simdgroups

        def lines_of(number: int) -> Lines:
            first, last = number * per_group, (number + 1) * per_group
            return j.collect(bare, first, last, j.count_lines(bare, first, last))

        machine = Machine(
            cores=self.cores,
            resident=self.resident.threadgroups,
            l2=self.chip.l2,
            slc=self.chip.slc,
            sector=int(memory(self.chip.timing).sector),
        )
        sites = int(self.tape.known_starts[-1])
        most = float("inf") if footprint is None else footprint
        return sharing(self.tape.grid, sample, machine, sites, lines_of, most, warm=warm)

    def run(self, groups: int, shared: Sharing, *, extrapolate: bool, slices: int) -> Run:
        """Execute the first `groups` taped threadgroups on one core."""
        arrays = {**self.inputs, **class_tables(self.chip.timing, self.code.classes)}
        arrays |= _sharing_arrays(shared)
        arrays["capacity"] = np.array(
            [memory(self.chip.timing).l1, self.chip.l2, self.chip.slc], np.int64
        )
        counted = j.job(arrays, {})
        lines = j.count_lines(counted, 0, groups * self.tape.simdgroups)
        room, sizes = self._room(lines)
        results = self._results(groups)
        starts = self.tape.known_starts
        arrays |= results | {"site_does": _site_does(self.code, starts, arrays["class_does"])}
        fixed = numbers(self.chip, self.cores)
        made_slices = np.zeros(max(1, slices), j.SLICE)
        flights = np.zeros((max(1, slices), 3), np.int64)
        arrays |= room | {"slices": made_slices, "flights": flights}
        arrays["ring"] = np.zeros(fixed["outstanding"], np.int64)
        counts = {"group_count": groups, "slice_limit": slices, "mark_step": 1}
        counts["counter_count"] = len(results["counters"])
        counts["may_skip"] = int(extrapolate)
        counts["class_count"] = len(self.code.classes)
        counts["footprint"] = int(max(shared.footprint, LINE_BYTES))
        work = j.job(arrays, fixed | sizes | counts)
        end = j.run(work)
        if end < 0:
            raise TimingError("simdgroups of the tape wait for each other for ever")
        made = made_slices[: work.slice_count]
        return Run(
            ticks=end,
            skipped=int(work.skipped),
            flops=int(work.flops),
            cycles=results["cycles"],
            site_cycles=results["site_cycles"].reshape(-1, len(CAUSES)),
            pipe_cycles=results["pipe_cycles"],
            bytes=results["bytes"],
            begins=results["group_begin"],
            ends=results["group_end"],
            instructions=results["group_instructions"],
            busy=results["busy"],
            banks=results["banks"],
            worst_ways=int(work.worst_ways),
            held_back=int(work.held_back) * LINE_BYTES // fixed["write_line"],
            marks=results["marks"][: work.mark_count],
            slices=made,
            flights=flights[: work.flight_count],
        )

    def instruction_counts(self, sample: Sample, ran: Run) -> NDArray[np.float64]:
        """Instructions of those taped threadgroups that are spread over the grid."""
        job, per_group = j.job(self.inputs, {}), self.tape.simdgroups
        counts = [
            float(ran.instructions[number])
            if number < len(ran.instructions)
            else float(j.count_issued(job, number * per_group, (number + 1) * per_group))
            for number in sample.spread
            if number >= 0
        ]
        return np.array(counts)

    def _room(self, lines: int) -> tuple[Arrays, dict[str, int]]:
        """Memory that the compiled core works in, and how large its parts are."""
        groups, per_group = self.resident.threadgroups, self.tape.simdgroups
        slots = groups * per_group
        registers = max(1, self.code.register_count)
        access_limit = max(1, int(np.diff(self.tape.known_starts).max(initial=0)))
        buckets = 1 << max(4, (2 * lines).bit_length())
        room: Arrays = {
            "simdgroups": np.zeros(slots * j.size_of(0), np.uint8),
            "groups": np.zeros(groups * j.size_of(1), np.uint8),
            "lines": np.empty((lines + 1) * j.size_of(2), np.uint8),
            "registers": np.zeros(slots * (registers + 1) * j.size_of(3), np.uint8),
            "access_at": np.zeros(slots * access_limit, np.int64),
            "buckets": np.full(buckets, -1, np.int32),
        }
        return room, {
            "register_count": registers,
            "access_limit": access_limit,
            "bucket_mask": buckets - 1,
            "resident": groups,
            "per_group": per_group,
            "spilled": ticks(self.resident.spilled * memory(self.chip.timing).spilled_result),
        }

    def _results(self, groups: int) -> dict[str, NDArray[np.int64]]:
        counted = {  # in the order in which `skip.c` takes them to be
            "cycles": len(CAUSES),
            "site_cycles": max(1, len(self.code.sites)) * len(CAUSES),
            "pipe_cycles": _PIPES,
            "bytes": len(LEVELS),
            "busy": len(QUEUES),
            "banks": len(BANKS),
        }
        counters = np.zeros(sum(counted.values()), np.int64)
        ends = np.cumsum(list(counted.values()))[:-1]
        others = {"group_begin": groups, "group_end": groups, "group_instructions": groups}
        others |= {
            "marks": MARKS,
            "counters_before": len(counters),
            "counters_learned": len(counters),
        }
        return {
            "counters": counters,
            **dict(zip(counted, np.split(counters, ends), strict=True)),
            **{name: np.zeros(size, np.int64) for name, size in others.items()},
        }


def _inputs(code: MachineCode, tape: Tape) -> Arrays:
    """What the compiled core reads of the kernel and of its tape."""
    return {
        "starts": np.ascontiguousarray(code.starts, np.int32),
        "ops": _ops(code),
        "block_issued": code.issued(),
        "block_flops": code.block_flops(),
        "move_starts": np.ascontiguousarray(code.move_starts, np.int32),
        "moves": np.ascontiguousarray(code.moves, np.int32),
        "words": np.ascontiguousarray(tape.words, np.uint64),
        "stream_starts": np.ascontiguousarray(tape.starts, np.int64),
        "known": np.ascontiguousarray(tape.known, np.uint64),
        "access_starts": np.ascontiguousarray(tape.known_starts, np.int64),
    }


def _site_does(
    code: MachineCode, starts: NDArray[np.int64], does: NDArray[np.generic]
) -> NDArray[np.uint8]:
    """What the class of each access of the tape does, by what each class does."""
    block_of = code.block_of()
    has = code.accesses >= 0
    sites = np.zeros(starts[-1], np.uint8)
    sites[starts[block_of[has]] + code.accesses[has]] = does[code.kinds[has]]
    return sites


def _ops(code: MachineCode) -> NDArray[np.uint8]:
    """The instructions as the compiled core reads them."""
    ops = np.zeros(len(code.kinds), j.OP)
    ops["sources"] = np.where(code.sources < 0, max(1, code.register_count), code.sources)
    ops["destination"], ops["access"] = code.destinations, code.accesses
    ops["place"], ops["flops"], ops["kind"] = code.places, code.flops, code.kinds
    return ops.view(np.uint8)


def _sharing_arrays(shared: Sharing) -> Arrays:
    assert shared.weight.shape == (CATEGORIES,)
    return {
        "site_shares": np.ascontiguousarray(shared.site_shares),
        "category_weight": shared.weight,
        "category_payers": shared.payers,
        "category_sector_payers": shared.sector_payers,
        "category_l2": shared.l2,
        "category_slc": shared.slc,
    }
