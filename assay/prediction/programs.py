"""Times everything that programs run on the emulated device: modules, and code of any kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.hal import observe
from assay.hal.metal.timed import (
    ChipPredictor,
    Predictor,
    ProgramTimer,
    SeveralChips,
    logs_of_chip,
    schedule_of,
)
from assay.hw.apple.facts.chips import Chip
from assay.hw.apple.facts.chips import chip as chip_named

from ..tracebacks import ends_in_caller
from .errors import TimeInputError
from .inputs import inputs_of
from .npu import NpuTimer, NpuTimeResult
from .result import TimeResult, result_of
from .timelines.spool import Spool

if TYPE_CHECKING:
    from ..module import Function


class Timing:
    """What a block of `timing` has seen so far."""

    def __init__(
        self, timer: ProgramTimer, npu: NpuTimer, chips: Sequence[Chip], program: str
    ) -> None:
        self._timer = timer
        self._npu = npu
        self._chips = tuple(chips)
        self._program = program

    @property
    def failures(self) -> tuple[str, ...]:
        """Dispatches that could not be predicted, and why."""
        return tuple(self._timer.failures)

    @property
    def dispatches(self) -> int:
        """How many dispatches have been seen."""
        return self._timer.dispatches

    @property
    def npu(self) -> tuple[NpuTimeResult, ...]:
        """How long each executable took that ran on an emulated NPU, in order."""
        return self._npu.results

    def result(self, *, partial: bool = False) -> TimeResult:
        """How long all of it takes on the GPU; wait for command buffers to complete before.

        Raises TimeInputError if some dispatch could not be predicted; if `partial`, it is left out.
        """
        return self.results(partial=partial)[0]

    def results(self, *, partial: bool = False) -> list[TimeResult]:
        """The same for each chip, those that were to be compared after the first one."""
        self._timer.finish()
        if self._timer.failures and not partial:
            first, *others = self._timer.failures
            more = f" (and {len(others)} more)" if others else ""
            raise TimeInputError(f"{self._program} cannot be timed: {first}{more}")
        return [
            result_of(
                schedule_of(logs_of_chip(self._timer.buffers, number), self._timer.calls, chip),
                program=self._program,
                chip=chip,
            )
            for number, chip in enumerate(self._chips)
        ]


@ends_in_caller
def timing(
    chip: str = "m1",
    *,
    program: str = "program",
    results: bool = True,
    timeline: bool = False,
    spool: Path | None = None,
    say: Callable[[str], None] | None = None,
    compare: Sequence[str] = (),
) -> AbstractContextManager[Timing]:
    """Time all that this process runs on emulated GPUs and NPUs meanwhile.

    Args:
        chip: which GPU, a key of `assay.hw.apple.facts.chips`.
        program: what messages and traces call it.
        results: whether dispatches run as usual. If not, only what is sampled is executed: much
            faster, and what the program computes is wrong.
        timeline: keep what a timeline needs.
        spool: a `.assay-trace` file that each dispatch goes to at once. If the process is killed,
            it shows what was predicted before: dispatches one after the other.
        say: told what is going on, in a few words.
        compare: further GPUs, of which `results()` tells, too; the timeline is of the first one.

    Raises:
        SpecError: for a chip that is not known.
        OSError: if `spool` cannot be made.
    """
    chips = [chip_named(name) for name in dict.fromkeys([chip, *compare])]
    return _timing(chips, program, results, timeline, spool, say)


@contextmanager
def _timing(
    chips: Sequence[Chip],
    program: str,
    results: bool,
    timeline: bool,
    spool: Path | None,
    say: Callable[[str], None] | None,
) -> Iterator[Timing]:
    gpu, *others = chips
    predictor: Predictor = ChipPredictor(gpu, keep=timeline, say=say)
    if others:
        predictor = SeveralChips([predictor, *(ChipPredictor(each, say=say) for each in others)])
    with Spool(spool, gpu, program) if spool is not None else nullcontext() as kept:
        took = kept.took if kept is not None else None
        timer = ProgramTimer(predictor, results=results, say=say, took=took)
        npu = NpuTimer(keeps_accesses=timeline)
        with observe.timing(timer, npu):
            yield Timing(timer, npu, chips, program)


def time_function(
    function: Function,
    arguments: Sequence[Any],
    chip: str,
    *,
    results: bool = True,
    timeline: bool = False,
    spool: Path | None = None,
    say: Callable[[str], None] | None = None,
    failed: Callable[[TimeResult], None] | None = None,
) -> TimeResult:
    """How long one call of a module's function takes on the GPU.

    Without arguments, a function that needs some gets random ones, which the result tells. `spool`
    is as in `timing`; `failed` is given what was timed before an error, which is then raised.
    """
    values, assumed = inputs_of(function, arguments)
    with timing(
        chip, program=function.name, results=results, timeline=timeline, spool=spool, say=say
    ) as seen:
        try:
            function.invoke(values)
            return replace(seen.result(), assumptions=assumed)
        except BaseException:
            if failed is not None:
                failed(replace(seen.result(partial=True), assumptions=assumed))
            raise
