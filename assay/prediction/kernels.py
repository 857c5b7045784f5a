"""Times one kernel of MSL source, with arguments that were given or are assumed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from assay.hal.metal.emulated import timing
from assay.hal.metal.timed import ChipPredictor, ProgramTimer, schedule_of
from assay.sim.names import choices

from ..launches.constants import compiled_kernel
from ..launches.errors import LaunchInputError
from ..launches.growth import next_growth
from ..launches.inputs import ConstantValue, Given, Setup, Size
from ..launches.missed import missed
from ..launches.plan import CannotPlan, Plan, make_plan
from ..launches.runner import CannotRun, Runner
from .errors import TimeInputError
from .result import TimeResult, result_of

if TYPE_CHECKING:
    from assay.compiler.msl import KernelFunction, KernelLibrary
    from assay.hw.apple.facts.chips import Chip


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelRun:
    """What is to be timed: sizes that are not None replace those of `setup`.

    `threads` are of the grid, `threadgroups` too; `threadgroup` is the size of one.
    """

    function: str
    setup: Setup
    threads: Size | None = None
    threadgroups: Size | None = None
    threadgroup: Size | None = None
    constants: Mapping[int | str, ConstantValue] | None = None
    arguments: Mapping[str, Given] | None = None

    def merged(self) -> Setup:
        """The setup with everything that replaces parts of it."""
        setup = self.setup
        if self.threads is not None or self.threadgroups is not None:
            setup = replace(setup, threads=self.threads, threadgroups=self.threadgroups)
        if self.threadgroup is not None:
            setup = replace(setup, threadgroup=self.threadgroup)
        if self.arguments is not None:
            setup = replace(setup, arguments={**setup.arguments, **self.arguments})
        if self.constants:
            setup = replace(setup, constants={**setup.constants, **self.constants})
        return setup


def time_kernel(
    library: KernelLibrary,
    run: KernelRun,
    chip: Chip,
    *,
    warm: bool = True,
    both: bool = False,
    timeline: bool = False,
    say: Callable[[str], None] | None = None,
) -> TimeResult:
    """How long one dispatch of a kernel takes. Only sampled threadgroups are executed.

    `warm` is whether caches hold what an earlier run of the same dispatch left; `both` adds how
    long it takes the other way.

    Raises:
        TimeInputError: if what was given does not fit the kernel, or it cannot be run.
        CompileError: if it does not compile.
    """
    name = run.function
    if name not in library.function_names:
        known = choices(name, library.function_names)
        raise TimeInputError(f"{library.file_name}: there is no kernel '{name}'; {known}")
    setup = run.merged()
    kernel, assumed = compiled_kernel(library, name, setup.constants, setup.threadgroup)
    otherwise = _timed(library, kernel, setup, chip, not warm, False, say)[0] if both else None
    kernel.program().forget_coverage()
    result, plan = _timed(library, kernel, setup, chip, warm, timeline, say)
    return replace(
        result,
        program=f"{name} of {library.file_name}",
        assumptions=(*assumed, *plan.assumptions, *_stand_ins(kernel)),
        otherwise=otherwise,
        # Where all was stated, what never runs is meant to.
        missed=missed(plan, library.sources()) if plan.assumed_values else (),
    )


def _timed(
    library: KernelLibrary,
    kernel: KernelFunction,
    setup: Setup,
    chip: Chip,
    warm: bool,
    timeline: bool,
    say: Callable[[str], None] | None,
) -> tuple[TimeResult, Plan]:
    """One simulation, and how the kernel was run for it."""
    predictor = ChipPredictor(chip, warm=warm, keep=timeline, say=say)
    plan, timer = _launched(library, kernel, setup, predictor, say)
    scheduled = schedule_of(timer.buffers, timer.calls, chip)
    return replace(result_of(scheduled, program=kernel.name, chip=chip), is_cold=not warm), plan


def _stand_ins(kernel: KernelFunction) -> tuple[str, ...]:
    """What is timed as something else than what a GPU has."""
    if not any(argument.kind == "texture" for argument in kernel.arguments):
        return ()
    return ("textures are read by the arithmetic that emulates them, which a GPU has units for",)


def _launched(
    library: KernelLibrary,
    kernel: KernelFunction,
    setup: Setup,
    predictor: ChipPredictor,
    say: Callable[[str], None] | None,
) -> tuple[Plan, ProgramTimer]:
    """Run the kernel, with larger assumed buffers while it needs them."""
    from assay.sim.simt import DispatchError, KernelFault, UnsupportedKernel

    runner = Runner(library)
    growth = 1
    while True:
        timer = ProgramTimer(predictor, results=False, say=say)
        try:
            plan = make_plan(kernel, setup, growth=growth)
            with timing(timer):
                error = runner.launch(plan)
        except (CannotPlan, CannotRun, UnsupportedKernel, LaunchInputError) as refused:
            raise TimeInputError(f"kernel '{kernel.name}': {refused}") from None
        if error is None:
            timer.finish()
            if timer.failures:
                raise TimeInputError(f"kernel '{kernel.name}' cannot be timed: {timer.failures[0]}")
            return plan, timer
        if (larger := next_growth(plan, growth, error)) is not None:
            growth = larger
            continue
        if isinstance(error, KernelFault | DispatchError):
            raise TimeInputError(f"kernel '{kernel.name}' cannot be timed: {error}") from None
        raise error
