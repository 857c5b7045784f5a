"""A dispatch by its sample: which threadgroups are to be taped, and what they tell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import prod

from assay.sim.simt import Executable, Tape

from ..facts.chips import Chip
from ..lower.code import MachineCode
from ..lower.lower import lower
from .model import simulate
from .occupancy import occupancy
from .result import DispatchTime, Occupancy
from .sample import WAVES, Position, Sample, choose_sample


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledDispatch:
    """One dispatch on one chip. Its sample is taped by the caller, which has its buffers.

    Attributes:
        chip: the chip.
        code: the kernel's instructions.
        grid: threadgroups in x, y and z.
        simdgroups: of one threadgroup.
        threadgroup_memory: bytes that one threadgroup takes.
        waves: how large the sample is, as of `choose_sample`.
        sample: the threadgroups to tape.
    """

    chip: Chip
    code: MachineCode
    grid: Position
    simdgroups: int
    threadgroup_memory: int
    waves: int = WAVES
    sample: Sample = field(init=False)

    def __post_init__(self) -> None:
        resident = self.resident(prod(self.grid))
        sample = choose_sample(self.grid, resident, self.chip, waves=self.waves)
        object.__setattr__(self, "sample", sample)

    def resident(self, threadgroups: int) -> Occupancy:
        """What is on a core at a time, if the grid had so many threadgroups."""
        return occupancy(
            self.chip,
            registers=self.code.registers,
            simdgroups=self.simdgroups,
            threadgroup_memory=self.threadgroup_memory,
            threadgroups=threadgroups,
        )

    def simulated(
        self,
        tape: Tape,
        *,
        warm: bool = True,
        footprint: int | None = None,
        timeline: bool = False,
    ) -> DispatchTime:
        """How long the dispatch takes whose sample was taped; arguments as of `simulate`."""
        return simulate(
            self.code,
            tape,
            self.chip,
            sample=self.sample,
            warm=warm,
            footprint=footprint,
            timeline=timeline,
        )


def sampled_dispatch(
    chip: Chip,
    executable: Executable,
    grid: Position,
    *,
    given_memory: int = 0,
    code: MachineCode | None = None,
    waves: int = WAVES,
) -> SampledDispatch:
    """The dispatch of a kernel that is ready to run.

    Args:
        chip: the chip.
        executable: the kernel for its threadgroup size.
        grid: threadgroups in x, y and z.
        given_memory: bytes of threadgroup memory that the host gives, beside the kernel's own.
        code: its instructions, for callers that keep them; made if it is not given.
        waves: how large the sample is, as of `choose_sample`.
    """
    return SampledDispatch(
        chip=chip,
        code=code or lower(executable.program.taped_function),
        grid=grid,
        simdgroups=executable.shape.simdgroups,
        threadgroup_memory=executable.threadgroup_memory + given_memory,
        waves=waves,
    )


def tape_sample(
    dispatch: SampledDispatch, taped: Callable[[tuple[Position, ...]], Tape]
) -> tuple[SampledDispatch, Tape]:
    """A tape of a dispatch's sample, and the dispatch with the sample that it is of.

    Threadgroups that run long may fill a tape before all are on it: then fewer are taped.
    """
    tape = taped(dispatch.sample.positions)
    while tape.truncated and dispatch.waves > 0:
        dispatch = replace(dispatch, waves=dispatch.waves - 1)
        tape = taped(dispatch.sample.positions)
    return dispatch, tape


def time_sampled(
    dispatch: SampledDispatch,
    taped: Callable[[tuple[Position, ...]], Tape],
    *,
    warm: bool = True,
    footprint: int | None = None,
    timeline: bool = False,
) -> DispatchTime:
    """How long a dispatch takes: `taped` runs the threadgroups that it is asked for."""
    dispatch, tape = tape_sample(dispatch, taped)
    return dispatch.simulated(tape, warm=warm, footprint=footprint, timeline=timeline)
