"""Runs one kernel as often as its check needs: with enough memory, and in several orders."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from assay.hal.metal.emulated import checking
from assay.sim.check import Checker
from assay.sim.site import Site

from ..launches.constants import numbers_among
from ..launches.growth import next_growth
from ..launches.inputs import Setup
from ..launches.missed import missed
from ..launches.plan import CannotPlan, Plan, make_plan
from ..launches.runner import CannotRun, Outcome, Runner
from ..reports.report import KernelRecord, Report
from .orders import order_finding
from .registers import register_finding
from .strides import resting, resting_own

if TYPE_CHECKING:
    from assay.compiler.msl import KernelFunction

_MOST_SHRINK = 8  # of assumed threadgroups, while they are too many for threadgroup arrays


def run_setup(
    kernel: KernelFunction, setup: Setup, runner: Runner, report: Report
) -> tuple[Plan, Outcome]:
    """Run the kernel, with larger assumed buffers while it needs them, and by every seed.

    Returns how it was run at last, and what the run in the natural order left.

    Raises:
        CheckInputError: if the setup does not fit the kernel.
        CannotRun: if the kernel cannot be run.
    """
    from assay.sim.simt import UnsupportedKernel

    growth = shrink = 1
    while True:
        kernel.program().forget_coverage()  # of runs before, of which others told
        try:
            plan = make_plan(kernel, setup, growth=growth, shrink=shrink)
        except (CannotPlan, UnsupportedKernel) as error:
            raise CannotRun(str(error)) from None
        checker = report.new_checker()
        outcome = run_checked(plan, runner, checker)
        if (larger := next_growth(plan, growth, outcome.error)) is not None:
            growth = larger
        elif _has_too_many_threads(outcome, plan, setup) and 0 < shrink < _MOST_SHRINK:
            shrink *= 2
        elif shrink == _MOST_SHRINK and outcome.is_fault:
            shrink = -1  # fewer threads did not help: the first try tells more
        else:
            break
        report.discard(checker)
    _require_run(outcome)
    _run_seeds(plan, outcome, runner, report)
    return plan, outcome


def run_checked(plan: Plan, runner: Runner, checker: Checker) -> Outcome:
    """One dispatch whose findings go to `checker`. Raises CannotRun."""
    with checking(checker):
        if "budget" in checker.checks:
            finding = register_finding(plan.kernel)
            if finding is not None:
                checker.report(finding)
        return runner.run(plan, checker.seed or 0)


def record_of_run(
    kernel: KernelFunction,
    plan: Plan,
    outcome: Outcome,
    report: Report,
    *,
    assumed: Iterable[str],
    seconds: float,
) -> KernelRecord:
    """What a report says of a kernel that ran by `plan`; `assumed` describes its constants."""
    constants = tuple(assumed)
    return KernelRecord(
        name=kernel.name,
        file=kernel.file,
        line=kernel.line,
        runs=(str(plan.grid),),
        assumptions=(*constants, *plan.assumptions),
        assumed_memory=plan.assumed_memory,
        assumed_values=tuple(plan.assumed_values),
        assumed_constants=numbers_among(constants),
        buffers=frozenset(each.argument.name for each in plan.bound if each.data is not None),
        rests_on=resting(plan, report.all_findings),
        own_rests_on=resting_own(plan, report.all_findings),
        missed=missed(plan, report.sources) if outcome.error is None else (),
        seconds=seconds,
    )


def _has_too_many_threads(outcome: Outcome, plan: Plan, setup: Setup) -> bool:
    """Whether the kernel left its own threadgroup arrays with threads that were only assumed."""
    from assay.sim.simt import KernelFault

    fault = outcome.error
    if not isinstance(fault, KernelFault) or setup.threadgroup is not None:
        return False
    arguments = {argument.name for argument in plan.kernel.arguments}
    is_private = "private variable" in fault.buffer
    has_arrays = plan.kernel.program().static_threadgroup_memory > 0
    return has_arrays and not is_private and fault.buffer not in arguments


def _run_seeds(plan: Plan, natural: Outcome, runner: Runner, report: Report) -> None:
    """Run in other orders, and compare the bits that are left with those of the first run."""
    kernel = plan.kernel
    site = Site(kernel.file, kernel.line, 1)
    for seed in report.seeds:
        outcome = run_checked(plan, runner, report.new_checker(seed))
        _require_run(outcome)
        if natural.error is not None or outcome.error is not None:
            continue
        runs = f"the natural order and seed {seed}"
        for name, before in natural.buffers.items():
            both = natural.written[name] & outcome.written[name]
            after = np.where(both, outcome.buffers[name], before)
            if (before != after).any():
                report.add(order_finding(name, before, after, runs, kernel=kernel.name, site=site))


def _require_run(outcome: Outcome) -> None:
    """CannotRun if something else than the kernel's own doing stopped it."""
    if outcome.error is not None and not outcome.is_fault:
        raise CannotRun(str(outcome.error))
